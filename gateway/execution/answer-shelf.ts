import { createExpiry, type Expiry } from '../cache/expiry.ts';
import { type Keepsake, makeRoom } from '../cache/room.ts';
import type { PlainAnswer } from '../http/direct-answer.ts';
import type { Basis } from '../service/basis.ts';
import type { Standing } from '../service/shelf.ts';

export interface ShelfBounds {
  readonly answers: number;
  /** Of bodies, of the keys they stand under, and of what hangs on them. */
  readonly bytes: number;
}

const defaultBounds: ShelfBounds = { answers: 20_000, bytes: 32 * 1024 * 1024 };
/** What is shared for a burst of operations only is given for as long as its reads are (service/coalesce.ts). */
const burstMs = 1000;
/** What else an answer takes; a read that it rests on, and each name that one does; what is told again. */
const bytesOf = { answer: 1000, read: 50, name: 60, note: 200 };

/** A whole answer, and what it was made of. */
export interface NewAnswer {
  readonly answer: PlainAnswer;
  readonly restsOn: readonly Standing[];
  readonly told: ReturnType<Basis['told']>;
}

export interface WholeAnswer extends NewAnswer {
  /** Whether news can make it old. */
  readonly followsNews: boolean;
  /** Whether all that it rests on outlives the burst of operations that it was made in. */
  readonly isKept: boolean;
}

/** Whole answers by what was asked. Whether one may still be given is for its taker to see. */
export interface AnswerShelf {
  /** The answer under this key, which counts as asked for now. */
  readonly take: (key: string) => WholeAnswer | undefined;
  /** In place of the one that stood under its key. */
  readonly put: (key: string, answer: NewAnswer) => void;
}

export interface AnswerShelfOptions {
  /** For how long an answer stands at most; 0 = not beyond its burst. */
  readonly keepMs: number;
  readonly bounds?: ShelfBounds | undefined;
  /** Told of each answer that is given up for want of room. */
  readonly onFull: () => void;
}

interface Standee extends WholeAnswer, Keepsake {
  readonly bytes: number;
  /** What ends its time. */
  readonly expiry: Expiry<string>;
}

export function createAnswerShelf({
  keepMs,
  onFull,
  bounds = defaultBounds,
}: AnswerShelfOptions): AnswerShelf {
  const standing = new Map<string, Standee>();
  let bytes = 0;
  const remove = (key: string) => {
    const gone = standing.get(key);
    if (gone === undefined) return;
    standing.delete(key);
    gone.expiry.remove(key);
    bytes -= gone.bytes;
  };
  const [keptOnes, onesOfBurst] = [createExpiry(keepMs, remove), createExpiry(burstMs, remove)];
  const isFull = () => standing.size > bounds.answers || bytes > bounds.bytes;
  const giveUp = (key: string) => {
    remove(key);
    onFull();
  };
  return {
    take: (key) => {
      const found = standing.get(key);
      if (found !== undefined) found.wasAsked = true;
      return found;
    },
    put: (key, made) => {
      remove(key);
      const followsNews = made.restsOn.some(({ restsOn }) => restsOn.length > 0);
      const isKept = made.restsOn.every((read) => read.isKept);
      if (isKept && keepMs === 0) return;
      const expiry = isKept ? keptOnes : onesOfBurst;
      const size = sizeOf(key, made);
      const newest: Standee = { ...made, followsNews, isKept, expiry, bytes: size, wasAsked: false };
      standing.set(key, newest);
      expiry.add(key);
      bytes += size;
      if (isFull()) makeRoom(standing, { newest, isFull, giveUp });
    },
  };
}

function sizeOf(key: string, { answer, restsOn, told }: NewAnswer): number {
  const reads = restsOn.reduce((sum, read) => sum + bytesOf.read + read.restsOn.length * bytesOf.name, 0);
  return key.length + answer.body.length + reads + told.length * bytesOf.note + bytesOf.answer;
}
