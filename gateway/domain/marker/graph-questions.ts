import { builder } from '../../graph/builder.ts';
import { openEnum, openEnumFields } from '../../graph/open-enum.ts';
import { markerRef } from './graph.ts';
import type { Answer, Question } from './rest.ts';

const questionType = openEnum('QuestionType', 'How a question is answered.', {
  CHOICE: 'With the code of one of its answers.',
  MULTI_CHOICE: 'With the codes of some of its answers.',
  TEXT: 'With any text.',
  NUMERIC: 'With a number.',
});

const answerRef = builder.objectRef<Answer>('QuestionAnswer').implement({
  description: 'One answer that a question offers.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: "The service's id of the answer (integer)." }),
    code: t.exposeString('code', { description: "The lab's code of the answer." }),
    value: t.exposeString('value', { description: 'The answer in words.' }),
  }),
});

const questionRef = builder.objectRef<Question>('MarkerQuestion').implement({
  description: 'A question that a lab asks when a marker is ordered.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: "The service's id of the question (integer)." }),
    code: t.exposeString('code', { description: "The lab's code of the question." }),
    text: t.exposeString('text', { description: 'The question in words.' }),
    isRequired: t.exposeBoolean('isRequired', {
      description: 'Whether an order without an answer is refused.',
    }),
    ...openEnumFields(t, questionType, {
      name: 'type',
      description: 'How it is answered; null when the way is not one of these.',
      raw: 'The way of answering as the service sent it.',
    }),
    sequence: t.exposeInt('sequence', { description: 'Its place among the questions of the marker.' }),
    constraint: t.exposeString('constraint', {
      description: 'The pattern that an answer must match, as the service sent it.',
    }),
    defaultAnswer: t.exposeString('defaultAnswer', { description: 'What counts where no answer is given.' }),
    answers: t.field({
      type: [answerRef],
      nullable: false,
      description: 'The answers it offers; none where it takes text or a number.',
      resolve: (question) => question.answers,
    }),
  }),
});

builder.objectField(markerRef, 'questions', (t) =>
  t.field({
    type: [questionRef],
    nullable: false,
    description: 'What the lab asks when it is ordered (ask at order entry), in the order of asking.',
    resolve: (marker) => marker.questions,
  }),
);
