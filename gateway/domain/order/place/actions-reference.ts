import { createHash } from 'node:crypto';

/** A reference that names an attempt without revealing the caller's idempotency key. */
export function referenceOf(callerKey: string, idempotencyKey: string): string {
  return createHash('sha256').update(`${callerKey}\0${idempotencyKey}`).digest('hex').slice(0, 32);
}

/**
 * Differs for every different input. Parts that are null or empty do not count: a call that is repeated after an upgrade has
 * the same fingerprint, although its input has new optional fields.
 */
export function fingerprintOf(input: object): string {
  const given: unknown = JSON.parse(JSON.stringify(input), (_name, part: unknown) =>
    isEmpty(part) ? undefined : part,
  );
  return createHash('sha256').update(JSON.stringify(given)).digest('hex');
}

function isEmpty(part: unknown): boolean {
  return part === null || (typeof part === 'object' && Object.keys(part).length === 0);
}
