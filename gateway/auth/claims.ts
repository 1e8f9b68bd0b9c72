import { errors, type JWTPayload } from 'jose';
import type { UserCaller } from './caller.ts';
import { defaultScopes, scopes as knownScopes } from './rights.ts';

/** No viewer token lives longer, whoever made it: a browser can lose it. */
export const maxTtlSeconds = 900;
/** How far ahead the clock of whoever made a token may be. */
export const clockSkewSeconds = 60;

const uuidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export interface ClaimRules {
  /** The claim that holds the service's id of the user. */
  readonly userClaim: string;
  readonly readScopes: (claim: unknown) => readonly string[];
}

/**
 * Who a token with a good signature stands for.
 * @throws JWTClaimValidationFailed for a time or a user that no token of ours could have
 */
export function readCaller(payload: JWTPayload, rules: ClaimRules): UserCaller {
  const { iat = 0, exp = 0, jti } = payload;
  if (iat > Date.now() / 1000 + clockSkewSeconds) throw invalid(payload, 'iat', 'lies ahead');
  if (exp - iat > maxTtlSeconds) throw invalid(payload, 'exp', 'is more than 15 minutes after iat');
  const user = Object.hasOwn(payload, rules.userClaim) ? payload[rules.userClaim] : undefined;
  if (typeof user !== 'string' || !uuidForm.test(user)) throw invalid(payload, rules.userClaim, 'is no uuid');
  return {
    kind: 'USER',
    userId: user.toLowerCase(),
    orderIds: readTexts(payload.order_ids)?.map((id) => id.toLowerCase()) ?? null,
    scopes: rules.readScopes(payload.scope),
    issuedAt: new Date(iat * 1000),
    expiresAt: new Date(exp * 1000),
    origins: readTexts(payload.origins),
    tokenId: typeof jti === 'string' ? jti : null,
  };
}

/** Our own tokens say what they may do, and may do nothing when they do not. */
export function readOwnScopes(claim: unknown): readonly string[] {
  return typeof claim === 'string' ? splitScopes(claim) : [];
}

/**
 * Those of ours that a provider's token names, in one text or a list. One that names others only (`openid`) is not
 * meant for us to read: it may do what a token may by default. One that cannot be read may do nothing.
 */
export function readProviderScopes(claim: unknown): readonly string[] {
  if (claim === undefined) return defaultScopes;
  if (typeof claim !== 'string' && !Array.isArray(claim)) return [];
  const named: readonly unknown[] = typeof claim === 'string' ? splitScopes(claim) : claim;
  const ours = knownScopes.filter((scope) => named.includes(scope));
  return ours.length > 0 ? ours : defaultScopes;
}

function splitScopes(text: string): readonly string[] {
  return text.split(' ').filter((scope) => scope !== '');
}

/** A claim that narrows the token. One that is present but unreadable narrows to nothing, never widens. */
function readTexts(claim: unknown): readonly string[] | null {
  if (claim === undefined || claim === null) return null;
  return Array.isArray(claim) ? claim.filter((item) => typeof item === 'string') : [];
}

function invalid(payload: JWTPayload, claim: string, fault: string): Error {
  return new errors.JWTClaimValidationFailed(`${claim} ${fault}`, payload, claim);
}
