import { hash, timingSafeEqual } from 'node:crypto';

/** How much of a key's hash names it in logs: enough to tell a few keys apart. */
const nameLength = 8;

/**
 * Finds a presented key among the configured gateway keys (plain text, or `sha256:<hex>` of it).
 * All keys are compared, each in constant time, so neither content nor position can be measured.
 * @returns the name of the key for logs, the first digits of its SHA-256; null for one that is none of ours
 */
export function createGatewayKeys(keys: readonly string[]): (presented: string) => string | null {
  const digests = keys.map((key) =>
    key.startsWith('sha256:') ? Buffer.from(key.slice('sha256:'.length), 'hex') : digest(key),
  );
  return (presented) => {
    const actual = digest(presented);
    let isKnown = false;
    for (const expected of digests) isKnown = timingSafeEqual(actual, expected) || isKnown;
    return isKnown ? `key-${actual.toString('hex').slice(0, nameLength)}` : null;
  };
}

function digest(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}
