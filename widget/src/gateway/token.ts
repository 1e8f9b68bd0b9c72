import { PortalError, toPortalError } from './errors.ts';
import { readFields } from './fields.ts';

/**
 * Why a token is requested, and for which use first: the token serves all orders of the elements that share the provider.
 * `orderId` is null for the portal's home.
 */
export interface TokenRequest {
  readonly reason: 'initial' | 'expiring' | 'rejected';
  readonly scope: 'status' | 'launch' | 'results';
  readonly orderId: string | null;
  readonly signal: AbortSignal;
}

/** A token with its expiry: an ISO 8601 text, milliseconds since 1970, or a Date. */
export interface ExpiringToken {
  readonly token: string;
  readonly expiresAt?: string | number | Date | null;
}

/** A provider's answer. */
export type TokenAnswer = string | ExpiringToken;

/** A host's function that gets a viewer token from its own server. */
export type TokenProvider = (request: TokenRequest) => TokenAnswer | Promise<TokenAnswer>;

/** The use that needs a token. */
export type TokenNeed = Pick<TokenRequest, 'scope' | 'orderId'>;

/** Caches one token in memory: one request at a time, renewed before it expires, replaced when refused. */
export interface TokenCache {
  /** @throws PortalError TOKEN_UNAVAILABLE when the provider fails, gives no text, or takes longer than 15 s */
  readonly get: (need: TokenNeed) => Promise<string>;
  /** The gateway refused this token. A token that has been replaced meanwhile stays. */
  readonly reject: (token: string) => void;
}

/** Timeout of everything that a person waits for: a token, a read, a launch. */
export const WAIT_LIMIT_MS = 15_000;
const MARGIN_MS = 30_000;

export function createTokenCache(provider: TokenProvider): TokenCache {
  let held = '';
  /** When to request the next one: a little before this one expires. */
  let renewAt = 0;
  let reason: TokenRequest['reason'] = 'initial';
  let inFlight: Promise<string> | null = null;

  async function ask(need: TokenNeed): Promise<string> {
    const signal = AbortSignal.timeout(WAIT_LIMIT_MS);
    try {
      const request = { scope: need.scope, orderId: need.orderId, reason, signal };
      [held, renewAt] = readToken(await withinTime(signal, provider(request)));
    } catch (cause) {
      throw toPortalError(cause, 'TOKEN_UNAVAILABLE');
    }
    reason = 'expiring';
    return held;
  }

  return {
    get: async (need) => {
      if (Date.now() < renewAt) return held;
      inFlight ??= ask(need).finally(() => {
        inFlight = null;
      });
      return inFlight;
    },
    reject: (token) => {
      if (token !== held) return;
      if (Date.now() < renewAt) reason = 'rejected';
      renewAt = 0;
    },
  };
}

/** Aborts with the signal, or after the limit. `AbortSignal.any` would do in browsers since 2024. */
export function withinLimit(signal: AbortSignal): AbortSignal {
  const either = new AbortController();
  for (const each of [signal, AbortSignal.timeout(WAIT_LIMIT_MS)]) {
    const end = () => either.abort(each.reason);
    if (each.aborted) end();
    each.addEventListener('abort', end);
  }
  return either.signal;
}

/** The answer, or the signal's reason when it is over first. */
export function withinTime<Value>(signal: AbortSignal, answer: Value | Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const end = () => reject(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
    Promise.resolve(answer)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', end));
  });
}

function readToken(answer: TokenAnswer): readonly [token: string, renewAt: number] {
  const { token = answer, expiresAt } = readFields(answer);
  if (typeof token !== 'string' || !token) throw new PortalError('TOKEN_UNAVAILABLE');
  const endsAt = +new Date(expiresAt as string);
  // Without an end, or expired on arrival because this device's clock is wrong, it is used until the gateway refuses it.
  if (!(endsAt > Date.now())) return [token, Number.POSITIVE_INFINITY];
  // Renewed at most a tenth of its life early; otherwise a short-lived token would be renewed on every use.
  return [token, endsAt - Math.min(MARGIN_MS, (endsAt - Date.now()) / 10)];
}
