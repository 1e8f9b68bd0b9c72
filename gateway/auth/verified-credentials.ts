import { LRUCache } from 'lru-cache';
import type { Caller } from './caller.ts';

/**
 * For how long a credential is not verified again, in milliseconds. A key that the provider takes away works so much
 * longer; revocation and a token's end are looked at every time.
 */
const ttlMs = 60_000;
/** Far more than ask at the same time. */
const maxCredentials = 10_000;
/** Of one, in characters: those of the gateway itself have some 400. Longer ones are verified each time. */
const maxLength = 2048;

interface Verified {
  readonly caller: Caller;
  readonly until: number;
}

/**
 * Verifies credentials, each once a minute: a hash costs as much as the rest of letting somebody in, a signature as much
 * as all the rest of a small query. Only good ones are cached, so nobody can fill this with made-up ones, and whoever
 * guesses is always compared in the slow way. They are cached as they are, like those of whole answers
 * (execution/whole-answers.ts), and a timer deletes each: none is in memory for longer than its minute.
 */
export function cacheVerified(
  verify: (credential: string) => Promise<Caller>,
): (credential: string) => Promise<Caller> {
  const cache = new LRUCache<string, Verified>({ max: maxCredentials });

  const verifyAnew = async (credential: string): Promise<Caller> => {
    const caller = await verify(credential);
    if (credential.length > maxLength) return caller;
    const endOfTtl = Date.now() + ttlMs;
    const until = caller.kind === 'TEAM' ? endOfTtl : Math.min(caller.expiresAt.getTime(), endOfTtl);
    const verified: Verified = { caller, until };
    cache.set(credential, verified);
    setTimeout(() => {
      if (cache.peek(credential) === verified) cache.delete(credential);
    }, ttlMs).unref();
    return caller;
  };
  return async (credential) => {
    const known = cache.get(credential);
    return known !== undefined && Date.now() < known.until ? known.caller : await verifyAnew(credential);
  };
}
