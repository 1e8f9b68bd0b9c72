import type { Expiry } from '../cache/expiry.ts';
import { type Keepsake, makeRoom } from '../cache/room.ts';
import type { Touched } from './change.ts';

/** The service's answer as read from its JSON, and how long that was. */
export interface Fetched {
  readonly json: unknown;
  readonly bytes: number;
}

/** A read that others may share: under way, or settled. */
export interface SharedRead extends Keepsake {
  readonly key: string;
  readonly promise: Promise<Fetched>;
  readonly abort: AbortController;
  waiting: number;
  /** What changed while it was under way. */
  readonly missed: Touched[];
  settled: Settled | null;
}

export interface Settled extends Fetched {
  readonly at: number;
  /** The burst it settled in (coalesce.ts). */
  readonly burst: number | null;
  readonly standing: Standing;
  /** What ends its time. */
  readonly expiry: Expiry<SharedRead>;
}

/** Whether an answer is still shared: for whoever holds what was made of it, and not the answer itself. */
export interface Standing {
  stands: boolean;
  /** Whether it outlives its burst. */
  readonly isKept: boolean;
  /** What the answer rests on (change.ts). */
  readonly restsOn: readonly string[];
}

/** Where shared reads stand: by key, by what they rest on, and bounded. Each key has one. */
export interface Shelf {
  /** The read under this key, which counts as asked for now. */
  readonly take: (key: string) => SharedRead | undefined;
  /** In place of the one that stood under its key. */
  readonly put: (read: SharedRead) => void;
  readonly has: (read: SharedRead) => boolean;
  readonly settle: (read: SharedRead, settled: Settled) => void;
  readonly drop: (read: SharedRead) => void;
  readonly touched: (touched: Touched) => ReadonlySet<SharedRead>;
  /** Settled reads that are only for their burst. */
  readonly ofBurst: () => readonly SharedRead[];
  /** Those that nobody asks for, until what is left is within the bounds; the newest last. Returns how many. */
  readonly dropOverflow: (newest: SharedRead) => number;
}

export interface Bounds {
  readonly answers: number;
  /** Of JSON. */
  readonly bytes: number;
}

export function createShelf(most: Bounds): Shelf {
  const reads = new Map<string, SharedRead>();
  const byName = new Map<string, Set<SharedRead>>();
  const ofBurst = new Set<SharedRead>();
  let [answers, bytes] = [0, 0];

  const count = ({ settled }: SharedRead, sign: 1 | -1) => {
    answers += sign;
    bytes += sign * (settled?.bytes ?? 0);
  };
  const isFull = () => answers > most.answers || bytes > most.bytes;
  const has = (read: SharedRead) => reads.get(read.key) === read;
  const drop = (read: SharedRead) => {
    if (!has(read)) return;
    reads.delete(read.key);
    if (read.settled === null) return;
    read.settled.expiry.remove(read);
    read.settled.standing.stands = false;
    count(read, -1);
    ofBurst.delete(read);
    for (const name of read.settled.standing.restsOn) {
      const same = byName.get(name);
      same?.delete(read);
      if (same?.size === 0) byName.delete(name);
    }
  };

  return {
    take: (key) => {
      const read = reads.get(key);
      if (read !== undefined) read.wasAsked = true;
      return read;
    },
    put: (read) => {
      const earlier = reads.get(read.key);
      if (earlier !== undefined) drop(earlier);
      reads.set(read.key, read);
    },
    has,
    settle: (read, settled) => {
      read.settled = settled;
      settled.expiry.add(read);
      count(read, 1);
      if (!settled.standing.isKept) ofBurst.add(read);
      for (const name of settled.standing.restsOn) {
        const same = byName.get(name);
        if (same === undefined) byName.set(name, new Set([read]));
        else same.add(read);
      }
    },
    drop,
    touched: (touched) => {
      const names = touched === 'everything' ? [...byName.keys()] : touched;
      return new Set(names.flatMap((name) => [...(byName.get(name) ?? [])]));
    },
    ofBurst: () => [...ofBurst],
    dropOverflow: (newest) => {
      let dropped = 0;
      const giveUp = (_key: string, read: SharedRead) => {
        drop(read);
        dropped += 1;
      };
      const mayGo = ({ settled }: SharedRead) => settled !== null;
      if (isFull()) makeRoom(reads, { newest, isFull, mayGo, giveUp });
      return dropped;
    },
  };
}
