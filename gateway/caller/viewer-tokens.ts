import { randomUUID } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { GatewayError, isGatewayError } from '../errors.ts';
import type { UserCaller } from './caller.ts';

const issuer = 'labgraph';
const audience = 'labgraph:viewer';
const algorithm = 'HS256';
/** No viewer token lives longer, whoever asks: a browser can lose it. */
const maxTtlSeconds = 900;
/** How far ahead the clock of another minter may be. */
const clockSkewSeconds = 60;

export interface NewViewerToken {
  readonly userId: string;
  readonly orderIds: readonly string[] | null;
  readonly scopes: readonly string[];
  /** 1 to 900. */
  readonly ttlSeconds: number;
  readonly origins: readonly string[] | null;
}

export interface ViewerTokens {
  readonly mint: (token: NewViewerToken) => Promise<{ readonly token: string; readonly expiresAt: Date }>;
  /** @throws GatewayError UNAUTHENTICATED for anything but a valid token of this gateway */
  readonly verify: (token: string) => Promise<UserCaller>;
}

/** Short-lived tokens that let one browser see one user's data: signed with HS256, one fixed algorithm. */
export function createViewerTokens(secret: string): ViewerTokens {
  const key = new TextEncoder().encode(secret);
  return {
    mint: async ({ userId, orderIds, scopes, ttlSeconds, origins }) => {
      const issuedAt = Math.floor(Date.now() / 1000);
      const expiresAt = issuedAt + Math.min(ttlSeconds, maxTtlSeconds);
      const token = await new SignJWT({
        scope: scopes.join(' '),
        ...(orderIds === null ? {} : { order_ids: orderIds }),
        ...(origins === null ? {} : { origins }),
      })
        .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(userId)
        .setJti(randomUUID())
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(key);
      return { token, expiresAt: new Date(expiresAt * 1000) };
    },
    verify: async (token) => {
      const payload = await verifySignature(token, key);
      // From now as well: a token that begins far ahead would live until then.
      const beganAt = Math.min(payload.iat, Math.floor(Date.now() / 1000) + clockSkewSeconds);
      if (payload.exp - beganAt > maxTtlSeconds) throw refused();
      return {
        kind: 'USER',
        userId: payload.sub.toLowerCase(),
        orderIds: readTexts(payload.order_ids)?.map((id) => id.toLowerCase()) ?? null,
        scopes:
          typeof payload.scope === 'string' ? payload.scope.split(' ').filter((scope) => scope !== '') : [],
        expiresAt: new Date(payload.exp * 1000),
        origins: readTexts(payload.origins),
      };
    },
  };
}

async function verifySignature(
  token: string,
  key: Uint8Array,
): Promise<Readonly<Record<string, unknown>> & { sub: string; exp: number; iat: number }> {
  try {
    const { payload } = await jwtVerify(token, key, {
      issuer,
      audience,
      algorithms: [algorithm],
      requiredClaims: ['sub', 'exp', 'iat'],
    });
    const { sub, exp = 0, iat = 0 } = payload;
    // The library checks that `sub` is there, not what it is.
    if (typeof sub !== 'string' || sub === '') throw refused();
    return { ...payload, sub, exp, iat };
  } catch (cause) {
    throw isGatewayError(cause) ? cause : refused(cause);
  }
}

function refused(cause?: unknown): GatewayError {
  return new GatewayError('UNAUTHENTICATED', 'The viewer token is not valid or has expired.', { cause });
}

/** A claim that narrows the token. One that is present but unreadable narrows to nothing, never widens. */
function readTexts(claim: unknown): readonly string[] | null {
  if (claim === undefined || claim === null) return null;
  return Array.isArray(claim) ? claim.filter((item) => typeof item === 'string') : [];
}
