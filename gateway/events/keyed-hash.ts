import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/**
 * Hashes that stand beside what is sealed, so that two things can be compared without opening either. Without the key
 * nobody can find out by guessing what a hash is of.
 */
export interface KeyedHash {
  /** @param digest SHA-256 of the thing */
  readonly hash: (digest: Buffer) => Buffer;
  /** Whether a kept hash is of this digest. Under a key that is gone nobody can tell: then it is said to be. */
  readonly isHashOf: (kept: Buffer, digest: Buffer) => boolean;
  /** The same for a short text, such as the fingerprint of an input. */
  readonly hashText: (text: string) => string;
  readonly isHashOfText: (kept: string, text: string) => boolean;
}

const keyIdBytes = 4;
const digestBytes = 32;
const keyedTextMark = 'keyed ';

interface HashKey {
  /** Tells which key made a hash. */
  readonly id: Buffer;
  readonly key: Buffer;
}

/**
 * HMAC-SHA256 of the SHA-256, after the id of its key. So hashes kept by a version that had no key can be made into
 * these without what they are of, which may have been dropped. The first key hashes, every key compares (rotation).
 * Without keys things are kept in clear, and so is their SHA-256.
 * @param keys 32 bytes each
 */
export function createKeyedHash(keys: readonly Buffer[]): KeyedHash {
  const hashKeys = keys.map(deriveHashKey);
  const [first] = hashKeys;
  const hash = (digest: Buffer) => (first === undefined ? digest : hashWith(first, digest));
  const isHashOf = (kept: Buffer, digest: Buffer) => {
    if (kept.length === digestBytes) return timingSafeEqual(kept, digest);
    const key = hashKeys.find(({ id }) => id.equals(kept.subarray(0, keyIdBytes)));
    if (key === undefined) return true;
    const expected = hashWith(key, digest);
    return kept.length === expected.length && timingSafeEqual(kept, expected);
  };
  return {
    hash,
    isHashOf,
    hashText: (text) =>
      first === undefined ? text : `${keyedTextMark}${hash(sha256(text)).toString('base64')}`,
    isHashOfText: (kept, text) =>
      kept.startsWith(keyedTextMark)
        ? isHashOf(Buffer.from(kept.slice(keyedTextMark.length), 'base64'), sha256(text))
        : kept === text,
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
