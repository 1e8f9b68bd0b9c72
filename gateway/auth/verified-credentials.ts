import { createExpiry } from '../cache/expiry.ts';
import type { Caller } from './caller.ts';

/**
 * For how long a credential is not verified again, in milliseconds. A key that the provider takes away works so much
 * longer; revocation and a token's end are looked at every time.
 */
const keptMs = 60_000;
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
 * as all the rest of a small query. Only good ones are kept, so nobody can fill this with made-up ones, and whoever
 * guesses is always compared in the slow way. They are kept as they are, like those of whole answers
 * (execution/whole-answers.ts), and a timer takes each away: none is held for longer than its minute.
 */
export function keepVerified(
  verify: (credential: string) => Promise<Caller>,
): (credential: string) => Promise<Caller> {
  const kept = new Map<string, Verified>();
  const expiry = createExpiry<string>(keptMs, (credential) => kept.delete(credential));

  const dropFirst = () => {
    const [first = ''] = kept.keys();
    kept.delete(first);
    expiry.remove(first);
  };
  const verifyAnew = async (credential: string): Promise<Caller> => {
    const caller = await verify(credential);
    if (credential.length > maxLength) return caller;
    const minuteIsOver = Date.now() + keptMs;
    const until = caller.kind === 'TEAM' ? minuteIsOver : Math.min(caller.expiresAt.getTime(), minuteIsOver);
    // The first is the one whose minute is over next.
    if (kept.size >= maxCredentials) dropFirst();
    kept.set(credential, { caller, until });
    expiry.add(credential);
    return caller;
  };
  return async (credential) => {
    const known = kept.get(credential);
    return known !== undefined && Date.now() < known.until ? known.caller : await verifyAnew(credential);
  };
}
