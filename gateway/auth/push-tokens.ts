import { type JWTPayload, jwtVerify } from 'jose';
import { createProviderKeys, type ProviderKeysOptions } from './token-keys.ts';
import { clockSkewSeconds } from './viewer-tokens.ts';

export interface PushTokensOptions {
  /** Where Google publishes the keys that it signs with. */
  readonly jwksUrl: string;
  readonly audience: string;
  /** The e-mail address of the service account that the push subscription authenticates as. */
  readonly serviceAccount: string;
  readonly onKeys: ProviderKeysOptions['onState'];
}

/** Both forms are in use (Google: OpenID Connect). */
const issuers = ['https://accounts.google.com', 'accounts.google.com'];
const maxTokenLength = 8192;

/** Verifies the OIDC tokens of pushed messages: true only for a valid token of the configured account. Never rejects. */
export function createPushTokens(options: PushTokensOptions): (authorization: string) => Promise<boolean> {
  const { jwksUrl, audience, serviceAccount, onKeys } = options;
  const findKey = createProviderKeys(jwksUrl, { onState: onKeys });
  const isOfAccount = ({ email, email_verified }: JWTPayload) =>
    email === serviceAccount && email_verified === true;
  return async (authorization) => {
    const [, token] = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(authorization) ?? [];
    if (token === undefined || token.length > maxTokenLength) return false;
    try {
      const { payload } = await jwtVerify(token, findKey, {
        issuer: issuers,
        audience,
        algorithms: ['RS256'],
        requiredClaims: ['exp', 'iat'],
        clockTolerance: clockSkewSeconds,
      });
      return isOfAccount(payload);
    } catch {
      return false;
    }
  };
}
