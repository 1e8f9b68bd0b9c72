import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { GatewayError, isGatewayError } from '../errors.ts';
import { KeyedHash } from './keyed-hash.ts';
import type { DeadReason, StoredEvent } from './log.ts';

const plainMark = 0;
/** Mark of values that an earlier version sealed without binding them to a row. They are deleted with their events. */
const unboundMark = 1;
const boundMark = 2;
/** Prefix of sealed texts. No plain text begins with it. */
const sealedTextMark = '\u0001sealed ';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Seals and opens stored values: bodies are health data. AES-256-GCM with a fresh 96-bit nonce per value and its row as
 * additional data, so a sealed value opens only in its row. Layout: mark, nonce, tag, ciphertext. The first key seals,
 * every key opens (rotation). Without keys values are stored in clear, so that a development log can be read. The same
 * keys make the hashes beside sealed values.
 */
export class Seal extends KeyedHash {
  readonly #keys: readonly Buffer[];

  /** @param keys 32 bytes each */
  constructor(keys: readonly Buffer[]) {
    super(keys);
    this.#keys = keys;
  }

  close(plain: Buffer, row: string): Buffer {
    const [key] = this.#keys;
    if (key === undefined) return Buffer.concat([Buffer.of(plainMark), plain]);
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(row));
    const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([Buffer.of(boundMark), nonce, cipher.getAuthTag(), sealed]);
  }

  /** @throws GatewayError EVENT_LOG_UNAVAILABLE when no active key opens it in this row */
  open(stored: Buffer, row: string): Buffer {
    const plain = this.tryOpen(stored, row);
    if (plain !== null) return plain;
    throw new GatewayError('EVENT_LOG_UNAVAILABLE', 'No key in EVENT_LOG_KEY opens a stored event.');
  }

  /** Null when no active key opens it in this row. */
  tryOpen(stored: Buffer, row: string): Buffer | null {
    if (stored[0] === plainMark) return stored.subarray(1);
    for (const key of this.#keys) {
      const plain = openWith(stored, key, row);
      if (plain !== null) return plain;
    }
    return null;
  }

  /** The same for a short text beside a body. */
  closeText(plain: string | null, row: string): string | null {
    if (plain === null || this.#keys.length === 0) return plain;
    return `${sealedTextMark}${this.close(Buffer.from(plain), row).toString('base64')}`;
  }

  /** Null also when no active key opens it: the body beside it reports that. A text stored in clear stays readable. */
  openText(stored: string | null, row: string): string | null {
    if (!stored?.startsWith(sealedTextMark)) return stored;
    const sealed = Buffer.from(stored.slice(sealedTextMark.length), 'base64');
    return this.tryOpen(sealed, row)?.toString('utf8') ?? null;
  }
}

function openWith(stored: Buffer, key: Buffer, row: string): Buffer | null {
  const nonce = stored.subarray(1, 1 + nonceBytes);
  const tag = stored.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes);
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
    if (stored[0] !== unboundMark) decipher.setAAD(Buffer.from(row));
    decipher.setAuthTag(tag);
    return Buffer.concat([decipher.update(stored.subarray(1 + nonceBytes + tagBytes)), decipher.final()]);
  } catch {
    return null;
  }
}

/** The events up to the first that no key opens. */
export function openUntilSealed<Row>(
  rows: readonly Row[],
  open: (row: Row) => StoredEvent,
): readonly StoredEvent[] {
  const events: StoredEvent[] = [];
  try {
    for (const row of rows) events.push(open(row));
  } catch (error) {
    if (!isGatewayError(error, 'EVENT_LOG_UNAVAILABLE')) throw error;
  }
  return events;
}

/** The key of cursor MACs, derived from the log's own key so that both are rotated in one place. */
export function deriveCursorKey(key: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), 'labgraph cursor', 32));
}

// Names of rows, to which sealed values are bound. A value does not open after it was moved to another row, or after its
// row was changed, for instance to another user.

/** The clear columns of a row of the log; all of them are known before it is appended. */
export type EventRow = Omit<StoredEvent, 'position' | 'body' | 'clientUserId'> & {
  readonly deadReason: DeadReason | null;
};

export function rowOfEvent(event: EventRow, column: 'body' | 'client-user-id'): string {
  const { messageId, receivedAt, type, userId, teamId, subject, origin, deadReason } = event;
  const message = [messageId, receivedAt.getTime(), type, userId, teamId];
  const [subjectId, version] = [subject?.id ?? null, subject?.version ?? null];
  return rowName('event', column, ...message, subjectId, version, origin, deadReason);
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
  return rowName('fact', userId, kind, hashedKey, at.getTime(), receivedAt.getTime());
}

export function rowOfIdempotencyRecord(key: string): string {
  return rowName('reply', key);
}

export function rowOfOneTimeValue(key: string): string {
  return rowName('deposit', key);
}

/** Stores change unpaired surrogates, so they are replaced here before the row's name is used. */
function rowName(...parts: readonly (string | number | null)[]): string {
  return JSON.stringify(parts.map((part) => (typeof part === 'string' ? part.toWellFormed() : part)));
}

/** Reads a stored reason. */
export function readDeadReason(stored: string | null): DeadReason | null {
  if (stored === null) return null;
  return stored === 'other-team' ? 'other-team' : 'unreadable';
}
