import { readUuid } from '../../graph/arguments.ts';
import { builder } from '../../graph/builder.ts';
import {
  featureNotEnabledRef,
  mutationResult,
  notFoundRef,
  userErrorRef,
} from '../../graph/mutation-result.ts';
import { type DocumentNotReady, type DocumentTicket, requestDocumentTicket } from './actions.ts';

const documentKind = builder.enumType('DocumentKind', {
  description: 'Which document of an order.',
  values: {
    RESULT: {
      description:
        'The report of the results, which names the patient. Viewer tokens need the scope read:results.',
    },
    REQUISITION: {
      description:
        'The form that orders the test from the lab, which names the patient. Viewer tokens need the scope read:profile.',
    },
  } as const,
});

const documentTicketRef = builder.objectRef<DocumentTicket>('DocumentTicket').implement({
  description:
    'Leave to fetch one document once, as PDF: whoever has it gets the document, so treat it as a secret.',
  fields: (t) => ({
    url: t.exposeString('url', {
      nullable: false,
      description: 'Where to GET it: a path on this gateway, to be used once and without a token.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: false,
      description: 'When it ends, after one minute at most.',
    }),
  }),
});

const documentNotReadyRef = builder.objectRef<DocumentNotReady>('DocumentNotReady').implement({
  description: 'The service does not have the document yet.',
  interfaces: [userErrorRef],
});

const createDocumentTicketResult = mutationResult(
  'CreateDocumentTicketResult',
  'What came of asking for a document.',
  [documentTicketRef, documentNotReadyRef, notFoundRef, featureNotEnabledRef],
);

const createDocumentTicketInput = builder.inputType('CreateDocumentTicketInput', {
  description: 'Which document of which order.',
  fields: (t) => ({
    orderId: t.id({ required: true, description: 'Id of the order (uuid).' }),
    kind: t.field({ type: documentKind, required: true, description: 'Which of its documents.' }),
  }),
});

builder.mutationField('createDocumentTicket', (t) =>
  t.field({
    type: createDocumentTicketResult,
    nullable: false,
    description:
      "Makes a short-lived ticket for one download of an order's document as PDF. Viewer tokens need the scope read:orders and that of the document.",
    args: {
      input: t.arg({ type: createDocumentTicketInput, required: true, description: 'Which document.' }),
    },
    resolve: (_root, { input }, context) =>
      requestDocumentTicket(context, {
        orderId: readUuid('input.orderId', input.orderId),
        kind: input.kind,
      }),
  }),
);
