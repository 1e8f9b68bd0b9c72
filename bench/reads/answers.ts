import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type LoadRequest, requestAt } from '../load/requests.ts';
import { isConstant, type MissingTarget, type Target } from './targets.ts';

/** The answer that all servers give to a request, as a template of the answers to others of its kind. */
export interface Reference {
  readonly body: string;
  readonly answer: string;
}

/** How many answers were compared with what they have to be, and how many were something else. */
export interface Checked {
  readonly checked: number;
  readonly wrong: number;
}

/** Turns of their own, also in a list of requests: what was checked must not be measured as cold afterwards. */
const firstCheck = 2_000_000_500;
const checksPerSecond = 20;
const answerMs = 30_000;
const digits = /\d{12}/g;

/** Asks all servers the same, and sorts out those whose answer is not the one of most. */
export async function agreeOnAnswer(
  targets: readonly Target[],
  requests: readonly LoadRequest[],
): Promise<{ readonly reference: Reference; readonly missing: readonly MissingTarget[] }> {
  const request = requestAt(requests, firstCheck);
  const asked = targets.filter(({ id }) => !isConstant(id));
  const answers = await Promise.all(
    asked.map((target) =>
      readAnswer(target, request).catch((error: unknown) => (error instanceof Error ? error : null)),
    ),
  );
  const data = answers.filter((answer) => !(answer instanceof Error));
  const votes = data.map((answer) => data.filter((other) => isDeepStrictEqual(answer, other)).length);
  const usual = data[votes.indexOf(Math.max(...votes))];
  const missing = asked.flatMap(({ id }, index) => {
    const answer = answers[index];
    if (answer instanceof Error) return [{ id, fault: answer.message }];
    if (isDeepStrictEqual(answer, usual)) return [];
    return [{ id, fault: `answers ${JSON.stringify(answer)}, not ${JSON.stringify(usual)}` }];
  });
  return { reference: { body: request.body, answer: JSON.stringify(usual) }, missing };
}

/** Checks answers of a server until the load ends, one at a time, and at least one. */
export class AnswerCheck {
  readonly #requests: readonly LoadRequest[];
  readonly #reference: Reference;
  #turn = firstCheck;

  constructor(requests: readonly LoadRequest[], reference: Reference) {
    this.#requests = requests;
    this.#reference = reference;
  }

  async checkDuring(target: Target, load: Promise<unknown>): Promise<Checked> {
    const signal = { isOver: false };
    const end = () => {
      signal.isOver = true;
    };
    load.then(end, end);
    let [checked, wrong] = [0, 0];
    for (let isLast = false; !isConstant(target.id) && !isLast; ) {
      await wait(1000 / checksPerSecond);
      isLast = signal.isOver;
      checked += 1;
      if (!(await this.#isRight(target))) wrong += 1;
    }
    await load;
    return { checked, wrong };
  }

  async #isRight(target: Target): Promise<boolean> {
    const request = this.#nextRequest();
    const answer = await readAnswer(target, request).catch(() => null);
    return isDeepStrictEqual(answer, expectAnswer(this.#reference, request.body));
  }

  /** Of the kind that was agreed on: writes among reads are left out. */
  #nextRequest(): LoadRequest {
    const kind = this.#reference.body.replace(digits, '');
    for (;;) {
      this.#turn += 1;
      const request = requestAt(this.#requests, this.#turn);
      if (request.body.replace(digits, '') === kind) return request;
    }
  }
}

/** The answer to a request that differs from the reference in its numbers. */
export function expectAnswer({ body, answer }: Reference, wanted: string): unknown {
  const numbers = wanted.match(digits) ?? [];
  const named = new Map((body.match(digits) ?? []).map((number, index) => [number, numbers[index]]));
  return JSON.parse(answer.replace(digits, (number) => named.get(number) ?? number));
}

/** @throws Error with the answer where it is not data alone */
async function readAnswer({ endpoint }: Target, { token, body }: LoadRequest): Promise<unknown> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const signal = AbortSignal.timeout(answerMs);
  const response = await fetch(endpoint, { method: 'POST', headers, body, signal });
  const text = await response.text();
  // Tailcall writes ids that the service has as numbers as they are, not as text.
  const answer: { readonly data?: unknown; readonly errors?: unknown } = JSON.parse(text, (_key, value) =>
    typeof value === 'number' ? String(value) : value,
  );
  if (response.ok && answer.errors === undefined) return answer.data;
  throw new Error(`answers ${response.status}: ${text}`);
}
