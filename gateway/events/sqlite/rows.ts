import type { SQLOutputValue } from 'node:sqlite';

/**
 * Readers of rows. The tables are STRICT, so a column holds what its table says; anything else is a damaged file.
 * No schema library here: loading one would double the time in which the writing thread starts.
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
