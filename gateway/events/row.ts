import type { DeadReason, StoredEvent } from './log.ts';

/**
 * Names of rows: what sealed values are bound to. A value that is moved to another row does not open there, nor does one
 * whose row was changed, to be another user's for instance.
 */

/** What a row of the log says beside its sealed values; all of it is known before it is appended. */
export type EventRow = Omit<StoredEvent, 'position' | 'body' | 'clientUserId'> & {
  readonly deadReason: DeadReason | null;
};

export function rowOfEvent(event: EventRow, column: 'body' | 'client-user-id'): string {
  const { messageId, receivedAt, type, userId, teamId, subject, origin, deadReason } = event;
  const what = [messageId, receivedAt.getTime(), type, userId, teamId];
  return write('event', column, ...what, subject?.id ?? null, subject?.version ?? null, origin, deadReason);
}

/** A reason as it is kept. */
export function readDeadReason(kept: string | null): DeadReason | null {
  if (kept === null) return null;
  return kept === 'other-team' ? 'other-team' : 'unreadable';
}

export interface FactRow {
  readonly userId: string;
  readonly kind: string;
  /** As it is kept. */
  readonly hashedKey: string;
  readonly at: Date;
  readonly receivedAt: Date;
}

export function rowOfFact({ userId, kind, hashedKey, at, receivedAt }: FactRow): string {
  return write('fact', userId, kind, hashedKey, at.getTime(), receivedAt.getTime());
}

export function rowOfReply(key: string): string {
  return write('reply', key);
}

export function rowOfDeposit(key: string): string {
  return write('deposit', key);
}

/** Half of a surrogate pair comes back from a store as another character: it is so from the beginning. */
function write(...parts: readonly (string | number | null)[]): string {
  return JSON.stringify(parts.map((part) => (typeof part === 'string' ? part.toWellFormed() : part)));
}
