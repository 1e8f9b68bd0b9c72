import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import { createKeyedHash, type KeyedHash } from './keyed-hash.ts';

/**
 * Seals and opens stored values: bodies are health data. A sealed value is bound to its row (`row.ts`) and opens nowhere
 * else. The hashes beside sealed values are made and compared here too, under the same keys.
 */
export interface Seal extends KeyedHash {
  readonly close: (plain: Buffer, row: string) => Buffer;
  /** @throws GatewayError EVENT_LOG_UNAVAILABLE when no active key opens it in this row */
  readonly open: (stored: Buffer, row: string) => Buffer;
  /** Null when no active key opens it in this row. */
  readonly tryOpen: (stored: Buffer, row: string) => Buffer | null;
  /** The same for a short text that stands beside a body. */
  readonly closeText: (plain: string | null, row: string) => string | null;
  /** Null also when no active key opens it: the body beside it then says so. What was stored in clear stays readable. */
  readonly openText: (stored: string | null, row: string) => string | null;
}

const plainMark = 0;
/** Mark of values that an earlier version sealed without binding them to a row. They are deleted with their events. */
const unboundMark = 1;
const boundMark = 2;
/** Before a sealed text: no text that anybody means begins so. */
const sealedTextMark = '\u0001sealed ';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * AES-256-GCM with a fresh 96-bit nonce per body and its row as additional data. Layout: mark, nonce, tag, ciphertext. The
 * first key seals, every key opens (rotation). Without keys bodies are stored in clear, so that a development log can be
 * read.
 * @param keys 32 bytes each
 */
export function createSeal(keys: readonly Buffer[]): Seal {
  const [closing] = keys;
  const tryOpen = (stored: Buffer, row: string): Buffer | null => {
    if (stored[0] === plainMark) return stored.subarray(1);
    for (const key of keys) {
      const plain = openWith(stored, key, row);
      if (plain !== null) return plain;
    }
    return null;
  };
  const close = (plain: Buffer, row: string): Buffer => {
    if (closing === undefined) return Buffer.concat([Buffer.of(plainMark), plain]);
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', closing, nonce).setAAD(Buffer.from(row));
    const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([Buffer.of(boundMark), nonce, cipher.getAuthTag(), sealed]);
  };
  return {
    ...createKeyedHash(keys),
    close,
    open: (stored, row) => {
      const plain = tryOpen(stored, row);
      if (plain !== null) return plain;
      throw new GatewayError('EVENT_LOG_UNAVAILABLE', 'No key in EVENT_LOG_KEY opens a stored event.');
    },
    tryOpen,
    closeText: (plain, row) => {
      if (plain === null || closing === undefined) return plain;
      return `${sealedTextMark}${close(Buffer.from(plain), row).toString('base64')}`;
    },
    openText: (stored, row) => {
      if (!stored?.startsWith(sealedTextMark)) return stored;
      return (
        tryOpen(Buffer.from(stored.slice(sealedTextMark.length), 'base64'), row)?.toString('utf8') ?? null
      );
    },
  };
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

/** The key of cursor MACs, derived from the log's own key so that both are rotated in one place. */
export function deriveCursorKey(key: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), 'labgraph cursor', 32));
}
