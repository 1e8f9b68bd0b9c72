import { GatewayError, isGatewayError } from '../../errors.ts';
import type { IdempotencyRecords } from '../idempotency-records.ts';
import type { EventLog } from '../log.ts';
import type { OneTimeValues } from '../one-time-values.ts';
import { noOthers } from '../others.ts';
import { createSeal } from '../seal.ts';
import { createWaiters, lookEveryMs } from '../waiters.ts';
import { createAppends } from './append-queue.ts';
import { type LogFile, openLogFile } from './log-file.ts';
import { keepLatest } from './newest-versions.ts';
import { createReading } from './reader.ts';
import { startWriterThread, type WriterThread } from './writer-client.ts';

export interface SqliteStore {
  readonly log: EventLog;
  readonly idempotencyRecords: IdempotencyRecords;
  readonly oneTimeValues: OneTimeValues;
  /** What SQLite finds wrong with the file. */
  readonly checkIntegrity: () => Promise<readonly string[]>;
}

export interface SqliteOptions {
  /** 32 bytes each; the first seals, all open. None: bodies in clear. */
  readonly keys: readonly Buffer[];
  /** `shared` is for commands that work beside a running gateway. */
  readonly access: 'exclusive' | 'shared';
}

/**
 * The event log in one SQLite file (WAL, synchronous=FULL). A thread of its own writes; what comes while it
 * commits shares the next transaction, and is acknowledged after its COMMIT, which fsyncs: what was
 * acknowledged survives kill -9 and power loss. Reads use a connection of this thread and wait for no write.
 * @throws GatewayError EVENT_LOG_LOCKED, EVENT_LOG_DAMAGED or EVENT_LOG_UNAVAILABLE
 */
export async function openSqliteStore(path: string, { keys, access }: SqliteOptions): Promise<SqliteStore> {
  const file = openLogFile(path, access);
  const writer = startWriterThread({ path, keys, files: file.files });
  await checkOrLeave(file, writer);
  const reading = createReading(file.database, createSeal(keys));
  const latest = keepLatest(reading.latest);
  const waiters = createWaiters();
  const epoch = reading.meta('epoch') ?? '';
  /** The end of what was told to everybody here; nothing behind it is read. */
  let head = reading.head();
  const noteOthers = (end: number) => {
    if (end <= head) return;
    head = end;
    latest.forgetAll();
    waiters.wake(null);
  };
  const appends = createAppends(writer, {
    onFollows: noteOthers,
    onAppended: (message, { position, duplicate }) => {
      head = Math.max(head, position);
      if (message.subject !== null) latest.forget(message.subject.id);
      if (!duplicate && message.deadReason === null) waiters.wake(message);
    },
  });
  // A command beside the gateway may have appended too. What is with the writer says by itself what it follows.
  const look = setInterval(() => {
    if (!appends.areUnderWay()) noteOthers(readOr(head, reading.head));
  }, lookEveryMs).unref();

  // In the background: webhooks are written in between. A failed migration runs again at the next start.
  if (access === 'exclusive' && keys.length > 0) rehashAll(writer).catch(() => undefined);

  const log: EventLog = {
    epoch: () => epoch,
    append: appends.add,
    read: async (scope, after, limit) => {
      if (after > head) {
        await appends.settled();
        noteOthers(read(reading.head));
      }
      if (after > head) return { kind: 'gap', reason: 'beyond-end' };
      const end = head;
      return read(() => reading.events(scope, after, { limit, end }));
    },
    position: async () => head,
    wake: async (scope, after, signal) => {
      if (head <= after) await waiters.wait(scope, signal);
    },
    latest: async (subject) => read(() => latest.of(subject)),
    changedSince: async (userId, since) => read(() => reading.changedSince(userId, since)),
    facts: async (query, limit) => read(() => reading.facts(query, limit)),
    // Forgotten where it failed as well: it may have been done all the same.
    claim: (subject, known) => writer.call('claim', subject, known).finally(() => latest.forget(subject)),
    deadLetters: async (after, limit) => read(() => reading.deadLetters(after, limit)),
    readMark: async (name) => read(() => reading.mark(name)),
    writeMark: (name, value) => writer.call('writeMark', name, value),
    readMarks: async (prefix) => read(() => reading.marks(prefix)),
    dropMark: (name) => writer.call('dropMark', name),
    onAppend: waiters.onAppend,
    // What a command appends beside the gateway is told before anyone can read it.
    catchUp: async () => {},
    ...noOthers,
    prune: (before) => pruneAll(writer, before),
    isWritable: () =>
      writer.call('probe').then(
        () => true,
        () => false,
      ),
    close: async () => {
      clearInterval(look);
      await appends.finish();
      await writer.close();
      waiters.wake(null);
      file.close();
    },
  };
  return {
    log,
    idempotencyRecords: createIdempotencyRecords(writer),
    oneTimeValues: createOneTimeValues(writer),
    checkIntegrity: async () => read(reading.integrity),
  };
}

/** In the writer's thread, while this one reads the rest of the gateway: a start waits for the longer of the two. */
async function checkOrLeave(file: LogFile, writer: WriterThread): Promise<void> {
  try {
    const isWhole = await writer.call('isWhole').catch(() => false);
    // Here again, where what is wrong can be told from what is not.
    if (!isWhole) file.check();
  } catch (error) {
    void writer.close();
    file.close();
    throw error;
  }
}

/** Replaces the plain hashes of an earlier version. */
async function rehashAll(writer: WriterThread): Promise<void> {
  for (let after: string | null = ''; after !== null; ) after = await writer.call('rehash', after);
}

/** In steps, so that webhooks are written in between. */
async function pruneAll(writer: WriterThread, before: Date): Promise<number> {
  let dropped = 0;
  for (;;) {
    const step = await writer.call('prune', before);
    dropped += step.dropped;
    if (step.isDone) return dropped;
  }
}

function createIdempotencyRecords(writer: WriterThread): IdempotencyRecords {
  return {
    begin: (key, fingerprint) => writer.call('beginIdempotent', key, fingerprint, new Date()),
    reclaim: (key, since) => writer.call('reclaimIdempotent', key, since, new Date()),
    finish: (key, answer) => writer.call('finishIdempotent', key, answer),
    release: (key) => writer.call('releaseIdempotent', key),
  };
}

function createOneTimeValues(writer: WriterThread): OneTimeValues {
  return {
    put: (key, value, until) => writer.call('putOneTimeValue', key, value, { until, now: new Date() }),
    take: (key) => writer.call('takeOneTimeValue', key, new Date()),
  };
}

function read<T>(ask: () => T): T {
  try {
    return ask();
  } catch (cause) {
    if (isGatewayError(cause)) throw cause;
    throw new GatewayError('EVENT_LOG_UNAVAILABLE', 'The event log could not be read.', { cause });
  }
}

function readOr<T>(fallback: T, ask: () => T): T {
  try {
    return ask();
  } catch {
    return fallback;
  }
}
