import { LabgraphError } from './errors.ts';

/** Why a token is needed: there is none yet, or the gateway does not accept the last one any more. */
export type TokenReason = 'initial' | 'rejected';

/**
 * Returns a viewer token for the signed-in user, usually from your own server. It counts as failed when it returns none
 * within 15 s.
 */
export type TokenProvider = (reason: TokenReason) => Promise<string>;

/** As in the widget: a person waits for it. */
const limitMs = 15_000;

/** The token in use. It is requested when it is first needed, and once more each time the gateway rejects it. */
export interface Tokens {
  /** False for a fixed token: after a rejection there is no other one. */
  readonly canRenew: boolean;
  /** @throws LabgraphError TOKEN_UNAVAILABLE */
  readonly get: () => Promise<string>;
  /** The gateway rejected this token, or it ended. A token that was replaced in the meantime stays. */
  readonly reject: (token: string) => void;
}

export function createTokens(token: string | TokenProvider): Tokens {
  if (typeof token === 'string') return { canRenew: false, get: async () => token, reject: () => {} };
  let reason: TokenReason = 'initial';
  let held = '';
  let requested: Promise<string> | null = null;
  const request = async () => {
    try {
      const answer: unknown = await withinLimit(token(reason));
      if (typeof answer !== 'string' || !answer)
        throw new TypeError('`token` must return a non-empty string.');
      held = answer;
      return held;
    } catch (cause) {
      requested = null;
      throw new LabgraphError('TOKEN_UNAVAILABLE', { cause });
    }
  };
  return {
    canRenew: true,
    get: () => (requested ??= request()),
    reject: (rejected) => {
      if (rejected !== held) return;
      reason = 'rejected';
      held = '';
      requested = null;
    },
  };
}

function withinLimit(token: Promise<string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`No token within ${limitMs} ms.`)), limitMs);
    // JavaScript may return the token itself.
    Promise.resolve(token)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}
