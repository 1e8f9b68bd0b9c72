import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { GatewayError } from '../errors.ts';

/** Closes and opens what is kept at rest: bodies are health data. */
export interface Seal {
  readonly close: (plain: Buffer) => Buffer;
  /** @throws GatewayError EVENT_LOG_UNAVAILABLE when no active key opens it */
  readonly open: (kept: Buffer) => Buffer;
  /** Null when no active key opens it. */
  readonly tryOpen: (kept: Buffer) => Buffer | null;
  /** The same for a short text that stands beside a body. */
  readonly closeText: (plain: string | null) => string | null;
  /** Null also when no active key opens it: the body beside it then says so. What was kept in clear stays readable. */
  readonly openText: (kept: string | null) => string | null;
}

const plainMark = 0;
const sealedMark = 1;
/** Before a sealed text: no text that anybody means begins so. */
const sealedTextMark = '\u0001sealed ';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * AES-256-GCM with a fresh 96-bit nonce per body. Layout: mark, nonce, tag, ciphertext. The first key closes,
 * every key opens (rotation). Without keys bodies are kept in clear, so that a development log can be read.
 * @param keys 32 bytes each
 */
export function createSeal(keys: readonly Buffer[]): Seal {
  const [closing] = keys;
  const tryOpen = (kept: Buffer): Buffer | null => {
    if (kept[0] === plainMark) return kept.subarray(1);
    for (const key of keys) {
      const plain = openWith(kept, key);
      if (plain !== null) return plain;
    }
    return null;
  };
  const close = (plain: Buffer): Buffer => {
    if (closing === undefined) return Buffer.concat([Buffer.of(plainMark), plain]);
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', closing, nonce);
    const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([Buffer.of(sealedMark), nonce, cipher.getAuthTag(), sealed]);
  };
  return {
    close,
    open: (kept) => {
      const plain = tryOpen(kept);
      if (plain !== null) return plain;
      throw new GatewayError('EVENT_LOG_UNAVAILABLE', 'No key in EVENT_LOG_KEY opens a stored event.');
    },
    tryOpen,
    closeText: (plain) => {
      if (plain === null || closing === undefined) return plain;
      return `${sealedTextMark}${close(Buffer.from(plain)).toString('base64')}`;
    },
    openText: (kept) => {
      if (!kept?.startsWith(sealedTextMark)) return kept;
      return tryOpen(Buffer.from(kept.slice(sealedTextMark.length), 'base64'))?.toString('utf8') ?? null;
    },
  };
}

function openWith(kept: Buffer, key: Buffer): Buffer | null {
  const nonce = kept.subarray(1, 1 + nonceBytes);
  const tag = kept.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes);
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
    decipher.setAuthTag(tag);
    return Buffer.concat([decipher.update(kept.subarray(1 + nonceBytes + tagBytes)), decipher.final()]);
  } catch {
    return null;
  }
}

/** The key of cursor MACs, derived from the log's own key so that both are rotated in one place. */
export function deriveCursorKey(key: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), 'labgraph cursor', 32));
}
