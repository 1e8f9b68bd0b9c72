import { type Basis, createBasis } from '../upstream/basis.ts';
import type { PlainAnswer } from './plain-answer.ts';

/** As long as a finished read is shared (upstream/coalesce.ts). */
const joinableMs = 1000;

/** A query under way, for all who ask the same meanwhile. */
interface Flight {
  readonly basis: Basis;
  /** What those who joined are answered; null as soon as it is known that each of them must ask for itself. */
  readonly shared: PromiseWithResolvers<PlainAnswer | null>;
  readonly begunAt: number;
  /** How many changes had been told when it began. */
  readonly changes: number;
  /** Of those who wait for it. */
  readonly waiting: Set<AbortSignal>;
  /** Aborts when all of them have left. */
  readonly left: AbortController;
}

/** The answer of a query that was under way. */
export interface Joined {
  readonly answer: PlainAnswer;
  readonly told: ReturnType<Basis['told']>;
}

/** How a query is run: `left` aborts when nobody waits for it any more. */
export type Fly = (basis: Basis, left: AbortSignal) => Promise<PlainAnswer | null>;

/** Equal queries at the same time are run once. */
export interface Flights {
  readonly isUnderWay: (key: string) => boolean;
  /** The answer of an equal one under way; null where there is none whose answer will do. */
  readonly join: (key: string, left: AbortSignal) => Promise<Joined | null>;
  /** Runs one, which others may join from when it is known to be a query until it is answered. */
  readonly lead: (key: string, left: AbortSignal, fly: Fly) => Promise<PlainAnswer | null>;
}

export interface FlightsOptions {
  /** Whether all news that anybody has heard were told by now. */
  readonly hearNews: () => Promise<boolean>;
  /** How many changes were told so far. */
  readonly changes: () => number;
  /** Marks an operation, for the sharing of reads; the function it returns marks its end. */
  readonly beginOperation: () => () => void;
  readonly count: (outcome: 'joined' | 'miss') => void;
}

export function createFlights({ hearNews, changes, beginOperation, count }: FlightsOptions): Flights {
  const underWay = new Map<string, Flight>();
  /** None that began before a change, whatever was changed: what it will rest on is not known yet. */
  const find = async (key: string): Promise<Flight | null> => {
    if (!(await hearNews())) return null;
    const flight = underWay.get(key);
    const isNew = flight?.changes === changes() && performance.now() - flight.begunAt < joinableMs;
    return flight !== undefined && isNew && !flight.left.signal.aborted ? flight : null;
  };
  const begin = (key: string): Flight => {
    const shared = Promise.withResolvers<PlainAnswer | null>();
    const onQuery = () => {
      count('miss');
      underWay.set(key, flight);
    };
    const flight: Flight = {
      basis: createBasis({ onQuery, onApart: () => shared.resolve(null) }),
      shared,
      begunAt: performance.now(),
      changes: changes(),
      waiting: new Set(),
      left: new AbortController(),
    };
    return flight;
  };
  return {
    isUnderWay: (key) => underWay.has(key),
    join: async (key, left) => {
      const flight = await find(key);
      if (flight === null) return null;
      count('joined');
      const leave = wait(flight, left);
      const end = beginOperation();
      const answer = await flight.shared.promise;
      leave();
      end();
      return answer === null ? null : { answer, told: flight.basis.told() };
    },
    lead: async (key, left, fly) => {
      const flight = begin(key);
      const leave = wait(flight, left);
      try {
        const answer = await fly(flight.basis, flight.left.signal);
        flight.shared.resolve(answer);
        return answer;
      } finally {
        flight.shared.resolve(null);
        leave();
        if (underWay.get(key) === flight) underWay.delete(key);
      }
    },
  };
}

/** Waits for a flight until the function it returns is called; when the last one who waits has left, it is aborted. */
function wait({ waiting, left }: Flight, own: AbortSignal): () => void {
  const leave = () => {
    waiting.delete(own);
    if (waiting.size === 0) left.abort(own.reason);
  };
  waiting.add(own);
  if (own.aborted) leave();
  else own.addEventListener('abort', leave, { once: true });
  return () => {
    own.removeEventListener('abort', leave);
    waiting.delete(own);
  };
}
