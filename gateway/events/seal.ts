import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { GatewayError } from '../errors.ts';

const plainMark = 0;
/** Mark of values that an earlier version sealed without binding them to a row. They are deleted with their events. */
const unboundMark = 1;
const boundMark = 2;
/** Prefix of sealed texts. No plain text begins with it. */
const sealedTextMark = '\u0001sealed ';
const nonceBytes = 12;
const tagBytes = 16;

const keyIdBytes = 4;
const digestBytes = 32;
/** Prefix of hashed texts that were made with a key. */
const keyedTextMark = 'keyed ';

interface HashKey {
  /** Identifies the key that made a hash. */
  readonly id: Buffer;
  readonly key: Buffer;
}

/**
 * Seals and opens stored values: bodies are health data. AES-256-GCM with a fresh 96-bit nonce per value and its row as
 * additional data, so a sealed value opens only in its row. Layout: mark, nonce, tag, ciphertext. The first key seals,
 * every key opens (rotation). Without keys values are stored in clear, so that a development log can be read.
 *
 * The same keys make the hashes beside sealed values, so that values can be compared without opening them, and nobody can
 * guess the content of a hash. A hash is the id of its key, then the HMAC-SHA256 of the SHA-256. So plain hashes of an
 * earlier version can be keyed without the content, which may have been deleted.
 */
export class Seal {
  readonly #keys: readonly Buffer[];
  readonly #hashKeys: readonly HashKey[];

  /** @param keys 32 bytes each */
  constructor(keys: readonly Buffer[]) {
    this.#keys = keys;
    this.#hashKeys = keys.map(deriveHashKey);
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

  /** Whether a stored text needs no new seal: it is sealed with the first key, or there are no keys. */
  isNewest(stored: string, row: string): boolean {
    const [key] = this.#keys;
    if (key === undefined || !stored.startsWith(sealedTextMark)) return key === undefined;
    return openWith(Buffer.from(stored.slice(sealedTextMark.length), 'base64'), key, row) !== null;
  }

  /** The same for a JSON value. */
  closeJson(value: unknown, row: string): Buffer {
    return this.close(Buffer.from(JSON.stringify(value)), row);
  }

  /** @throws GatewayError EVENT_LOG_UNAVAILABLE */
  openJson(stored: Buffer, row: string): unknown {
    return JSON.parse(this.open(stored, row).toString('utf8'));
  }

  /** @param digest SHA-256 of the content */
  hash(digest: Buffer): Buffer {
    const [first] = this.#hashKeys;
    return first === undefined ? digest : hashWith(first, digest);
  }

  /** Whether a stored hash is of this digest. True if its key was removed, because then it cannot be checked. */
  isHashOf(stored: Buffer, digest: Buffer): boolean {
    if (stored.length === digestBytes) return timingSafeEqual(stored, digest);
    const key = this.#hashKeys.find(({ id }) => id.equals(stored.subarray(0, keyIdBytes)));
    if (key === undefined) return true;
    const expected = hashWith(key, digest);
    return stored.length === expected.length && timingSafeEqual(stored, expected);
  }

  /** The same for a short text, such as the fingerprint of an input. */
  hashText(text: string): string {
    if (this.#keys.length === 0) return text;
    return `${keyedTextMark}${this.hash(sha256(text)).toString('base64')}`;
  }

  /** The same under each key, so that a text is found by its hash after a rotation; the first is `hashText`. */
  hashesOfText(text: string): readonly string[] {
    if (this.#keys.length === 0) return [text];
    return this.#hashKeys.map((key) => `${keyedTextMark}${hashWith(key, sha256(text)).toString('base64')}`);
  }

  isHashOfText(stored: string, text: string): boolean {
    if (!stored.startsWith(keyedTextMark)) return stored === text;
    return this.isHashOf(Buffer.from(stored.slice(keyedTextMark.length), 'base64'), sha256(text));
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

export function sha256(bytes: Buffer | string): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function deriveHashKey(key: Buffer): HashKey {
  const derive = (purpose: string, length: number) =>
    Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), purpose, length));
  return { id: derive('labgraph hash key id', keyIdBytes), key: derive('labgraph hash', 32) };
}

function hashWith({ id, key }: HashKey, digest: Buffer): Buffer {
  return Buffer.concat([id, createHmac('sha256', key).update(digest).digest()]);
}

/** The key of cursor MACs, derived from the log's own key so that both are rotated in one place. */
export function deriveCursorKey(key: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), 'labgraph cursor', 32));
}
