import type { Caller } from '../auth/caller.ts';
import type { Log } from '../log.ts';
import type { OnAccess } from '../service/access.ts';
import { beginFile, type ChainFile } from './chain-file.ts';
import { type AuditKey, createAuditKey } from './keys.ts';
import { formatHead, type NewLine } from './line.ts';
import { type AccessRecord, RepeatedAccesses } from './repeats.ts';

/** Who saw or changed whose data, when, and what came of it; never what it was. */
export interface AuditTrail {
  /**
   * Takes down what one operation of a caller does: each user, kind and outcome once, and again after a minute when it
   * goes on as long as a stream. Equal accesses of a caller's operations are counted (`repeats.ts`). The operation pays for
   * two map lookups; all other work happens after its answer.
   */
  readonly watch: (caller: Caller) => OnAccess;
  /** Whether everything so far could be written, but for what is on its way. */
  readonly isWritable: () => boolean;
  /** Writes what is on its way. */
  readonly close: () => Promise<void>;
}

export interface AuditTrailOptions {
  readonly folder: string;
  /** 32 bytes each; the first writes. */
  readonly keys: readonly [Buffer, ...Buffer[]];
  readonly log: Log;
  readonly onRecords?: (outcome: 'written' | 'lost', count: number) => void;
  /** How large a file may get before the next one is begun. */
  readonly maxFileBytes?: number;
  /** How many accesses may wait for a disk that does not take them. */
  readonly maxWaiting?: number;
}

/** What a kill takes away at most. */
const flushMs = 200;
const retryMs = 1000;
const batchSize = 500;
const tellHeadMs = 600_000;

/**
 * Begins a file of the trail.
 * @throws what the file system throws when it cannot be written
 */
export async function openAuditTrail(options: AuditTrailOptions): Promise<AuditTrail> {
  const writer = new TrailWriter(options, await beginFile(options.folder, createAuditKey(options.keys[0])));
  const repeats = new RepeatedAccesses((record) => writer.add(record));
  return {
    watch: (caller) => createNotes((access) => repeats.add(caller, access)),
    isWritable: () => writer.isWritable,
    close: async () => {
      repeats.close();
      await writer.close();
    },
  };
}

const repeatMs = 60_000;
const maxNotes = 1000;

/** Lets each access of an operation through once. */
function createNotes(tell: OnAccess): OnAccess {
  // Made with the first: a stream that waits has nothing to tell.
  let toldAt: Map<string, number> | null = null;
  return (access) => {
    const now = Date.now();
    const key = `${access.kind} ${access.outcome} ${access.userId}`;
    toldAt ??= new Map();
    if (now - (toldAt.get(key) ?? 0) < repeatMs) return;
    // A stream of the whole team would gather every user.
    if (toldAt.size >= maxNotes) toldAt.clear();
    toldAt.set(key, now);
    tell(access);
  };
}

/** Gathers accesses and writes them behind one another, a batch at a time. */
class TrailWriter {
  readonly #options: AuditTrailOptions;
  readonly #key: AuditKey;
  readonly #maxWaiting: number;
  #file: ChainFile | null;
  #waiting: AccessRecord[] = [];
  /** Accesses that found no room and are not told in the trail yet. */
  #lost = 0;
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> | null = null;
  #headToldAt = 0;
  isWritable = true;

  constructor(options: AuditTrailOptions, file: ChainFile) {
    this.#options = options;
    this.#key = createAuditKey(options.keys[0]);
    this.#maxWaiting = options.maxWaiting ?? 50_000;
    this.#file = file;
    this.#tellHead(file);
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

  /** Writes everything that waits, or as much as the disk takes. Never rejects. */
  async #flush(): Promise<void> {
    try {
      while (this.#waiting.length > 0 || this.#lost > 0) await this.#writeBatch();
      if (!this.isWritable) this.#options.log.info('audit.writable');
      this.isWritable = true;
    } catch (error) {
      const advice = 'Access goes on and waits in memory to be written. Make room, or mend the folder.';
      if (this.isWritable) this.#options.log.error('audit.unwritable', { error, advice });
      this.isWritable = false;
    }
  }

  async #writeBatch(): Promise<void> {
    const { folder, maxFileBytes = 64 * 1024 * 1024 } = this.#options;
    this.#file ??= await this.#beginNext(folder);
    const batch = this.#waiting.slice(0, batchSize);
    const lost = batch.length < batchSize ? this.#lost : 0;
    const lines = [...batch.map((each) => describe(this.#key, each)), ...describeLoss(lost)];
    const { kept, fault } = await this.#file.append(lines);
    const written = this.#waiting.splice(0, Math.min(kept, batch.length));
    if (kept > batch.length) this.#lost -= lost;
    this.#options.onRecords?.('written', sumAccesses(written));
    if (fault !== null || this.#file.bytes() >= maxFileBytes) await this.#endFile();
    if (fault !== null) throw fault;
    if (this.#file !== null && Date.now() - this.#headToldAt > tellHeadMs) this.#tellHead(this.#file);
  }

  async #beginNext(folder: string): Promise<ChainFile> {
    const file = await beginFile(folder, this.#key);
    this.#tellHead(file);
    return file;
  }

  async #endFile(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    if (file === null) return;
    this.#tellHead(file);
    await file.close();
  }

  /** The log is kept elsewhere: against it, `verify --heads` finds an end that was cut off. */
  #tellHead(file: ChainFile): void {
    this.#headToldAt = Date.now();
    this.#options.log.info('audit.head', { head: formatHead(file.head()) });
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
  const token = caller.tokenId === null ? {} : { token: key.tokenPseudonym(caller.tokenId) };
  return { caller: `user-${key.userPseudonym(caller.userId)}`, ...token };
}

function describeLoss(lost: number): readonly NewLine[] {
  return lost === 0 ? [] : [{ at: new Date().toISOString(), lost }];
}
