import type { DeadReason, StoredEvent } from './log.ts';

/**
 * Names of rows, to which sealed values are bound. A value does not open after it was moved to another row, or after its
 * row was changed, for instance to another user.
 */

/** The clear columns of a row of the log; all of them are known before it is appended. */
export type EventRow = Omit<StoredEvent, 'position' | 'body' | 'clientUserId'> & {
  readonly deadReason: DeadReason | null;
};

export function rowOfEvent(event: EventRow, column: 'body' | 'client-user-id'): string {
  const { messageId, receivedAt, type, userId, teamId, subject, origin, deadReason } = event;
  const what = [messageId, receivedAt.getTime(), type, userId, teamId];
  return write('event', column, ...what, subject?.id ?? null, subject?.version ?? null, origin, deadReason);
}

/** Reads a stored reason. */
export function readDeadReason(kept: string | null): DeadReason | null {
  if (kept === null) return null;
  return kept === 'other-team' ? 'other-team' : 'unreadable';
}

export interface FactRow {
  readonly userId: string;
  readonly kind: string;
  /** As stored. */
  readonly hashedKey: string;
  readonly at: Date;
  readonly receivedAt: Date;
}

export function rowOfFact({ userId, kind, hashedKey, at, receivedAt }: FactRow): string {
  return write('fact', userId, kind, hashedKey, at.getTime(), receivedAt.getTime());
}

export function rowOfIdempotencyRecord(key: string): string {
  return write('reply', key);
}

export function rowOfOneTimeValue(key: string): string {
  return write('deposit', key);
}

/** Stores change unpaired surrogates, so they are replaced here before the row's name is used. */
function write(...parts: readonly (string | number | null)[]): string {
  return JSON.stringify(parts.map((part) => (typeof part === 'string' ? part.toWellFormed() : part)));
}
