import { createHash } from 'node:crypto';

/** The key of a fact as a log keeps it: equal for equal keys, and telling nothing else. */
export function hashFactKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
