import { GatewayError } from '../errors.ts';
import type { Caller, UserCaller } from './caller.ts';
import { keepVerified } from './verified-credentials.ts';
import { refused, type ViewerTokens } from './viewer-tokens.ts';

export interface Credentials {
  /** The `Authorization` value, or `connectionParams.authorization` of a socket. */
  readonly authorization: string | null;
  /** The browser's `Origin`, null for callers that send none. */
  readonly origin: string | null;
}

export type Authenticate = (credentials: Credentials) => Promise<Caller>;

export interface AuthenticateOptions {
  /** The name of a gateway key, null for anything else. */
  readonly findGatewayKey: (key: string) => string | null;
  readonly viewerTokens: Pick<ViewerTokens, 'verify'>;
  readonly isRevoked: (caller: UserCaller) => boolean;
}

/**
 * Tells who is asking: `Bearer <gateway key>` is a server of the team, `Bearer <viewer token>` one user. A credential is the
 * same object from request to request, for as long as it is not verified anew.
 * The function it makes throws GatewayError UNAUTHENTICATED for anything else.
 */
export function createAuthenticate({
  findGatewayKey,
  viewerTokens,
  isRevoked,
}: AuthenticateOptions): Authenticate {
  const verify = keepVerified(async (credential) => {
    const keyName = findGatewayKey(credential);
    return keyName === null ? await viewerTokens.verify(credential) : { kind: 'TEAM', keyName };
  });
  return async ({ authorization, origin }) => {
    const credential = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (credential === undefined) {
      throw new GatewayError(
        'UNAUTHENTICATED',
        'Send "Authorization: Bearer <gateway key or viewer token>" (over WebSocket: connectionParams.authorization).',
      );
    }
    const caller = await verify(credential);
    if (caller.kind === 'TEAM') return caller;
    if (isRevoked(caller)) throw refused();
    if (caller.origins !== null && (origin === null || !caller.origins.includes(origin))) {
      throw new GatewayError('UNAUTHENTICATED', 'The viewer token is not valid from this origin.');
    }
    return caller;
  };
}
