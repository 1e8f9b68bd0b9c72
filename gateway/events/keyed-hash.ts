import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

const keyIdBytes = 4;
const digestBytes = 32;
const keyedTextMark = 'keyed ';

interface HashKey {
  /** Identifies the key that made a hash. */
  readonly id: Buffer;
  readonly key: Buffer;
}

/**
 * Hashes that are stored beside sealed values, so that values can be compared without opening them. Without the key
 * nobody can guess the content of a hash.
 *
 * A hash is the id of its key, then the HMAC-SHA256 of the SHA-256. So plain hashes of an earlier version can be keyed
 * without the content, which may have been deleted. The first key makes hashes, every key compares them (rotation). Without
 * keys values are stored in clear with their plain SHA-256.
 */
export class KeyedHash {
  readonly #keys: readonly HashKey[];

  /** @param keys 32 bytes each */
  constructor(keys: readonly Buffer[]) {
    this.#keys = keys.map(deriveHashKey);
  }

  /** @param digest SHA-256 of the content */
  hash(digest: Buffer): Buffer {
    const [first] = this.#keys;
    return first === undefined ? digest : hashWith(first, digest);
  }

  /** Whether a stored hash is of this digest. True if its key was removed, because then it cannot be checked. */
  isHashOf(stored: Buffer, digest: Buffer): boolean {
    if (stored.length === digestBytes) return timingSafeEqual(stored, digest);
    const key = this.#keys.find(({ id }) => id.equals(stored.subarray(0, keyIdBytes)));
    if (key === undefined) return true;
    const expected = hashWith(key, digest);
    return stored.length === expected.length && timingSafeEqual(stored, expected);
  }

  /** The same for a short text, such as the fingerprint of an input. */
  hashText(text: string): string {
    if (this.#keys.length === 0) return text;
    return `${keyedTextMark}${this.hash(sha256(text)).toString('base64')}`;
  }

  isHashOfText(stored: string, text: string): boolean {
    if (!stored.startsWith(keyedTextMark)) return stored === text;
    return this.isHashOf(Buffer.from(stored.slice(keyedTextMark.length), 'base64'), sha256(text));
  }
}

export function sha256(bytes: Buffer | string): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** The key of a fact as a log stores it: equal for equal keys, and without their content. */
export function hashFactKey(key: string): string {
  return sha256(key).toString('hex');
}

function deriveHashKey(key: Buffer): HashKey {
  const derive = (purpose: string, length: number) =>
    Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), purpose, length));
  return { id: derive('labgraph hash key id', keyIdBytes), key: derive('labgraph hash', 32) };
}

function hashWith({ id, key }: HashKey, digest: Buffer): Buffer {
  return Buffer.concat([id, createHmac('sha256', key).update(digest).digest()]);
}
