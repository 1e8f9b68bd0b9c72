import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { GatewayError } from '../../errors.ts';

/** The path of a log in memory, in SQLite's notation. It has no file, no lock, and one connection for reads and writes. */
export const inMemory = ':memory:';

/** At 4 KiB each: 256 MiB. Then appends are refused, as on a full disk. */
const maxMemoryPages = 65_536;

/** The most that SQLite maps; it reads the rest of a larger file page by page. */
const maxMappedBytes = 0x7fff_0000;

/**
 * The largest file that a start checks whole (some 200,000 events). A check of 4 GB takes half a minute from a disk, and
 * nothing is answered or acknowledged meanwhile.
 */
const maxCheckedBytes = 512 * 1024 * 1024;

/** The lock timeout of a connection: a command may write beside the gateway. */
export const busyMs = 1000;

/**
 * The tables of the event log, made when a file is opened; a new version may only add to them. A position is the time of
 * its append in microseconds, or the last position plus one if that is higher. AUTOINCREMENT stores the last position, so
 * that none is used twice: not after everything was pruned, and not after an older copy of the file was restored.
 */
const tables = `
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS messages (
  message_id TEXT PRIMARY KEY, position INTEGER NOT NULL, body_hash BLOB NOT NULL, received_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS messages_by_time ON messages (received_at);
CREATE TABLE IF NOT EXISTS events (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  message_id TEXT NOT NULL, received_at INTEGER NOT NULL, type TEXT NOT NULL,
  user_id TEXT, client_user_id TEXT, team_id TEXT, subject TEXT, version INTEGER,
  origin TEXT NOT NULL, advances INTEGER NOT NULL, dead_reason TEXT, body BLOB NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS events_of_user ON events (user_id, position);
CREATE INDEX IF NOT EXISTS events_of_subject ON events (subject, position);
CREATE INDEX IF NOT EXISTS dead_letters ON events (position) WHERE dead_reason IS NOT NULL;
CREATE TABLE IF NOT EXISTS subjects (
  subject TEXT PRIMARY KEY, version INTEGER NOT NULL, position INTEGER NOT NULL, user_id TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (
  user_id TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL,
  position INTEGER NOT NULL, received_at INTEGER NOT NULL, value BLOB NOT NULL,
  PRIMARY KEY (user_id, kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS facts_by_time ON facts (user_id, kind, at);
CREATE INDEX IF NOT EXISTS facts_by_position ON facts (position);
CREATE TABLE IF NOT EXISTS replies (
  key TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, since INTEGER NOT NULL, answer BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS replies_by_time ON replies (since);
CREATE TABLE IF NOT EXISTS deposits (
  key TEXT PRIMARY KEY, until INTEGER NOT NULL, value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS deposits_by_time ON deposits (until);
`;

/** A file when it was opened: the one that the path led to then. */
export interface FileIdentity {
  readonly path: string;
  readonly device: bigint;
  readonly inode: bigint;
}

function identify(path: string): FileIdentity {
  const { dev: device, ino: inode } = statSync(path, { bigint: true });
  return { path, device, inode };
}

/** Whether the path still leads to that file. An open file that was removed takes writes, and is gone with the process. */
export function isSameFile({ path, device, inode }: FileIdentity): boolean {
  const now = statSync(path, { bigint: true, throwIfNoEntry: false });
  return now?.dev === device && now.ino === inode;
}

/** The path that a link leads to. SQLite puts the write-ahead log there, and there all links share one lock. */
function behindLinks(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

/** The open file of the log, and the lock that excludes a second gateway. */
export class LogFile {
  readonly database: DatabaseSync;
  /** The files of the log and of its lock. Nothing is acknowledged after one of them was replaced or removed. */
  readonly files: readonly FileIdentity[];
  readonly #path: string;
  readonly #lock: DatabaseSync | null;

  constructor(path: string, database: DatabaseSync, lock: DatabaseSync | null) {
    this.database = database;
    const place = behindLinks(path);
    const paths = [path, `${place}-wal`, `${place}-shm`, ...(lock === null ? [] : [`${place}.lock`])];
    // A log in memory has no files. Where the file system has no shared memory, there is no write-ahead log.
    this.files = paths.filter((each) => existsSync(each)).map(identify);
    this.#path = path;
    this.#lock = lock;
  }

  /** Whether a start checks the file, because it is not too large. */
  isCheckedAtStart(): boolean {
    return this.#path === inMemory || statSync(this.#path).size <= maxCheckedBytes;
  }

  /**
   * Checks the whole file.
   * @throws GatewayError EVENT_LOG_DAMAGED
   */
  check(): void {
    try {
      if (!isWhole(this.database)) throw damaged(this.#path);
    } catch (cause) {
      throw describeOpenFailure(cause, this.#path);
    }
  }

  close(): void {
    if (this.database.isOpen) this.database.close();
    if (this.#lock?.isOpen) this.#lock.close();
  }
}

/**
 * Opens the file of an event log, or makes it; `:memory:` is always a new log. A gateway holds its lock until the process
 * ends, even by a kill; `shared` takes no lock and makes no file, for commands that run beside a gateway.
 * @throws GatewayError EVENT_LOG_LOCKED, EVENT_LOG_DAMAGED or EVENT_LOG_UNAVAILABLE
 */
export function openLogFile(path: string, access: 'exclusive' | 'shared'): LogFile {
  let lock: DatabaseSync | null = null;
  let database: DatabaseSync | null = null;
  try {
    if (path === inMemory) {
      database = new DatabaseSync(path);
      database.exec(`PRAGMA max_page_count = ${maxMemoryPages}`);
      fill(database);
      return new LogFile(path, database, null);
    }
    if (existsSync(path) && !statSync(path).isFile()) throw noFile(path);
    if (access === 'exclusive') {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      lock = takeLock(`${behindLinks(path)}.lock`);
    }
    if (!existsSync(path)) {
      if (access === 'shared') throw missing(path);
      makeFile(path);
    }
    database = openDatabase(path);
    return new LogFile(path, database, lock);
  } catch (cause) {
    database?.close();
    lock?.close();
    throw describeOpenFailure(cause, path);
  }
}

/**
 * The lock has a file of its own, because the log has two connections, one for writes and one for reads. The kernel holds
 * SQLite's lock: it ends with the process, also by kill -9, so no stale lock can remain.
 */
function takeLock(path: string): DatabaseSync {
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    chmodSync(path, 0o600);
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return lock;
  } catch (cause) {
    lock.close();
    throw cause;
  }
}

/** Makes the file under another name first, so that a file with the log's name is always complete. */
function makeFile(path: string): void {
  const unfinished = `${path}.new`;
  rmSync(unfinished, { force: true });
  const database = new DatabaseSync(unfinished);
  try {
    chmodSync(unfinished, 0o600);
    database.exec('PRAGMA synchronous = FULL');
    fill(database);
  } finally {
    database.close();
  }
  renameSync(unfinished, path);
}

/** Makes an empty log. */
function fill(database: DatabaseSync): void {
  database.exec(tables);
  database.prepare("INSERT INTO meta (name, value) VALUES ('epoch', ?)").run(randomUUID());
}

function openDatabase(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: busyMs });
  try {
    // Before anything of it is changed: EVENT_LOG may name the file of something else.
    const ownTables = database.prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN ('meta', 'events', 'subjects')",
    );
    if (ownTables.all().length < 3) throw damaged(path);
    chmodSync(path, 0o600);
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    database.exec(tables);
    return database;
  } catch (cause) {
    database.close();
    throw cause;
  }
}

/**
 * Whether SQLite finds no fault. Reads the whole file, mapped into memory: each page is not copied, so it takes 0.1 s for
 * 240 MB (100,000 events) and not 0.25 s.
 */
export function isWhole(database: DatabaseSync): boolean {
  database.exec(`PRAGMA mmap_size = ${maxMappedBytes}`);
  try {
    const [row] = database.prepare('PRAGMA quick_check(1)').all();
    return row?.quick_check === 'ok';
  } finally {
    // For this check only: a mapped page that the disk cannot read ends the process, a read of it is an error.
    database.exec('PRAGMA mmap_size = 0');
  }
}

function missing(path: string): GatewayError {
  return new GatewayError('EVENT_LOG_UNAVAILABLE', `There is no event log at ${path}.`);
}

function damaged(path: string, cause?: unknown): GatewayError {
  return new GatewayError(
    'EVENT_LOG_DAMAGED',
    `The event log ${path} is damaged, or is a file of something else. Restore it, or set EVENT_LOG to another path; it is never replaced silently.`,
    { cause },
  );
}

/** The mode of a device is not changed: /dev/null belongs to everybody. */
function noFile(path: string): GatewayError {
  const message = `The event log ${path} is no file. Set EVENT_LOG to the path of a file that only the gateway uses.`;
  return new GatewayError('EVENT_LOG_UNAVAILABLE', message);
}

function describeOpenFailure(cause: unknown, path: string): GatewayError {
  if (cause instanceof GatewayError) return cause;
  const code = resultCodeOf(cause);
  if (code === 5) {
    return new GatewayError(
      'EVENT_LOG_LOCKED',
      `Another process holds the event log ${path}. Stop it, or give this one its own EVENT_LOG.`,
      { cause },
    );
  }
  if (code === 11 || code === 26) return damaged(path, cause);
  return new GatewayError(
    'EVENT_LOG_UNAVAILABLE',
    `The event log ${path} cannot be opened (${reasonOf(cause)}). Set EVENT_LOG to a path on a local disk that this process may write: many network drives cannot share memory.`,
    { cause },
  );
}

/** SQLite's primary result code: the low byte of the extended ones that its errors carry. */
function resultCodeOf(cause: unknown): number | undefined {
  const code = cause instanceof Error && 'errcode' in cause ? cause.errcode : undefined;
  return typeof code === 'number' ? code & 0xff : undefined;
}

/** SQLite's name for its result code, or the code of the file system's error. */
function reasonOf(cause: unknown): string {
  if (cause instanceof Error && 'errstr' in cause) return String(cause.errstr);
  if (cause instanceof Error && 'code' in cause) return String(cause.code);
  return 'unknown';
}
