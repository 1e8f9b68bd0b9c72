/** One question that a lab asks when a marker is ordered (public service: Question). */
interface Question {
  readonly id: number;
  readonly required: boolean;
  readonly code: string;
  readonly value: string;
  readonly type: 'choice' | 'text' | 'numeric' | 'multi_choice';
  readonly sequence: number;
  readonly answers: readonly { readonly id: number; readonly code: string; readonly value: string }[];
  readonly constraint: string | null;
  readonly default: string | null;
}

/** The questions of a marker that is ordered: ask at order entry (public service: AoE). */
export interface Questions {
  readonly questions: readonly Question[];
}

interface QuestionPlan extends Omit<Question, 'id' | 'answers'> {
  readonly answers: readonly Omit<Question['answers'][number], 'id'>[];
}

const optional = { required: false, answers: [], constraint: null, default: null } as const;

const fasting: QuestionPlan = {
  ...optional,
  required: true,
  code: 'FASTING',
  value: 'Has the patient fasted for eight hours or more?',
  type: 'choice',
  sequence: 1,
  answers: [
    { code: 'Y', value: 'Yes' },
    { code: 'N', value: 'No' },
  ],
};

const lastMeal: QuestionPlan = {
  ...optional,
  code: 'HOURS_SINCE_MEAL',
  value: 'How many hours have passed since the last meal?',
  type: 'numeric',
  sequence: 2,
  constraint: '^[0-9]{1,2}$',
  default: '0',
};

const cyclePhase: QuestionPlan = {
  ...optional,
  code: 'CYCLE_PHASE',
  value: 'In which phase of the cycle is the sample taken?',
  type: 'choice',
  sequence: 1,
  answers: [
    { code: 'F', value: 'Follicular' },
    { code: 'L', value: 'Luteal' },
    { code: 'X', value: 'Not applicable' },
  ],
  default: 'X',
};

const medication: QuestionPlan = {
  ...optional,
  code: 'MEDICATION',
  value: 'Which medication does the patient take?',
  type: 'text',
  sequence: 2,
};

/** Questions by name of the marker, at the one lab that asks any. */
const asked: Readonly<Record<string, readonly QuestionPlan[]>> = {
  Insulin: [fasting, lastMeal],
  Estradiol: [cyclePhase, medication],
  'Testosterone, Total': [medication],
};
const askingLabId = 27;

/** With ids that no other question or answer has. */
function numbered({ answers, ...question }: QuestionPlan, id: number): Question {
  return { id, ...question, answers: answers.map((answer, index) => ({ id: id * 10 + index, ...answer })) };
}

/** The questions of a marker; null for most. */
export function questionsOf(marker: {
  readonly id: number;
  readonly name: string;
  readonly labId: number;
}): Questions | null {
  const plan = marker.labId === askingLabId ? asked[marker.name] : undefined;
  if (plan === undefined) return null;
  // Out of sequence, as nothing says that the service sorts them.
  return {
    questions: plan.map((question, index) => numbered(question, marker.id * 10 + index)).toReversed(),
  };
}
