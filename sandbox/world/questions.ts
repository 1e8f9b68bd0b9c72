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

type QuestionPlan = Omit<Question, 'id'>;

const optional = { required: false, answers: [], constraint: null, default: null } as const;

const fasting: QuestionPlan = {
  ...optional,
  required: true,
  code: 'FASTING',
  value: 'Has the patient fasted for eight hours or more?',
  type: 'choice',
  sequence: 1,
  answers: [
    { id: 1, code: 'Y', value: 'Yes' },
    { id: 2, code: 'N', value: 'No' },
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
    { id: 1, code: 'F', value: 'Follicular' },
    { id: 2, code: 'L', value: 'Luteal' },
    { id: 3, code: 'X', value: 'Not applicable' },
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
    questions: plan.map((question, index) => ({ id: marker.id * 10 + index, ...question })).toReversed(),
  };
}
