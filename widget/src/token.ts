import { PortalError, toPortalError } from './errors.ts';

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

const TOKEN_LIMIT_MS = 15_000;
const MARGIN_MS = 30_000;

interface HeldToken {
  readonly token: string;
  /** When to ask for the next one: a little before this one ends. */
  readonly renewAt: number;
}

/** Keeps one token in memory: asked for once at a time, renewed before it ends, replaced when refused. */
export class TokenKeeper {
  readonly #provider: TokenProvider;
  #held: HeldToken | null = null;
  #flight: Promise<string> | null = null;
  #wasRejected = false;

  constructor(provider: TokenProvider) {
    this.#provider = provider;
  }

  /** @throws PortalError TOKEN_UNAVAILABLE when the provider fails, gives no text, or takes longer than 15 s */
  get(need: TokenNeed): Promise<string> {
    if (this.#held && Date.now() < this.#held.renewAt) return Promise.resolve(this.#held.token);
    this.#flight ??= this.#ask(need).finally(() => {
      this.#flight = null;
    });
    return this.#flight;
  }

  /** The gateway refused this token. A token that has been replaced meanwhile stays. */
  reject(token: string): void {
    if (this.#held?.token !== token) return;
    this.#wasRejected = Date.now() < this.#held.renewAt;
    this.#held = { token, renewAt: 0 };
  }

  async #ask(need: TokenNeed): Promise<string> {
    const reason = this.#readReason();
    const signal = AbortSignal.timeout(TOKEN_LIMIT_MS);
    try {
      const answer = await Promise.race([this.#provider({ ...need, reason, signal }), rejectWhen(signal)]);
      this.#held = readToken(answer);
    } catch (cause) {
      throw toPortalError(cause, 'TOKEN_UNAVAILABLE');
    }
    this.#wasRejected = false;
    return this.#held.token;
  }

  #readReason(): TokenRequest['reason'] {
    if (this.#wasRejected) return 'rejected';
    return this.#held ? 'expiring' : 'initial';
  }
}

function readToken(answer: TokenAnswer): HeldToken {
  const { token, expiresAt } =
    typeof answer === 'object' && answer ? answer : { token: answer, expiresAt: null };
  if (typeof token !== 'string' || !token) throw new PortalError('TOKEN_UNAVAILABLE');
  const endsAt = expiresAt ? new Date(expiresAt).getTime() : Number.NaN;
  if (Number.isNaN(endsAt)) return { token, renewAt: Number.POSITIVE_INFINITY };
  // A short-lived token gives up at most a tenth of its life, or it would be renewed on every use.
  return { token, renewAt: endsAt - Math.min(MARGIN_MS, (endsAt - Date.now()) / 10) };
}

function rejectWhen(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
