import type { IdempotencyRecords } from '../idempotency.ts';
import type {
  Appended,
  AppendNotice,
  Batch,
  Claimed,
  DeadLetter,
  EventLog,
  Extent,
  FactQuery,
  Gap,
  Latest,
  NewMessage,
  OneTimeValues,
  Scope,
  StoredFact,
} from '../log.ts';
import { Seal } from '../seal.ts';
import { checkEveryMs, Waiters } from '../waiters.ts';
import { within } from '../within.ts';
import { inMemory, type LogFile, openLogFile } from './log-file.ts';
import { LogReader, read } from './reader.ts';
import { RecentEvents } from './recent-events.ts';
import { RecentVersions } from './recent-versions.ts';
import { LogWriter, type Written } from './writer.ts';
import {
  AppendQueue,
  answerInTime,
  createIdempotencyRecords,
  createLocalWriter,
  createOneTimeValues,
  type Writer,
  WriterClient,
} from './writer-client.ts';

/** How long a probe may take, in milliseconds: `/ready` and `/metrics` wait for it. */
const probeMs = 2000;

export interface SqliteStore {
  readonly log: EventLog;
  readonly idempotencyRecords: IdempotencyRecords;
  readonly oneTimeValues: OneTimeValues;
  /** False when the file was too large for the check at the start. */
  readonly isChecked: boolean;
  /** The faults that SQLite finds in the file. */
  readonly checkIntegrity: () => Promise<readonly string[]>;
}

export interface SqliteOptions {
  /** 32 bytes each; the first seals, all open. Without keys bodies are stored in clear. */
  readonly keys: readonly Buffer[];
  /** `shared` is for commands that run beside a gateway. */
  readonly access: 'exclusive' | 'shared';
}

/**
 * The event log in one SQLite file (WAL, synchronous=FULL). A thread of its own writes. Messages that arrive during a
 * commit share the next transaction. They are acknowledged after its COMMIT, which fsyncs: an acknowledged message survives
 * kill -9 and power loss. Reads use a connection of this thread and wait for no write. The path `:memory:` is a log without
 * a file and a thread, which ends with the process.
 * @throws GatewayError EVENT_LOG_LOCKED, EVENT_LOG_DAMAGED or EVENT_LOG_UNAVAILABLE
 */
export async function openSqliteStore(path: string, { keys, access }: SqliteOptions): Promise<SqliteStore> {
  const file = openLogFile(path, access);
  const seal = new Seal(keys);
  const writer =
    path === inMemory
      ? createLocalWriter(new LogWriter(file.database, seal))
      : new WriterClient({ path, keys, files: file.files });
  const isChecked = file.isCheckedAtStart();
  if (isChecked) await checkOrClose(file, writer);
  const reader = new LogReader(file.database, seal);
  // In the background: webhooks are written between the steps. A failed migration runs again at the next start.
  if (access === 'exclusive' && keys.length > 0) rehashAll(writer).catch(() => undefined);
  return {
    log: new SqliteLog({ file, writer, reader }),
    idempotencyRecords: createIdempotencyRecords(answerInTime(writer)),
    oneTimeValues: createOneTimeValues(answerInTime(writer)),
    isChecked,
    checkIntegrity: async () => read(() => reader.integrity()),
  };
}

/** The writer's thread checks the file while this thread loads the rest of the gateway, so a start takes less time. */
async function checkOrClose(file: LogFile, writer: Writer): Promise<void> {
  try {
    const isWhole = await writer.call('isWhole').catch(() => false);
    // A second check here, for the exact error.
    if (!isWhole) file.check();
  } catch (error) {
    void writer.close();
    file.close();
    throw error;
  }
}

/** Replaces the plain hashes of an earlier version. */
async function rehashAll(writer: Writer): Promise<void> {
  for (let after: string | null = ''; after !== null; ) after = await writer.call('rehash', after);
}

interface SqliteLogParts {
  readonly file: LogFile;
  readonly writer: Writer;
  readonly reader: LogReader;
}

class SqliteLog implements EventLog {
  readonly #file: LogFile;
  readonly #writer: Writer;
  readonly #calls: Pick<Writer, 'call'>;
  readonly #reader: LogReader;
  readonly #waiters = new Waiters();
  readonly #appends: AppendQueue;
  readonly #epoch: string;
  /** The end of what listeners were notified of; nothing after it is read. */
  #head: number;
  readonly #recent: RecentEvents;
  readonly #versions: RecentVersions;
  #endAtLastCheck: number;
  readonly #timer: NodeJS.Timeout;
  /** The probe that waits for the disk: one at most. */
  #probe: Promise<void> | null = null;

  constructor({ file, writer, reader }: SqliteLogParts) {
    this.#file = file;
    this.#writer = writer;
    this.#calls = answerInTime(writer);
    this.#reader = reader;
    this.#epoch = reader.meta('epoch') ?? '';
    this.#head = reader.head();
    this.#recent = new RecentEvents(this.#head);
    this.#versions = new RecentVersions(this.#head);
    this.#endAtLastCheck = this.#head;
    this.#appends = new AppendQueue(writer, {
      onFollows: (end) => this.#noteOthers(end),
      onAppended: (message, written) => this.#noteOwn(message, written),
    });
    this.#timer = setInterval(() => this.#checkEnd(), checkEveryMs).unref();
  }

  epoch(): string {
    return this.#epoch;
  }

  append(message: NewMessage): Promise<Appended> {
    return this.#appends.add(message);
  }

  async read(scope: Scope, after: number, limit: number): Promise<Batch | Gap> {
    if (after > this.#head) {
      await this.#appends.settled();
      this.#noteOthers(read(() => this.#reader.head()));
    }
    if (after > this.#head) return { kind: 'gap', reason: 'beyond-end' };
    const end = this.#head;
    const recent = this.#recent.read(scope, after, { limit, end });
    return recent ?? read(() => this.#reader.events(scope, after, { limit, end }));
  }

  async position(): Promise<number> {
    return this.#head;
  }

  async wake(scope: Scope, after: number, signal: AbortSignal): Promise<number> {
    return this.#head > after ? after : await this.#waiters.wait(scope, after, signal);
  }

  async latest(subject: string): Promise<Latest | null> {
    const recent = this.#versions.get(subject);
    // Without a user, the file has the user of an earlier version.
    if (recent?.userId) return recent;
    const found = read(() => this.#reader.latest(subject));
    return this.#noteRead(subject, found);
  }

  async latestOf(subjects: readonly string[], changedSince?: Date): Promise<readonly (Latest | null)[]> {
    if (subjects.length === 0) return [];
    const recent = changedSince && this.#versions.changedSince(changedSince, subjects);
    if (recent) return recent;
    const found = read(() => this.#reader.latestOf(subjects));
    return subjects.map((subject) => this.#noteRead(subject, found.get(subject) ?? null));
  }

  async changedSince(userId: string, since: Date): Promise<readonly string[]> {
    return read(() => this.#reader.changedSince(userId, since));
  }

  async facts(query: FactQuery, limit: number): Promise<readonly StoredFact[]> {
    return read(() => this.#reader.facts(query, limit));
  }

  claim(subject: string, known: Claimed): Promise<void> {
    return this.#calls.call('claim', subject, known);
  }

  async deadLetters(after: number, limit: number): Promise<readonly DeadLetter[]> {
    return read(() => this.#reader.deadLetters(after, limit));
  }

  async readMark(name: string): Promise<string | null> {
    return read(() => this.#reader.mark(name));
  }

  writeMark(name: string, value: string): Promise<void> {
    return this.#calls.call('writeMark', name, value);
  }

  async readMarks(prefix: string): Promise<ReadonlyMap<string, string>> {
    return read(() => this.#reader.marks(prefix));
  }

  dropMark(name: string): Promise<void> {
    return this.#calls.call('dropMark', name);
  }

  onAppend(listener: (notice: AppendNotice | null) => void): () => void {
    return this.#waiters.onAppend(listener);
  }

  /** Nothing to do: listeners are notified of a command's appends before anyone can read them. */
  catchUp(): null {
    return null;
  }

  /** No other gateway uses this log. */
  async publish(): Promise<void> {}

  subscribe(): () => void {
    return () => {};
  }

  /** Prunes in steps: webhooks are written between them. */
  async prune(before: Date): Promise<number> {
    let dropped = 0;
    for (;;) {
      const step = await this.#writer.call('prune', before, new Date());
      dropped += step.dropped;
      this.#recent.dropThrough(this.#head);
      if (step.isDone) return dropped;
    }
  }

  async measure(): Promise<Extent> {
    return read(() => this.#reader.measure());
  }

  async isWritable(): Promise<boolean> {
    this.#probe ??= this.#writer.call('probe').finally(() => {
      this.#probe = null;
    });
    return await within(probeMs, this.#probe).then(
      () => true,
      () => false,
    );
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#appends.finish();
    await this.#writer.close();
    this.#waiters.wake(null);
    this.#file.close();
  }

  /** What is read in the file may be newer than the last notice. */
  #noteRead(subject: string, latest: Latest | null): Latest | null {
    if (latest !== null && latest.position > this.#head) this.#versions.add(subject, latest);
    return latest;
  }

  #noteOwn(message: NewMessage, { appended, advances }: Written): void {
    const { subject, userId } = message;
    if (subject !== null && advances) {
      this.#versions.add(subject.id, { version: subject.version, position: appended.position, userId });
    }
    if (appended.duplicate) return;
    const before = this.#head;
    this.#head = appended.position;
    this.#recent.add(message, { position: appended.position, advances });
    if (message.deadReason === null) this.#waiters.wake(message, before);
  }

  /** Another process, a command, has appended up to this end. */
  #noteOthers(end: number): void {
    if (end <= this.#head) return;
    const before = this.#head;
    this.#head = end;
    this.#recent.dropThrough(end);
    this.#versions.restart(end);
    this.#waiters.wake(null, before);
  }

  #checkEnd(): void {
    this.#recent.dropThrough(this.#endAtLastCheck);
    this.#endAtLastCheck = this.#head;
    // The writer's answer reports the end before its group.
    if (this.#appends.isWriting) return;
    try {
      this.#noteOthers(this.#reader.head());
    } catch {
      // The next check tries again.
    }
  }
}
