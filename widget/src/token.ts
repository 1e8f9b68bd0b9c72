import { PortalError, toPortalError } from './errors.ts';
import { readFields } from './fields.ts';

/** Why a token is asked for, and for what. `orderId` is null for the portal's home. */
export interface TokenRequest {
  readonly reason: 'initial' | 'expiring' | 'rejected';
  readonly scope: 'status' | 'launch';
  readonly orderId: string | null;
  readonly signal: AbortSignal;
}

/** A token with its end: an ISO 8601 text, milliseconds since 1970, or a Date. */
export interface ExpiringToken {
  readonly token: string;
  readonly expiresAt?: string | number | Date | null;
}

/** What a provider may answer. */
export type TokenAnswer = string | ExpiringToken;

/** A host's function that gets a viewer token from its own server. */
export type TokenProvider = (request: TokenRequest) => TokenAnswer | Promise<TokenAnswer>;

/** What a token is needed for now. */
export type TokenNeed = Pick<TokenRequest, 'scope' | 'orderId'>;

/** Keeps one token in memory: asked for once at a time, renewed before it ends, replaced when refused. */
export interface TokenKeeper {
  /** @throws PortalError TOKEN_UNAVAILABLE when the provider fails, gives no text, or takes longer than 15 s */
  readonly get: (need: TokenNeed) => Promise<string>;
  /** The gateway refused this token. A token that has been replaced meanwhile stays. */
  readonly reject: (token: string) => void;
}

/** How long anything may take that a person waits for: a token, a read, a launch. */
export const WAIT_LIMIT_MS = 15_000;
const MARGIN_MS = 30_000;

export function createTokenKeeper(provider: TokenProvider): TokenKeeper {
  let held = '';
  /** When to ask for the next one: a little before this one ends. */
  let renewAt = 0;
  let reason: TokenRequest['reason'] = 'initial';
  let flight: Promise<string> | null = null;

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
      flight ??= ask(need).finally(() => {
        flight = null;
      });
      return flight;
    },
    reject: (token) => {
      if (token !== held) return;
      if (Date.now() < renewAt) reason = 'rejected';
      renewAt = 0;
    },
  };
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
  const endsAt = expiresAt ? +new Date(expiresAt as string) : Number.NaN;
  if (Number.isNaN(endsAt)) return [token, Number.POSITIVE_INFINITY];
  // A short-lived token gives up at most a tenth of its life, or it would be renewed on every use.
  return [token, endsAt - Math.min(MARGIN_MS, (endsAt - Date.now()) / 10)];
}
