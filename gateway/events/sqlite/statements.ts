import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';

/** Prepares each SQL text once. There are few texts: at most one per combination of the parts of a scope. */
export class Statements {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  get(sql: string): StatementSync {
    const statement = this.#prepared.get(sql) ?? this.#database.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }
}

/**
 * Readers of rows. The tables are STRICT, so another type than the table's means a damaged file. No schema library here:
 * loading one would double the start time of the writer thread.
 */
export type Row = Readonly<Record<string, SQLOutputValue>>;

export function readNumber(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw unexpected(column);
  return value;
}

export function readText(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw unexpected(column);
  return value;
}

export function readOptionalText(row: Row, column: string): string | null {
  return row[column] === null ? null : readText(row, column);
}

export function readOptionalNumber(row: Row, column: string): number | null {
  return row[column] === null ? null : readNumber(row, column);
}

export function readBytes(row: Row, column: string): Buffer {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw unexpected(column);
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

function unexpected(column: string): Error {
  return new Error(`The column ${column} of the event log holds what its table does not allow.`);
}
