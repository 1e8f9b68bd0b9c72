import { type Authenticate, createAuthenticate, createKeyFinder, nameOfKey } from '../auth/authenticate.ts';
import { ActiveCredentials, type Marks, openRevocations, type Revocation } from '../auth/revocations.ts';
import type { Caller } from '../auth/rights.ts';
import { createProviderKeys } from '../auth/token-keys.ts';
import { createViewerTokens, type ViewerProvider, type ViewerTokens } from '../auth/viewer-tokens.ts';
import type { Config } from '../config/config.ts';
import { createThrottle, type Log } from '../log.ts';

export interface CallersParts {
  readonly config: Config;
  readonly marks: Marks;
  readonly log: Log;
}

/** Authenticates callers, ends their credentials, makes and revokes viewer tokens. */
export interface Callers {
  readonly authenticate: Authenticate;
  readonly endOf: ActiveCredentials['endOf'];
  readonly isRevoked: ActiveCredentials['isRevoked'];
  readonly mint: ViewerTokens['mint'];
  /**
   * From now on only these gateway keys and viewer secrets are accepted. The sockets and streams of removed keys end, and
   * so do those of tokens that a removed secret signed.
   */
  readonly useSecrets: (secrets: CallerSecrets) => void;
  readonly revoke: (what: Omit<Revocation, 'at'>, by: Caller) => Promise<Date>;
  readonly close: () => void;
}

type CallerSecrets = Pick<Config, 'gatewayApiKeys' | 'viewerTokenSecrets'>;

/** @throws GatewayError EVENT_LOG_UNAVAILABLE when revocations cannot be read */
export async function openCallers({ config, marks, log }: CallersParts): Promise<Callers> {
  const credentials = new ActiveCredentials();
  const isRevoked: Callers['isRevoked'] = (caller) => credentials.isRevoked(caller);
  const revocations = await openRevocations(marks, credentials);
  const onRefused = createRefusalLog(log);
  const provider = createProvider(config, log);
  // Made anew with other secrets, because it caches the credentials that it has verified.
  const accept = ({ gatewayApiKeys, viewerTokenSecrets: secrets }: CallerSecrets) => {
    const viewerTokens = createViewerTokens({ secrets, provider, onRefused });
    credentials.useKeys(gatewayApiKeys.map(nameOfKey));
    credentials.useTokenKeys(viewerTokens.keyIds);
    const findGatewayKey = createKeyFinder(gatewayApiKeys);
    const authenticate = createAuthenticate({ findGatewayKey, viewerTokens, isRevoked });
    return { authenticate, mint: viewerTokens.mint };
  };
  let accepted = accept(config);
  return {
    authenticate: (presented) => accepted.authenticate(presented),
    useSecrets: (secrets) => {
      accepted = accept(secrets);
    },
    endOf: (caller) => credentials.endOf(caller),
    isRevoked,
    mint: (token) => accepted.mint(token),
    revoke: async (what, by) => {
      const at = await revocations.revoke(what);
      const caller = by.kind === 'USER' ? undefined : by.keyName;
      log.info('viewer_tokens.revoked', caller === undefined ? {} : { caller });
      return at;
    },
    close: revocations.close,
  };
}

/** Created once: a change of the gateway's own secrets must not discard the provider's keys. */
function createProvider({ viewerProvider }: Config, log: Log): ViewerProvider | null {
  if (viewerProvider === null) return null;
  const { jwksUrl, ...rules } = viewerProvider;
  const onState = (isThere: boolean, error?: unknown) => {
    if (isThere) log.info('identity_provider.back');
    else log.error('identity_provider.gone', { error, advice: 'Tokens with keys already known still work.' });
  };
  return { ...rules, findKey: createProviderKeys(jwksUrl, { onState }) };
}

/** Logs why tokens are refused, each reason at most once a minute: anybody can send thousands of bad tokens. */
function createRefusalLog(log: Log): (reason: string) => void {
  const reasons = new Map<string, ReturnType<typeof createThrottle>>();
  return (reason) => {
    const throttle = reasons.get(reason) ?? createThrottle();
    reasons.set(reason, throttle);
    throttle(() => log.warn('viewer_token.refused', { reason }));
  };
}
