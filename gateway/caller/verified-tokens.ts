import { hash } from 'node:crypto';
import type { UserCaller } from './caller.ts';
import type { ViewerTokens } from './viewer-tokens.ts';

/**
 * For how long a token is not verified again, in milliseconds. A key that the provider takes away works so much longer;
 * revocation and the token's end are looked at every time.
 */
const keptMs = 60_000;
/** Far more than read at the same time; of a token only its hash is kept. */
const maxTokens = 10_000;

interface Verified {
  readonly caller: UserCaller;
  readonly until: number;
}

/**
 * Verifies tokens, each once a minute: a signature costs as much as all the rest of a small query. Only good tokens are
 * kept, so nobody can fill this with made-up ones.
 */
export function keepVerified(
  verify: ViewerTokens['verify'],
  now: () => number = () => Date.now(),
): ViewerTokens['verify'] {
  const kept = new Map<string, Verified>();
  return async (token) => {
    const key = hash('sha256', token, 'base64url');
    const known = kept.get(key);
    kept.delete(key);
    const verified = known !== undefined && now() < known.until ? known : await verifyAnew(token);
    // Put in last: the first is the one that was asked for longest ago.
    kept.set(key, verified);
    if (kept.size > maxTokens) kept.delete(kept.keys().next().value ?? '');
    return verified.caller;
  };

  async function verifyAnew(token: string): Promise<Verified> {
    const caller = await verify(token);
    return { caller, until: Math.min(caller.expiresAt.getTime(), now() + keptMs) };
  }
}
