import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Tells whether a presented key is one of the configured gateway keys (plain text, or `sha256:<hex>` of it).
 * All keys are compared, each in constant time, so neither content nor position can be measured.
 */
export function createGatewayKeys(keys: readonly string[]): (presented: string) => boolean {
  const digests = keys.map((key) =>
    key.startsWith('sha256:') ? Buffer.from(key.slice('sha256:'.length), 'hex') : digest(key),
  );
  return (presented) => {
    const actual = digest(presented);
    let known = false;
    for (const expected of digests) known = timingSafeEqual(actual, expected) || known;
    return known;
  };
}

function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
