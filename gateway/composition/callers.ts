import { type Authenticate, createAuthenticate } from '../auth/authenticate.ts';
import type { Caller } from '../auth/caller.ts';
import { createGatewayKeys } from '../auth/gateway-keys.ts';
import { type Marks, openRevocations } from '../auth/revocations.ts';
import { createTokenLives, type Revoked, type TokenLives } from '../auth/token-lives.ts';
import { createViewerTokens, type ViewerTokens } from '../auth/viewer-tokens.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../log.ts';
import { createThrottle } from '../webhooks/throttle.ts';

export interface CallersParts {
  readonly config: Config;
  readonly marks: Marks;
  readonly log: Log;
}

/** Everything about who may ask: told apart, let in, and shown out. */
export interface Callers {
  readonly authenticate: Authenticate;
  readonly endOf: TokenLives['endOf'];
  readonly isRevoked: TokenLives['isRevoked'];
  readonly mint: ViewerTokens['mint'];
  readonly revoke: (what: Omit<Revoked, 'at'>, by: Caller) => Promise<Date>;
  readonly close: () => void;
}

/** @throws GatewayError EVENT_LOG_UNAVAILABLE when what was revoked cannot be read */
export async function openCallers({ config, marks, log }: CallersParts): Promise<Callers> {
  const lives = createTokenLives();
  const revocations = await openRevocations(marks, lives);
  const viewerTokens = createViewerTokens({
    secrets: config.viewerTokenSecrets,
    provider: config.viewerProvider,
    onRefused: createRefusalLog(log),
    onProvider: (isThere, error) => {
      if (isThere) log.info('identity_provider.back');
      else
        log.error('identity_provider.gone', { error, advice: 'Tokens with keys already known still work.' });
    },
  });
  return {
    authenticate: createAuthenticate({
      findGatewayKey: createGatewayKeys(config.gatewayApiKeys),
      viewerTokens,
      isRevoked: lives.isRevoked,
    }),
    endOf: lives.endOf,
    isRevoked: lives.isRevoked,
    mint: viewerTokens.mint,
    revoke: async (what, by) => {
      const at = await revocations.revoke(what);
      const caller = by.kind === 'TEAM' ? by.keyName : undefined;
      log.info('viewer_tokens.revoked', caller === undefined ? {} : { caller });
      return at;
    },
    close: revocations.close,
  };
}

/** Says why tokens are refused, each reason at most once a minute: anybody may send bad ones by the thousand. */
function createRefusalLog(log: Log): (reason: string) => void {
  const reasons = new Map<string, ReturnType<typeof createThrottle>>();
  return (reason) => {
    const throttle = reasons.get(reason) ?? createThrottle();
    reasons.set(reason, throttle);
    throttle(() => log.warn('viewer_token.refused', { reason }));
  };
}
