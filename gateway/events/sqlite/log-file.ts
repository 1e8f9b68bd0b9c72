import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { GatewayError } from '../../errors.ts';
import { type FileIdentity, identify } from './same-file.ts';
import { tables } from './tables.ts';

/** How long one connection waits for another (a command beside the gateway) before it gives up. */
export const busyMs = 1000;

/** The log's file, open, and the lock that keeps a second gateway out. */
export interface LogFile {
  readonly database: DatabaseSync;
  /** The files that must stay where they are for as long as anything is acknowledged: the log's, and its lock's. */
  readonly files: readonly FileIdentity[];
  /**
   * Reads the whole file, about 0.2 s for 100,000 events.
   * @throws GatewayError EVENT_LOG_DAMAGED
   */
  readonly check: () => void;
  readonly close: () => void;
}

/**
 * Opens the file of an event log, or makes it. A gateway holds its lock until the process ends, however it
 * ends; `shared` leaves the lock alone and makes nothing, for commands that work beside a running gateway.
 * @throws GatewayError EVENT_LOG_LOCKED, EVENT_LOG_DAMAGED or EVENT_LOG_UNAVAILABLE
 */
export function openLogFile(path: string, access: 'exclusive' | 'shared'): LogFile {
  let lock: DatabaseSync | null = null;
  let database: DatabaseSync | null = null;
  try {
    if (access === 'exclusive') {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      lock = takeLock(`${path}.lock`);
    }
    if (!existsSync(path)) {
      if (access === 'shared') throw missing(path);
      makeFile(path);
    }
    database = openDatabase(path);
    const opened = database;
    const places = lock === null ? [path] : [path, `${path}.lock`];
    return {
      database: opened,
      files: places.map(identify),
      check: () => checkWhole(opened, path),
      close: () => {
        if (opened.isOpen) opened.close();
        if (lock?.isOpen) lock.close();
      },
    };
  } catch (cause) {
    database?.close();
    lock?.close();
    throw describeOpenFailure(cause, path);
  }
}

/**
 * A file of its own, because the log itself has two connections: one that writes and one that reads. SQLite's
 * lock is the kernel's: it ends with the process, also by kill -9, and no stale file can be left behind.
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

/** Made under another name first: a file that bears the log's name is a whole log, or it was damaged. */
function makeFile(path: string): void {
  const unfinished = `${path}.new`;
  rmSync(unfinished, { force: true });
  const database = new DatabaseSync(unfinished);
  try {
    chmodSync(unfinished, 0o600);
    database.exec(`PRAGMA synchronous = FULL; ${tables}`);
    database.prepare("INSERT INTO meta (name, value) VALUES ('epoch', ?)").run(randomUUID());
  } finally {
    database.close();
  }
  renameSync(unfinished, path);
}

function openDatabase(path: string): DatabaseSync {
  if (statSync(path).isFile() && statSync(path).size === 0) throw damaged(path);
  const database = new DatabaseSync(path, { timeout: busyMs });
  try {
    chmodSync(path, 0o600);
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    database.exec(tables);
    return database;
  } catch (cause) {
    database.close();
    throw cause;
  }
}

function checkWhole(database: DatabaseSync, path: string): void {
  try {
    if (!isWhole(database)) throw damaged(path);
  } catch (cause) {
    throw describeOpenFailure(cause, path);
  }
}

/** Whether SQLite finds nothing wrong. Reads the whole file. */
export function isWhole(database: DatabaseSync): boolean {
  const [row] = database.prepare('PRAGMA quick_check(1)').all();
  return row?.quick_check === 'ok';
}

function missing(path: string): GatewayError {
  return new GatewayError('EVENT_LOG_UNAVAILABLE', `There is no event log at ${path}.`);
}

function damaged(path: string, cause?: unknown): GatewayError {
  return new GatewayError(
    'EVENT_LOG_DAMAGED',
    `The event log ${path} is damaged. Restore it or move it away; it is never replaced silently.`,
    { cause },
  );
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
  return new GatewayError('EVENT_LOG_UNAVAILABLE', `The event log ${path} cannot be opened.`, { cause });
}

/** SQLite's primary result code: the low byte of the extended ones that its errors carry. */
function resultCodeOf(cause: unknown): number | undefined {
  const code = cause instanceof Error && 'errcode' in cause ? cause.errcode : undefined;
  return typeof code === 'number' ? code & 0xff : undefined;
}
