import { randomUUID } from 'node:crypto';
import { decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify, SignJWT } from 'jose';
import { ownIssuer, type ViewerProviderConfig } from '../config/auth.ts';
import { GatewayError } from '../errors.ts';
import { decodeBase64url } from '../parse/bytes.ts';
import { defaultScopes, scopes as knownScopes, type UserCaller } from './rights.ts';
import { createOwnKeys, type OwnKeys } from './token-keys.ts';

/** The longest lifetime of a viewer token, ours or the provider's: a browser can leak it. */
export const maxTtlSeconds = 900;
/** How far ahead the clock of the token's issuer may be. */
export const clockSkewSeconds = 60;
const ownAudience = 'labgraph:viewer';
/** The algorithms of our own keys. Each key has one of them (token-keys.ts). */
const ownAlgorithms = ['HS256', 'EdDSA'];
/** None of these uses a shared secret: a provider's public key must never be accepted as one. */
const providerAlgorithms = ['EdDSA', 'ES256', 'RS256', 'PS256'];
const uuidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** In characters; longer tokens are refused unread. A header may have 16 kB, a message over a socket more. */
const maxTokenLength = 8192;

export interface NewViewerToken {
  readonly userId: string;
  readonly orderIds: readonly string[] | null;
  readonly scopes: readonly string[];
  /** 1 to 900. */
  readonly ttlSeconds: number;
  readonly origins: readonly string[] | null;
}

export interface MintedToken {
  readonly token: string;
  /** The token's own id, by which it can be revoked. */
  readonly jti: string;
  readonly expiresAt: Date;
}

export interface ViewerTokens {
  /** The gateway's own keys, as `UserCaller.keyId` names them. */
  readonly keyIds: readonly string[];
  /** @throws GatewayError FORBIDDEN where the gateway has no key to sign with, BAD_USER_INPUT for a token that is too long */
  readonly mint: (token: NewViewerToken) => Promise<MintedToken>;
  /** @throws GatewayError UNAUTHENTICATED, always the same, for anything but a valid token */
  readonly verify: (token: string) => Promise<UserCaller>;
}

/** The team's identity provider, and how its keys are found (token-keys.ts). */
export interface ViewerProvider extends Omit<ViewerProviderConfig, 'jwksUrl'> {
  readonly findKey: JWTVerifyGetKey;
}

export interface ViewerTokensOptions {
  /** As VIEWER_TOKEN_SECRET lists them. */
  readonly secrets: readonly string[];
  /** Null: only our own tokens are taken. */
  readonly provider: ViewerProvider | null;
  /** Receives the reason of each refusal, for teams that connect a provider: an error code, no part of the token. */
  readonly onRefused?: (reason: string) => void;
}

interface ClaimRules {
  /** The claim that holds the service's id of the user. */
  readonly userClaim: string;
  readonly readScopes: (claim: unknown) => readonly string[];
}

/** An issuer of tokens, and the rules by which one of its tokens is valid. */
interface Source extends ClaimRules {
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: readonly string[];
  readonly findKey: JWTVerifyGetKey;
}

/**
 * Short-lived tokens that let one browser see one user's data: our own, and those of the team's identity provider. Only
 * a token's issuer selects the keys and algorithms; nothing else in the token does.
 */
export function createViewerTokens(options: ViewerTokensOptions): ViewerTokens {
  const keys = createOwnKeys(options.secrets);
  const sources = createSources(keys, options.provider);
  return {
    keyIds: keys.ids,
    mint: (token) => mint(keys, token),
    verify: async (token) => {
      try {
        return await verify(token, sources, keys);
      } catch (cause) {
        options.onRefused?.(nameReason(cause));
        throw refused(cause);
      }
    },
  };
}

function createSources(keys: OwnKeys, provider: ViewerProvider | null): readonly Source[] {
  const own: Source = {
    issuer: ownIssuer,
    audience: ownAudience,
    algorithms: ownAlgorithms,
    findKey: keys.find,
    userClaim: 'sub',
    readScopes: readOwnScopes,
  };
  if (provider === null) return [own];
  return [own, { ...provider, algorithms: providerAlgorithms, readScopes: readProviderScopes }];
}

async function verify(token: string, sources: readonly Source[], keys: OwnKeys): Promise<UserCaller> {
  if (token.length > maxTokenLength) throw new errors.JWTInvalid('too long');
  // The library also accepts padding and nonzero trailing bits, so one token would have many spellings.
  if (token.split('.').some((part) => decodeBase64url(part) === null))
    throw new errors.JWTInvalid('not canonical');
  const { iss } = decodeJwt(token);
  const source = sources.find(({ issuer }) => issuer === iss);
  if (source === undefined) throw new errors.JWTClaimValidationFailed('unknown issuer', {}, 'iss');
  const { issuer, audience, algorithms, findKey } = source;
  const { payload, protectedHeader } = await jwtVerify(token, findKey, {
    issuer,
    audience,
    algorithms: [...algorithms],
    requiredClaims: ['exp', 'iat'],
    // This tolerance is for `nbf`; `readCaller` allows none for `exp`.
    clockTolerance: clockSkewSeconds,
  });
  const caller = readCaller(payload, source);
  const keyId = protectedHeader.kid ?? keys.first?.kid;
  return issuer === ownIssuer && keyId !== undefined ? { ...caller, keyId } : caller;
}

/** The same error for every fault and for revoked tokens: it reveals nothing about a token. */
export function refused(cause?: unknown): GatewayError {
  return new GatewayError('UNAUTHENTICATED', 'The viewer token is not valid or has expired.', { cause });
}

async function mint({ first }: OwnKeys, wanted: NewViewerToken): Promise<MintedToken> {
  if (first === undefined) {
    const message = 'This gateway makes no viewer tokens: they come from your identity provider.';
    throw new GatewayError('FORBIDDEN', message);
  }
  const { userId, orderIds, scopes, ttlSeconds, origins } = wanted;
  // To the millisecond, so that a token made just after a revocation is not revoked.
  const issuedAt = Date.now() / 1000;
  const expiresAt = Math.floor(issuedAt) + Math.min(ttlSeconds, maxTtlSeconds);
  const jti = randomUUID();
  const token = await new SignJWT({
    scope: scopes.join(' '),
    ...(orderIds === null ? {} : { order_ids: orderIds }),
    ...(origins === null ? {} : { origins }),
  })
    .setProtectedHeader({ alg: first.algorithm, kid: first.kid, typ: 'JWT' })
    .setIssuer(ownIssuer)
    .setAudience(ownAudience)
    .setSubject(userId)
    .setJti(jti)
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .sign(first.signing);
  if (token.length > maxTokenLength)
    throw new GatewayError('BAD_USER_INPUT', 'Give fewer orderIds or origins: the token would be too long.');
  return { token, jti, expiresAt: new Date(expiresAt * 1000) };
}

/** The error code of the library and the claim at fault, such as `ERR_JWT_CLAIM_VALIDATION_FAILED aud`: a closed set. */
function nameReason(cause: unknown): string {
  if (cause instanceof errors.JWTClaimValidationFailed) return `${cause.code} ${cause.claim}`;
  return cause instanceof errors.JOSEError ? cause.code : 'ERR_KEYS_UNAVAILABLE';
}

/**
 * The caller that a token with a valid signature names.
 * @throws JWTClaimValidationFailed for times or a user that a valid token cannot have
 */
function readCaller(payload: JWTPayload, rules: ClaimRules): UserCaller {
  const { iat = 0, exp = 0, jti } = payload;
  const now = Date.now() / 1000;
  if (exp <= now) throw new errors.JWTExpired('exp has passed', payload, 'exp');
  if (iat > now + clockSkewSeconds) throw invalid(payload, 'iat', 'lies ahead');
  if (exp - iat > maxTtlSeconds) throw invalid(payload, 'exp', 'is more than 15 minutes after iat');
  const user = Object.hasOwn(payload, rules.userClaim) ? payload[rules.userClaim] : undefined;
  if (typeof user !== 'string' || !uuidForm.test(user)) throw invalid(payload, rules.userClaim, 'is no uuid');
  return {
    kind: 'USER',
    userId: user.toLowerCase(),
    orderIds: readTexts(payload.order_ids)?.map((id) => id.toLowerCase()) ?? null,
    // Okta and Entra ID write `scp`; our own tokens have `scope` only.
    scopes: rules.readScopes(payload.scope ?? payload.scp),
    issuedAt: new Date(iat * 1000),
    expiresAt: new Date(exp * 1000),
    origins: readTexts(payload.origins),
    tokenId: typeof jti === 'string' ? jti : null,
  };
}

/** Our own tokens name their scopes; a token without the claim has none. */
function readOwnScopes(claim: unknown): readonly string[] {
  return typeof claim === 'string' ? splitScopes(claim) : [];
}

/**
 * The gateway's scopes that a provider's token names, in one text or a list. A claim without any of them (such as
 * `openid` only) is not meant for the gateway, so the token has the default scopes. An unreadable claim gives no
 * scopes.
 */
function readProviderScopes(claim: unknown): readonly string[] {
  if (claim === undefined) return defaultScopes;
  if (typeof claim !== 'string' && !Array.isArray(claim)) return [];
  const named: readonly unknown[] = typeof claim === 'string' ? splitScopes(claim) : claim;
  const ours = knownScopes.filter((scope) => named.includes(scope));
  return ours.length > 0 ? ours : defaultScopes;
}

function splitScopes(text: string): readonly string[] {
  return text.split(' ').filter((scope) => scope !== '');
}

/**
 * The values of a claim that limits the token. An unreadable claim gives an empty list, which limits the token to
 * nothing.
 */
function readTexts(claim: unknown): readonly string[] | null {
  if (claim === undefined || claim === null) return null;
  return Array.isArray(claim) ? claim.filter((item) => typeof item === 'string') : [];
}

function invalid(payload: JWTPayload, claim: string, fault: string): Error {
  return new errors.JWTClaimValidationFailed(`${claim} ${fault}`, payload, claim);
}
