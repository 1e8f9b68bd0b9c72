import { type GatewayError, isGatewayError } from '../errors.ts';
import type { Write } from './calls.ts';

/** Whether the answer to a write is of the user and the order that were written about, as far as it says. */
export function isOf<T>({ owner, about }: Write<T>, thing: T): boolean {
  if (owner === 'anyone') return true;
  const subject = owner(thing);
  return isSameId(subject.userId, about.userId) && isSameId(subject.orderId, about.orderId);
}

function isSameId(shown: string | null | undefined, asked: string | null | undefined): boolean {
  return !shown || !asked || shown.toLowerCase() === asked.toLowerCase();
}

/**
 * Whether a write that failed may have been done: a refusal says that nothing was done, and so does a call that never
 * left; every other fault leaves it open.
 */
export function mayBeDone(error: GatewayError): boolean {
  if (error.notSent) return false;
  return isGatewayError(error, 'UPSTREAM_TIMEOUT', 'UPSTREAM_UNAVAILABLE', 'UPSTREAM_UNREADABLE');
}
