import type { Caller, OnAccess } from '../auth/rights.ts';
import type { Log } from '../log.ts';
import { beginFile, type TrailFile } from './files.ts';
import { AuditKey, formatHead, type NewLine } from './line.ts';
import { type AccessRecord, RepeatedAccesses } from './repeats.ts';

/** Records who saw or changed whose data, when, and with what outcome; never the data. */
export interface AuditTrail {
  /**
   * Records the accesses of one operation of a caller: each user, kind and outcome once, and again after a minute in a
   * long operation such as a stream. Equal accesses of a caller's operations are counted (`repeats.ts`). The operation
   * waits only for two map lookups; all other work happens after its answer.
   */
  readonly watch: (caller: Caller) => OnAccess;
  /** Whether the last write succeeded, and none waits for more than five seconds. */
  readonly isWritable: () => boolean;
  /** Writes the accesses that still wait. */
  readonly close: () => Promise<void>;
}

export interface AuditTrailOptions {
  readonly folder: string;
  /** 32 bytes each; the first writes. */
  readonly keys: readonly [Buffer, ...Buffer[]];
  readonly log: Log;
  readonly onRecords?: (outcome: 'written' | 'lost', count: number) => void;
  /** The next file begins when a file is larger than this. */
  readonly maxFileBytes?: number;
  /** How many accesses may wait in memory for the disk. */
  readonly maxWaiting?: number;
}

/** A kill loses at most the accesses of this time. */
const flushMs = 200;
const retryMs = 1000;
/** A disk that takes longer for a batch counts as one that cannot be written, until it answers. */
const answerMs = 5000;
const batchSize = 500;
const headEveryMs = 600_000;

/** @throws the error of the file system when the trail cannot be written */
export async function openAuditTrail(options: AuditTrailOptions): Promise<AuditTrail> {
  const writer = new TrailWriter(options, await beginFile(options.folder, new AuditKey(options.keys[0])));
  const repeats = new RepeatedAccesses((record) => writer.add(record));
  return {
    watch: (caller) => dropRepeats((access) => repeats.add(caller, access)),
    isWritable: () => writer.isWritable,
    close: async () => {
      repeats.close();
      await writer.close();
    },
  };
}

const repeatMs = 60_000;
const maxRecorded = 1000;

/** Passes on equal accesses of an operation at most once a minute. */
function dropRepeats(record: OnAccess): OnAccess {
  // Made with the first access, because many streams only wait.
  let recordedAt: Map<string, number> | null = null;
  return (access) => {
    const now = performance.now();
    const key = `${access.kind} ${access.outcome} ${access.userId}`;
    recordedAt ??= new Map();
    if (now - (recordedAt.get(key) ?? Number.NEGATIVE_INFINITY) < repeatMs) return;
    // Bounded, because a stream of the whole team reads every user.
    if (recordedAt.size >= maxRecorded) recordedAt.clear();
    recordedAt.set(key, now);
    record(access);
  };
}

/** Collects accesses and writes them in batches, one after the other. */
class TrailWriter {
  readonly #options: AuditTrailOptions;
  readonly #key: AuditKey;
  readonly #maxWaiting: number;
  #file: TrailFile | null;
  #waiting: AccessRecord[] = [];
  /** Accesses that were dropped because too many waited. The next batch reports their number. */
  #lost = 0;
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> | null = null;
  #headLoggedAt = 0;
  isWritable = true;

  constructor(options: AuditTrailOptions, file: TrailFile) {
    this.#options = options;
    this.#key = new AuditKey(options.keys[0]);
    this.#maxWaiting = options.maxWaiting ?? 50_000;
    this.#file = file;
    this.#logHead(file);
  }

  add(record: AccessRecord): void {
    if (this.#waiting.length < this.#maxWaiting) {
      this.#waiting.push(record);
    } else {
      this.#lost += accessesOf(record);
      this.#options.onRecords?.('lost', accessesOf(record));
    }
    this.#flushIn(flushMs);
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#flushing;
    await this.#flush();
    if (this.#timer !== null) clearTimeout(this.#timer);
    const left = sumAccesses(this.#waiting) + this.#lost;
    if (left > 0) this.#options.log.error('audit.lost', { count: left });
    await this.#endFile();
  }

  #flushIn(ms: number): void {
    if (this.#timer !== null || this.#flushing !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#flushing = this.#flush().finally(() => {
        this.#flushing = null;
        if (this.#waiting.length > 0 || this.#lost > 0) this.#flushIn(retryMs);
      });
    }, ms).unref();
  }

  /** Writes all waiting accesses, or as many as the disk takes. Never rejects. */
  async #flush(): Promise<void> {
    try {
      while (this.#waiting.length > 0 || this.#lost > 0) {
        const late = setTimeout(
          () => this.#noteFault(new Error('The disk does not answer.')),
          answerMs,
        ).unref();
        await this.#writeBatch().finally(() => clearTimeout(late));
      }
      if (!this.isWritable) this.#options.log.info('audit.writable');
      this.isWritable = true;
    } catch (error) {
      this.#noteFault(error);
    }
  }

  #noteFault(error: unknown): void {
    const advice = 'Access goes on and waits in memory to be written. Make room, or mend the folder.';
    if (this.isWritable) this.#options.log.error('audit.unwritable', { error, advice });
    this.isWritable = false;
  }

  async #writeBatch(): Promise<void> {
    const { folder, maxFileBytes = 64 * 1024 * 1024 } = this.#options;
    this.#file ??= await this.#beginNext(folder);
    const batch = this.#waiting.slice(0, batchSize);
    const lost = batch.length < batchSize ? this.#lost : 0;
    const lines = [...batch.map((each) => describe(this.#key, each)), ...describeLoss(lost)];
    const { fault } = await this.#file.append(lines);
    if (fault === null) {
      this.#waiting.splice(0, batch.length);
      this.#lost -= lost;
      this.#options.onRecords?.('written', sumAccesses(batch));
    }
    if (fault !== null || this.#file.bytes >= maxFileBytes) await this.#endFile();
    if (fault !== null) throw fault;
    if (this.#file !== null && performance.now() - this.#headLoggedAt > headEveryMs)
      this.#logHead(this.#file);
  }

  async #beginNext(folder: string): Promise<TrailFile> {
    const file = await beginFile(folder, this.#key);
    this.#logHead(file);
    return file;
  }

  async #endFile(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    if (file === null) return;
    this.#logHead(file);
    await file.close();
  }

  /** With the heads in the log, which is stored elsewhere, `verify --heads` finds a file whose end was cut off. */
  #logHead(file: TrailFile): void {
    this.#headLoggedAt = performance.now();
    this.#options.log.info('audit.head', { head: formatHead(file.head) });
  }
}

function accessesOf({ repeated }: AccessRecord): number {
  return repeated?.count ?? 1;
}

function sumAccesses(records: readonly AccessRecord[]): number {
  return records.reduce((sum, record) => sum + accessesOf(record), 0);
}

function describe(key: AuditKey, { at, caller, access, repeated }: AccessRecord): NewLine {
  const { kind, userId, outcome } = access;
  const user = userId === null ? null : key.userPseudonym(userId);
  const line = { at: new Date(at).toISOString(), ...describeCaller(key, caller), kind, user, outcome };
  return repeated === null
    ? line
    : { ...line, count: repeated.count, since: new Date(repeated.since).toISOString() };
}

function describeCaller(key: AuditKey, caller: Caller) {
  if (caller.kind === 'TEAM') return { caller: caller.keyName ?? 'team' };
  // No label of a gateway key has a colon.
  if (caller.kind === 'MANAGEMENT') return { caller: `management:${caller.keyName}` };
  const token = caller.tokenId === null ? {} : { token: key.tokenPseudonym(caller.tokenId) };
  return { caller: `user-${key.userPseudonym(caller.userId)}`, ...token };
}

function describeLoss(lost: number): readonly NewLine[] {
  return lost === 0 ? [] : [{ at: new Date().toISOString(), lost }];
}
