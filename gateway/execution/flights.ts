import type { PlainAnswer } from '../http/direct-answer.ts';
import { type Basis, createBasis } from '../service/basis.ts';

/** As long as a finished read is shared (service/coalesce.ts). */
const joinableMs = 1000;

/** A query under way, for all who ask the same meanwhile. */
interface Flight {
  readonly basis: Basis;
  readonly begunAt: number;
  /** How many changes had been told when it began. */
  readonly changes: number;
  /** Aborts when all who wait for it have left. */
  readonly left: AbortController;
  waiting: number;
  /** What those who join are answered; null = each of them must ask for itself, undefined = not known yet. */
  shared: PlainAnswer | null | undefined;
  /** Made with the first who joins: most are alone. */
  joined: PromiseWithResolvers<PlainAnswer | null> | null;
}

/**
 * Where a flight is found by what it asks. Left empty behind it: tables that a Map has outgrown hold on to each other and to
 * what stood in them until a major collection, and flights with all that hangs on them made half of what survived the minor ones.
 */
interface Place {
  flight: Flight | null;
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
  const underWay = new Map<string, Place>();
  /** None that began before a change, whatever was changed: what it will rest on is not known yet. */
  const find = async (key: string): Promise<Flight | null> => {
    if (!(await hearNews())) return null;
    const flight = underWay.get(key)?.flight ?? null;
    const isNew = flight?.changes === changes() && performance.now() - flight.begunAt < joinableMs;
    return flight !== null && isNew && !flight.left.signal.aborted ? flight : null;
  };
  const begin = (key: string, place: Place): Flight => {
    const onQuery = () => {
      count('miss');
      underWay.set(key, place);
    };
    const flight: Flight = {
      basis: createBasis({ onQuery, onApart: () => share(flight, null) }),
      begunAt: performance.now(),
      changes: changes(),
      left: new AbortController(),
      waiting: 0,
      shared: undefined,
      joined: null,
    };
    place.flight = flight;
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
      const answer = await answerOf(flight);
      leave();
      end();
      return answer === null ? null : { answer, told: flight.basis.told() };
    },
    lead: async (key, left, fly) => {
      const place: Place = { flight: null };
      const flight = begin(key, place);
      const leave = wait(flight, left);
      try {
        const answer = await fly(flight.basis, flight.left.signal);
        share(flight, answer);
        return answer;
      } finally {
        share(flight, null);
        leave();
        place.flight = null;
        if (underWay.get(key) === place) underWay.delete(key);
      }
    },
  };
}

/** The first word counts. */
function share(flight: Flight, answer: PlainAnswer | null): void {
  if (flight.shared === undefined) flight.shared = answer;
  flight.joined?.resolve(flight.shared);
}

async function answerOf(flight: Flight): Promise<PlainAnswer | null> {
  if (flight.shared !== undefined) return flight.shared;
  flight.joined ??= Promise.withResolvers();
  return await flight.joined.promise;
}

/** Waits for a flight until the function it returns is called; when the last one who waits has left, it is aborted. */
function wait(flight: Flight, own: AbortSignal): () => void {
  let isWaiting = true;
  const leave = () => {
    isWaiting = false;
    flight.waiting -= 1;
    if (flight.waiting === 0) flight.left.abort(own.reason);
  };
  flight.waiting += 1;
  if (own.aborted) leave();
  else own.addEventListener('abort', leave, { once: true });
  return () => {
    own.removeEventListener('abort', leave);
    if (isWaiting) flight.waiting -= 1;
  };
}
