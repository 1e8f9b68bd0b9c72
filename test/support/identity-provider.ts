import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type JWTPayload, SignJWT } from 'jose';

export type KeySetAnswer = (response: ServerResponse) => void;
type Claims = Readonly<Record<string, unknown>>;

/** An identity provider as far as a gateway sees it: a real server that publishes keys, and tokens signed with them. */
export interface IdentityProvider extends AsyncDisposable {
  readonly keysUrl: string;
  /** What a gateway is configured with to take its tokens. */
  readonly env: Readonly<Record<string, string>>;
  /** How often its keys were asked for. */
  readonly asked: () => number;
  /** Answers so from now on; null: its key set as it is. */
  readonly willAnswer: (answer: KeySetAnswer | null) => void;
  /** A token for a user, signed with the provider's key of this algorithm, whose `kid` is its name. */
  readonly tokenFor: (userId: string, claims?: Claims, header?: Claims) => Promise<string>;
  /** Makes a key and publishes it beside the others, with or without a word on its algorithm. */
  readonly addKey: (kid: string, algorithm?: Algorithm, isSaid?: boolean) => void;
  readonly removeKey: (kid: string) => void;
  readonly keyOf: (kid: string) => { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  readonly publicSet: () => KeySet;
}

interface PublishedKey {
  readonly alg?: string;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

interface KeySet {
  readonly keys: readonly object[];
}

const makers = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  PS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
};
export type Algorithm = keyof typeof makers;

const audience = 'https://labs.example.com';

export async function startIdentityProvider(): Promise<IdentityProvider> {
  const keys = new Map<string, PublishedKey>(
    Object.entries(makers).map(([kid, make]) => [kid, { alg: kid, ...make() }]),
  );
  let answer: KeySetAnswer | null = null;
  let asked = 0;
  const publicSet = () => ({
    keys: [...keys].map(([kid, { alg, publicKey }]) => ({
      ...publicKey.export({ format: 'jwk' }),
      ...{ kid, use: 'sig' },
      ...(alg === undefined ? {} : { alg }),
    })),
  });
  const server = createServer((_request, response) => {
    asked += 1;
    if (answer === null) response.end(JSON.stringify(publicSet()));
    else answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on a TCP port has an address of this shape.
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const keyOf: IdentityProvider['keyOf'] = (kid) => {
    const key = keys.get(kid);
    if (key === undefined) throw new Error(`The provider has no key ${kid}.`);
    return key;
  };
  return {
    keysUrl: `${issuer}/keys`,
    env: { VIEWER_JWKS_URL: `${issuer}/keys`, VIEWER_ISSUER: issuer, VIEWER_AUDIENCE: audience },
    asked: () => asked,
    willAnswer: (next) => {
      answer = next;
    },
    tokenFor: async (userId, claims = {}, header = {}) => {
      const now = Math.floor(Date.now() / 1000);
      const all: JWTPayload = {
        iss: issuer,
        aud: audience,
        sub: userId,
        iat: now,
        exp: now + 300,
        ...claims,
      };
      const head = { alg: 'ES256', kid: 'ES256', ...header };
      const key = keys.get(String(head.kid)) ?? keyOf('ES256');
      return await new SignJWT(all).setProtectedHeader(head).sign(key.privateKey);
    },
    addKey: (kid, algorithm = 'ES256', isSaid = true) =>
      void keys.set(kid, { ...(isSaid ? { alg: algorithm } : {}), ...makers[algorithm]() }),
    removeKey: (kid) => void keys.delete(kid),
    keyOf,
    publicSet,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
