import { createHash } from 'node:crypto';

/**
 * The service has no idempotency for testkit orders, but echoes `passthrough` on the order. So the reference
 * of an attempt travels in front of the caller's own text, as `lg1:<reference>:<text>`, and an order whose
 * answer was lost is found again by listing.
 */
const mark = /^lg1:([0-9a-f]{32}):(.*)$/s;

/** The text to send for an attempt. */
export function writePassthrough(reference: string, text: string | null): string {
  return `lg1:${reference}:${text ?? ''}`;
}

/** The caller's own text again, and the reference of the attempt that made the order. */
export function readPassthrough(sent: string | null): {
  readonly passthrough: string | null;
  readonly reference: string | null;
} {
  const [, reference = null, text = ''] = mark.exec(sent ?? '') ?? [];
  return reference === null ? { passthrough: sent, reference } : { passthrough: text || null, reference };
}

/** A reference that names an attempt without revealing the caller's idempotency key. */
export function referenceOf(callerKey: string, idempotencyKey: string): string {
  return createHash('sha256').update(`${callerKey}\0${idempotencyKey}`).digest('hex').slice(0, 32);
}
