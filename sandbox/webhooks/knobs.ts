/** What may go wrong on the way; a test or the demo turns it on. */
export interface WebhookKnobs {
  /** Each message is sent twice under the same id. */
  duplicate: boolean;
  /** A message is held back and sent after the next one; with no next one, by `settled()`. */
  reorder: boolean;
  /** So many next messages are never sent, as if lost; or those that the predicate picks. */
  drop: number | ((message: { readonly eventType: string; readonly orderId: string | null }) => boolean);
  /** Messages are signed with a secret that nobody knows. */
  wrongSignature: boolean;
}

/** All knobs off. */
export function createKnobs(): WebhookKnobs {
  return { duplicate: false, reorder: false, drop: 0, wrongSignature: false };
}

/** Whether this message is to be lost; counts down. */
export function takeDrop(
  knobs: WebhookKnobs,
  message: { readonly eventType: string; readonly orderId: string | null },
): boolean {
  if (typeof knobs.drop === 'function') return knobs.drop(message);
  if (knobs.drop <= 0) return false;
  knobs.drop -= 1;
  return true;
}
