import { hash, timingSafeEqual } from 'node:crypto';
import { splitGatewayKey } from '../config/auth.ts';

/** How much of a key's hash names it in logs: enough to tell a few keys apart. */
const nameLength = 8;

/**
 * Finds a presented key among the configured gateway keys (plain text, or `sha256:<hex>` of it, with or without
 * `label=` before it).
 * All keys are compared, each in constant time, so neither content nor position can be measured.
 * @returns the name of the key for logs, its label (or `key`) and the first digits of its SHA-256, which tell the old from
 *   the new one in a rotation; null for one that is none of ours
 */
export function createGatewayKeys(entries: readonly string[]): (presented: string) => string | null {
  const keys = entries.map(readEntry);
  return (presented) => {
    const actual = digestOf(presented);
    let found: string | null = null;
    for (const { digest, name } of keys) if (timingSafeEqual(actual, digest)) found = name;
    return found;
  };
}

function readEntry(entry: string): { readonly digest: Buffer; readonly name: string } {
  const { label, key } = splitGatewayKey(entry);
  const digest = key.startsWith('sha256:') ? Buffer.from(key.slice('sha256:'.length), 'hex') : digestOf(key);
  return { digest, name: `${label ?? 'key'}-${digest.toString('hex').slice(0, nameLength)}` };
}

function digestOf(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}
