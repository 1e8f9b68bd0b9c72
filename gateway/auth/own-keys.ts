import { createHash, createPrivateKey, createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import { errors, type JWTVerifyGetKey } from 'jose';
import { ed25519Prefix } from '../config/auth.ts';

/** A key that the gateway signs and verifies its own tokens with. */
interface OwnKey {
  /** Says which of several keys signed a token, and nothing of the key. */
  readonly kid: string;
  readonly algorithm: 'HS256' | 'EdDSA';
  readonly signing: KeyObject;
  readonly verifying: KeyObject;
}

export interface OwnKeys {
  /** The key that signs; none where the gateway mints no tokens. */
  readonly first: OwnKey | undefined;
  /** Finds the key that a token says it was signed with. */
  readonly find: JWTVerifyGetKey;
}

/**
 * The gateway's own keys, as VIEWER_TOKEN_SECRET lists them: the first signs, all verify. A `kid` is only ever
 * compared with those of the list; a token that names none is tried with the first key.
 */
export function createOwnKeys(secrets: readonly string[]): OwnKeys {
  const keys = secrets.map(toKey);
  const [first] = keys;
  return {
    first,
    find: ({ kid, alg }) => {
      const key = kid === undefined ? first : keys.find((known) => known.kid === kid);
      // Never a key under another algorithm than its own, whatever the token says.
      if (key === undefined || key.algorithm !== alg) throw new errors.JWKSNoMatchingKey();
      return key.verifying;
    },
  };
}

function toKey(secret: string): OwnKey {
  if (!secret.startsWith(ed25519Prefix)) {
    const key = createSecretKey(secret, 'utf8');
    return { kid: nameKey(key.export()), algorithm: 'HS256', signing: key, verifying: key };
  }
  const der = Buffer.from(secret.slice(ed25519Prefix.length), 'base64');
  const signing = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const verifying = createPublicKey(signing);
  const kid = nameKey(verifying.export({ format: 'der', type: 'spki' }));
  return { kid, algorithm: 'EdDSA', signing, verifying };
}

function nameKey(key: Buffer): string {
  return createHash('sha256')
    .update('labgraph viewer token key\n')
    .update(key)
    .digest('base64url')
    .slice(0, 12);
}
