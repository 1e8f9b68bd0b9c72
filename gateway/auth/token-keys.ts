import { createHash, createPrivateKey, createPublicKey, createSecretKey, type webcrypto } from 'node:crypto';
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import { ed25519Prefix } from '../config/auth.ts';

/** A key that the gateway signs and verifies its own tokens with. */
interface OwnKey {
  /** Names the key that signed a token; a hash, so it reveals nothing of the key. */
  readonly kid: string;
  readonly algorithm: 'HS256' | 'EdDSA';
  readonly signing: webcrypto.CryptoKey;
  readonly verifying: webcrypto.CryptoKey;
}

export interface OwnKeys {
  /** The key that signs; none where the gateway mints no tokens. */
  readonly first: OwnKey | undefined;
  /** Finds the key that a token says it was signed with. */
  readonly find: JWTVerifyGetKey;
  readonly ids: readonly string[];
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
    ids: keys.map(({ kid }) => kid),
    find: ({ kid, alg }) => {
      const key = kid === undefined ? first : keys.find((known) => known.kid === kid);
      // A key is used with its own algorithm only, whatever the token says.
      if (key === undefined || key.algorithm !== alg) throw new errors.JWKSNoMatchingKey();
      return key.verifying;
    },
  };
}

/** Makes CryptoKeys, because the library would import a key of another form again for each token. */
function toKey(secret: string): OwnKey {
  if (!secret.startsWith(ed25519Prefix)) {
    const secretKey = createSecretKey(secret, 'utf8');
    const key = secretKey.toCryptoKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
    return { kid: nameKey(secretKey.export()), algorithm: 'HS256', signing: key, verifying: key };
  }
  const der = Buffer.from(secret.slice(ed25519Prefix.length), 'base64');
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  return {
    kid: nameKey(publicKey.export({ format: 'der', type: 'spki' })),
    algorithm: 'EdDSA',
    signing: privateKey.toCryptoKey('Ed25519', false, ['sign']),
    verifying: publicKey.toCryptoKey('Ed25519', false, ['verify']),
  };
}

function nameKey(key: Buffer): string {
  return createHash('sha256')
    .update('labgraph viewer token key\n')
    .update(key)
    .digest('base64url')
    .slice(0, 12);
}

export interface ProviderKeysOptions {
  /** Called once when the provider's keys become unavailable, and once when they are available again. */
  readonly onState: (isThere: boolean, error?: unknown) => void;
  readonly timing?: ProviderTiming;
}

export interface ProviderTiming {
  /** How long the provider may take to answer. */
  readonly answerMs: number;
  /** For this long an unknown `kid` does not make the gateway read the keys again. */
  readonly cooldownMs: number;
  /** The pause after a failed read of the keys. */
  readonly retryMs: number;
  /** The age at which the next token causes a new read of the keys. A withdrawn key works for twice as long at most. */
  readonly refreshMs: number;
}

const usualTiming: ProviderTiming = {
  answerMs: 3000,
  cooldownMs: 30_000,
  retryMs: 5000,
  refreshMs: 600_000,
};
const maxKeySetBytes = 256 * 1024;

/**
 * The keys of the team's identity provider, read when a token first needs them. While the provider cannot be reached,
 * known keys stay valid, because otherwise every user would be signed out; unknown keys are refused.
 */
export function createProviderKeys(url: string, options: ProviderKeysOptions): JWTVerifyGetKey {
  const { onState, timing = usualTiming } = options;
  let [isThere, quietUntil, readAt] = [true, 0, 0];
  const note = (now: boolean, error?: unknown) => {
    if (now !== isThere) onState(now, error);
    isThere = now;
  };

  const readKeys = async (address: string, init: RequestInit): Promise<Response> => {
    if (Date.now() < quietUntil) throw new Error('The identity provider has just failed.');
    try {
      const answer = await fetchKeySet(address, init);
      readAt = Date.now();
      note(true);
      return answer;
    } catch (error) {
      quietUntil = Date.now() + timing.retryMs;
      note(false, error);
      throw error;
    }
  };
  const keys = createRemoteJWKSet(new URL(url), {
    [customFetch]: readKeys,
    timeoutDuration: timing.answerMs,
    cooldownDuration: timing.cooldownMs,
    cacheMaxAge: Number.POSITIVE_INFINITY,
  });
  return async (header, token) => {
    const now = Date.now();
    if (readAt > 0 && now - readAt > timing.refreshMs) {
      // `readKeys` has reported the failure.
      const reloaded = keys.reload().catch(() => undefined);
      // The read is in the background, and no request waits for it, except the first one after a long idle time.
      if (now - Math.max(readAt, quietUntil) > 2 * timing.refreshMs) await reloaded;
    }
    return await keys(header, token);
  };
}

/** Checks that the key set is complete and readable: the library would cache an unusable one and never ask again. */
async function fetchKeySet(address: string, init: RequestInit): Promise<Response> {
  const response = await fetch(address, init);
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error('The identity provider answers its keys with another status than 200.');
  }
  const text = await readText(response);
  const set: unknown = JSON.parse(text);
  const isSet = typeof set === 'object' && set !== null && 'keys' in set && Array.isArray(set.keys);
  if (!isSet) throw new Error('The identity provider answers with something that is no key set.');
  return new Response(text);
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxKeySetBytes) throw new Error('The key set of the identity provider is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
