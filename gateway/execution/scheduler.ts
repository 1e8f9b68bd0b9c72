import { AsyncResource } from 'node:async_hooks';
import { setImmediate as nextRound } from 'node:timers/promises';
import { keyOf, shareOf } from '../auth/rate-limits.ts';
import type { Caller } from '../auth/rights.ts';
import { GatewayError } from '../errors.ts';
import type { Work } from '../graph/cost.ts';

export interface SchedulerLimits {
  /** The largest weight (graph/cost.ts) of one operation, or of one item of a subscription, for a viewer; `weightOfTeam` is for a gateway key. */
  readonly weight: number;
  readonly weightOfTeam: number;
  /** The weight that an operation executes in one turn. */
  readonly slice: number;
  /** Heavy operations of one viewer at once; a gateway key has 20 times as many. */
  readonly heavyOperations: number;
}

/**
 * Sized for the queries of README: a hundred orders of a viewer, and the team's query of 20 users with 20 orders each
 * (decision 0083). A slice takes about a millisecond.
 */
export const usualLimits: SchedulerLimits = {
  weight: 50_000,
  weightOfTeam: 200_000,
  slice: 1000,
  heavyOperations: 20,
};

const retryAfterMs = 2000;

/**
 * Shares the processor between operations. An operation that ends within its first slice never waits. A heavy one
 * yields after each slice. Callers take turns. Of a caller's heavy operations the oldest that can continue runs, so
 * they run one after the other.
 */
export interface Scheduler {
  /** @param left aborts when the client no longer waits for the operation */
  readonly begin: (caller: Caller, left: AbortSignal) => Work;
}

export function createScheduler(limits = usualLimits): Scheduler {
  const queues = new Queues(limits);
  return { begin: (caller, left) => new Operation(queues, { caller, left }) };
}

/** The heavy operations of all callers, from their second slice to their end. */
class Queues {
  readonly limits: SchedulerLimits;
  /** Callers in the order of their turns; operations of a caller in the order in which they became heavy. */
  readonly #ofCallers = new Map<string, Set<Operation>>();
  #isRunning = false;

  constructor(limits: SchedulerLimits) {
    this.limits = limits;
  }

  /** @returns false when the caller has too many heavy operations */
  join(operation: Operation): boolean {
    const key = keyOf(operation.caller);
    const own = this.#ofCallers.get(key) ?? new Set();
    if (!own.has(operation)) {
      const limit = shareOf(operation.caller, this.limits.heavyOperations);
      if (own.size >= limit) for (const other of own) other.endIfAbandoned();
      if (own.size >= limit) return false;
      this.#ofCallers.set(key, own.add(operation));
    }
    if (!this.#isRunning) void this.#run();
    return true;
  }

  leave(operation: Operation): void {
    const key = keyOf(operation.caller);
    const own = this.#ofCallers.get(key);
    if (own?.delete(operation) && own.size === 0) this.#ofCallers.delete(key);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (;;) {
      // Lets requests, answers and light operations run first.
      await nextRound();
      const next = this.#takeNext();
      if (next === null) break;
      await next.runSlice();
    }
    this.#isRunning = false;
  }

  #takeNext(): Operation | null {
    for (const [key, own] of this.#ofCallers) {
      for (const operation of own) {
        if (!operation.isWaiting) continue;
        this.#ofCallers.delete(key);
        this.#ofCallers.set(key, own);
        return operation;
      }
    }
    return null;
  }
}

interface Asked {
  readonly caller: Caller;
  readonly left: AbortSignal;
}

/** A class, so that operations share its methods; fields that only heavy operations need are created on demand. */
class Operation implements Work {
  readonly caller: Caller;
  readonly #left: AbortSignal;
  readonly #queues: Queues;
  #weight = 0;
  #weightLimit = 0;
  #sliceEnd = 0;
  #isOver = false;
  #refuse: ((error: GatewayError) => void) | null = null;
  /** Fields that wait for a turn. The newest runs first, so that started parts finish before new ones start. */
  #waiting: (() => void)[] | null = null;
  #whenIdle: (() => void)[] | null = null;

  constructor(queues: Queues, { caller, left }: Asked) {
    this.#queues = queues;
    this.caller = caller;
    this.#left = left;
  }

  get weight(): number {
    return this.#weight;
  }

  get isWaiting(): boolean {
    return this.#waiting !== null && this.#waiting.length > 0;
  }

  async run<Result>(execute: () => Promise<Result>): Promise<Result> {
    const { weight, weightOfTeam, slice } = this.#queues.limits;
    this.#weightLimit = this.#weight + (this.caller.kind === 'USER' ? weight : weightOfTeam);
    this.#sliceEnd = this.#weight + slice;
    this.#isOver = false;
    try {
      return await new Promise<Result>((resolve, reject) => {
        this.#refuse = reject;
        execute().then(resolve, reject);
      });
    } finally {
      this.#end();
    }
  }

  add(weight: number): void {
    this.#weight += weight;
    if (this.#weight > this.#weightLimit) this.#endWith(tooCostly());
  }

  isDue(): boolean {
    return this.#weight >= this.#sliceEnd || this.#isOver;
  }

  nextTurn(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isOver) return;
      this.#waiting ??= [];
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1 && !this.#queues.join(this)) this.#endWith(tooMany());
    });
  }

  whenIdle(run: () => void): void {
    // Bound, because the turn in which it runs belongs to another request.
    if (this.isWaiting) this.#whenIdle = [...(this.#whenIdle ?? []), AsyncResource.bind(run)];
    else run();
  }

  async runSlice(): Promise<void> {
    this.endIfAbandoned();
    this.#sliceEnd = this.#weight + this.#queues.limits.slice;
    for (let go = this.#waiting?.pop(); go !== undefined; go = this.#waiting?.pop()) {
      go();
      await afterMicrotasks();
      if (this.isDue()) break;
    }
    if (this.isWaiting) return;
    const idle = this.#whenIdle ?? [];
    this.#whenIdle = null;
    for (const run of idle) run();
  }

  endIfAbandoned(): void {
    if (this.#left.aborted) this.#endWith(new GatewayError('ABANDONED', 'The client left.'));
  }

  #endWith(error: GatewayError): void {
    this.#refuse?.(error);
    this.#end();
  }

  #end(): void {
    this.#isOver = true;
    this.#refuse = null;
    this.#waiting = null;
    this.#whenIdle = null;
    this.#queues.leave(this);
  }
}

/** Resolves after the callbacks of all promises settled by now have run. */
function afterMicrotasks(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

function tooCostly(): GatewayError {
  return new GatewayError(
    'QUERY_TOO_COSTLY',
    'The answer has too many fields, rows or characters; ask for fewer with `first`.',
  );
}

function tooMany(): GatewayError {
  const message = 'The caller has too many heavy operations at once.';
  return new GatewayError('RATE_LIMITED', message, { retryAfterMs });
}

/**
 * Starts one piece of work in each round of the event loop, in order of arrival, so that new requests are read and
 * short ones answered in between. The callers limit how much waits.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];

  run(start: () => void): void {
    this.#waiting.push(start);
    if (this.#waiting.length === 1) setImmediate(this.#startNext);
  }

  readonly #startNext = () => {
    const start = this.#waiting.shift();
    if (this.#waiting.length > 0) setImmediate(this.#startNext);
    start?.();
  };
}
