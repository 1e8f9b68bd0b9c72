import { json } from '../../support/misbehaving-service.ts';
import type { SpoiltLab } from '../../support/spoilt-lab.ts';

export type Input = Readonly<Record<string, unknown>>;

/** The arguments of a mutation, such as `{ input: { ... } }`. */
export type Variables = Readonly<Record<string, unknown>>;

/** What brings a refusal about: it may change the arguments, the world, or the service's answer. */
type Given = (stage: Stage) => Promise<Variables> | Variables;

export interface Stage {
  readonly lab: SpoiltLab;
  /** Arguments with which the mutation would succeed. */
  readonly variables: Variables;
  /** Calls the mutation. */
  readonly call: (variables: Variables) => Promise<unknown>;
}

/** A member of the union that this mutation shares with others and never gives. */
interface Never {
  readonly given: Given;
  /** What is returned in its place. */
  readonly instead: string;
  readonly because: string;
}

/** What the service is asked, and what can be known of it when its answer is missing. */
export interface Asked {
  /** The call that does it. */
  readonly call: RegExp;
  /** A read does nothing, and is tried again. */
  readonly kind: 'write' | 'read';
  /** Whether the gateway can look at the service for what was done. */
  readonly canLook: boolean;
  /** Whether a repeated call must wait while nobody knows what became of the first. */
  readonly waits: boolean;
}

/** One mutation and everything that may come of it. */
export interface Row {
  readonly mutation: string;
  readonly success: string;
  /** What is asked of an answer beside type name, code, message and issues. */
  readonly selection: string;
  /** Makes a world in which the mutation succeeds, and returns its arguments. */
  readonly arrange: (lab: SpoiltLab) => Promise<Variables> | Variables;
  readonly refusals: Readonly<Record<string, Given | Never>>;
  /** Null where the service is not asked at all. */
  readonly asks: Asked | null;
  /** What the service has: equal before and after where nothing was done. Equal worlds have equal traces. */
  readonly trace: (lab: SpoiltLab, variables: Variables) => Promise<unknown> | unknown;
  /** Why a success leaves no trace, where it leaves none. */
  readonly leavesNoTrace?: string;
  /** The result of a repeated call after a success. */
  readonly again: string;
}

/** Part of every text of every input; no error, refusal, log line or metric may contain it. */
export const canary = 'Kestrelmark';
export const canaries = [canary.toLowerCase(), '6025550177', '1961-07-13'];

/** The arguments with other values in `input`. */
export function withInput({ input }: Variables, more: Input): Variables {
  return { input: { ...(input as Input), ...more } };
}

export const person = {
  firstName: canary,
  lastName: `${canary}son`,
  dob: '1961-07-13',
  phoneNumber: '+16025550177',
  email: `${canary}@example.com`,
};

export const address = {
  firstLine: `77 ${canary} Way`,
  secondLine: `${canary} wing`,
  city: `${canary}ville`,
  state: 'AZ',
  zip: '85004',
  country: 'US',
};

/** The service has not enabled the feature. */
export function closed(call: RegExp): Given {
  return ({ lab, variables }) => {
    const answer = json({ detail: `${canary} may not` }, 403);
    lab.spoil({ at: call, isDone: false, answer });
    return variables;
  };
}

/** The service answers this, once. */
export function refused(call: RegExp, status: number, detail: unknown): Given {
  return ({ lab, variables }) => {
    lab.spoil({ at: call, isDone: false, answer: json({ detail }, status) });
    return variables;
  };
}

/** The mutation is called with other values in `input`. */
export function given(more: Input | ((stage: Stage) => Input | Promise<Input>)): Given {
  return async (stage) => withInput(stage.variables, typeof more === 'function' ? await more(stage) : more);
}

/** The mutation was called before, with other values in `input`. */
export function after(more: Input): Given {
  return async ({ variables, call }) => {
    await call(variables);
    return withInput(variables, more);
  };
}
