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
