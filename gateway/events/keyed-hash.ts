import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/**
 * Hashes that are stored beside sealed values, so that values can be compared without opening them. Without the key
 * nobody can guess the content of a hash.
 */
export interface KeyedHash {
  /** @param digest SHA-256 of the content */
  readonly hash: (digest: Buffer) => Buffer;
  /** Whether a stored hash is of this digest. True if its key has been removed, because nobody can tell then. */
  readonly isHashOf: (stored: Buffer, digest: Buffer) => boolean;
  /** The same for a short text, such as the fingerprint of an input. */
  readonly hashText: (text: string) => string;
  readonly isHashOfText: (stored: string, text: string) => boolean;
}

const keyIdBytes = 4;
const digestBytes = 32;
const keyedTextMark = 'keyed ';

interface HashKey {
  /** Identifies the key that made a hash. */
  readonly id: Buffer;
  readonly key: Buffer;
}

/**
 * The id of the key, then the HMAC-SHA256 of the SHA-256. So plain hashes of an earlier version can be keyed without the
 * content, which may have been deleted. The first key makes hashes, every key compares them (rotation). Without keys
 * values are stored in clear with their plain SHA-256.
 * @param keys 32 bytes each
 */
export function createKeyedHash(keys: readonly Buffer[]): KeyedHash {
  const hashKeys = keys.map(deriveHashKey);
  const [first] = hashKeys;
  const hash = (digest: Buffer) => (first === undefined ? digest : hashWith(first, digest));
  const isHashOf = (stored: Buffer, digest: Buffer) => {
    if (stored.length === digestBytes) return timingSafeEqual(stored, digest);
    const key = hashKeys.find(({ id }) => id.equals(stored.subarray(0, keyIdBytes)));
    if (key === undefined) return true;
    const expected = hashWith(key, digest);
    return stored.length === expected.length && timingSafeEqual(stored, expected);
  };
  return {
    hash,
    isHashOf,
    hashText: (text) =>
      first === undefined ? text : `${keyedTextMark}${hash(sha256(text)).toString('base64')}`,
    isHashOfText: (stored, text) =>
      stored.startsWith(keyedTextMark)
        ? isHashOf(Buffer.from(stored.slice(keyedTextMark.length), 'base64'), sha256(text))
        : stored === text,
  };
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
