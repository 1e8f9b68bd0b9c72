import { createHmac, generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createViewerTokens } from '../../../gateway/auth/viewer-tokens.ts';

const secret = 'a viewer token secret of more than 32 characters';
const tokens = createViewerTokens({ secrets: [secret], provider: null });
const userId = '0f2c8f5e-0000-4000-8000-00000000000a';
const now = 1_800_000_000;
const wanted = { userId, orderIds: null, scopes: ['read:orders'], ttlSeconds: 60, origins: null };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: now * 1000 });
});
afterEach(() => {
  vi.useRealTimers();
});

const claims = {
  iss: 'labgraph',
  aud: 'labgraph:viewer',
  sub: userId,
  iat: now,
  exp: now + 60,
  scope: 'read:orders',
};

/** Of the 43 characters of a signature of 32 bytes the last has two bits that mean nothing. */
const nextCharacter = (character: string): string => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return alphabet[alphabet.indexOf(character) + 1] ?? '';
};

type Claims = Readonly<Record<string, unknown>>;

/** A token with exactly these claims, signed with the gateway's own secret. */
function signed(more: Claims = {}, header: Claims = {}, key: string | Buffer = secret): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = { alg: 'HS256', typ: 'JWT', ...header };
  const text = `${part(head)}.${part({ ...claims, ...more })}`;
  const hash = String(head.alg).replace('HS', 'sha');
  return `${text}.${createHmac(hash.startsWith('sha') ? hash : 'sha256', key)
    .update(text)
    .digest('base64url')}`;
}

describe('a minted token', () => {
  test('says for whom, for what and how long', async () => {
    const { token, jti, expiresAt } = await tokens.mint({
      ...wanted,
      orderIds: ['ORDER-1'],
      origins: ['https://a.example.com'],
      scopes: ['read:orders', 'launch:portal'],
    });
    expect(expiresAt).toEqual(new Date((now + 60) * 1000));
    expect(await tokens.verify(token)).toEqual({
      kind: 'USER',
      userId,
      orderIds: ['order-1'],
      scopes: ['read:orders', 'launch:portal'],
      issuedAt: new Date(now * 1000),
      expiresAt,
      origins: ['https://a.example.com'],
      tokenId: jti,
      keyId: tokens.keyIds[0],
    });
  });

  test('lives for 15 minutes at most', async () => {
    const { expiresAt, token } = await tokens.mint({ ...wanted, ttlSeconds: 86_400 });
    expect(expiresAt).toEqual(new Date((now + 900) * 1000));
    expect(await tokens.verify(token)).toMatchObject({ userId });
  });

  test('names the whole user when it names no orders, and nothing when it names an empty list', async () => {
    const orderIdsOf = async (orderIds: readonly string[] | null) =>
      (await tokens.verify((await tokens.mint({ ...wanted, orderIds })).token)).orderIds;
    expect(await orderIdsOf(null)).toBeNull();
    expect(await orderIdsOf([])).toEqual([]);
  });

  test('ends with its time', async () => {
    const { token } = await tokens.mint(wanted);
    vi.setSystemTime((now + 59) * 1000);
    expect(await tokens.verify(token)).toMatchObject({ userId });
    vi.setSystemTime((now + 60) * 1000);
    await expect(tokens.verify(token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  test('is worth nothing to a gateway with another secret', async () => {
    const { token } = await tokens.mint(wanted);
    const others = createViewerTokens({
      secrets: ['another secret, also of more than 32 characters'],
      provider: null,
    });
    await expect(others.verify(token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});

describe('several keys', () => {
  const ed25519 = () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    return `ed25519:${privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')}`;
  };
  const older = 'an older secret, also of more than 32 characters';
  const withKeys = (...secrets: string[]) => createViewerTokens({ secrets, provider: null });
  const headerOf = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());

  test('all verify, and the first signs', async () => {
    const [before, after] = [withKeys(older), withKeys(ed25519(), secret, older)];
    const old = await before.mint(wanted);
    expect(await after.verify(old.token)).toMatchObject({ userId });
    const fresh = await after.mint(wanted);
    expect(await after.verify(fresh.token)).toMatchObject({ userId });
    expect([old, fresh].map(({ token }) => headerOf(token).alg)).toEqual(['HS256', 'EdDSA']);
    await expect(before.verify(fresh.token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  test('that are taken away verify no more', async () => {
    const { token } = await withKeys(older).mint(wanted);
    await expect(withKeys(secret).verify(token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  test('have ids that are the same at every gateway and disclose nothing of them', async () => {
    const key = ed25519();
    const names = [withKeys(key), withKeys(key), withKeys(older)].map(
      async ({ mint }) => headerOf((await mint(wanted)).token).kid,
    );
    const [one, same, other] = await Promise.all(names);
    expect(one).toBe(same);
    expect(other).not.toBe(one);
    expect(one).toMatch(/^[\w-]{12}$/);
  });

  test('keep their algorithm: a public key is no secret', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const own = withKeys(
      `ed25519:${privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')}`,
      secret,
    );
    const { kid } = headerOf((await own.mint(wanted)).token);
    const publicForms = [
      String(publicKey.export({ type: 'spki', format: 'pem' })),
      publicKey.export({ type: 'spki', format: 'der' }),
      Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url'),
    ];
    for (const form of publicForms) {
      await expect(own.verify(signed({}, { kid }, form))).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    }
  });

  test('none at all verify nothing and mint nothing', async () => {
    await expect(withKeys().verify(signed())).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await expect(withKeys().mint(wanted)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });
});

test('the log says why a token was refused, and contains nothing of the token', async () => {
  const reasons: string[] = [];
  const { verify } = createViewerTokens({
    secrets: [secret],
    provider: null,
    onRefused: (reason) => void reasons.push(reason),
  });
  const bad = [
    signed({ aud: 'other' }),
    signed({ iss: 'other' }),
    signed({ sub: 'x' }),
    'a.b.c',
    signed({}, {}, 'k'),
  ];
  for (const token of bad) await expect(verify(token)).rejects.toThrow();
  expect(reasons).toEqual([
    'ERR_JWT_CLAIM_VALIDATION_FAILED aud',
    'ERR_JWT_CLAIM_VALIDATION_FAILED iss',
    'ERR_JWT_CLAIM_VALIDATION_FAILED sub',
    'ERR_JWT_INVALID',
    'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
  ]);
});

describe('a token is accepted', () => {
  test.each<readonly [string, Claims]>([
    ['with exactly the claims it needs', {}],
    ['for several audiences, ours among them', { aud: ['other', 'labgraph:viewer'] }],
    ['of a minter whose clock is a little ahead', { iat: now + 20, exp: now + 80 }],
    ['of a full life', { exp: now + 900 }],
  ])('%s', async (_name, more) => {
    expect(await tokens.verify(signed(more))).toMatchObject({ kind: 'USER', userId });
  });

  test.each<readonly [string, Claims, object]>([
    ['its user in lower case', { sub: userId.toUpperCase() }, { userId }],
    [
      'its narrowing claims narrowing to nothing when they cannot be read',
      { order_ids: 'x', origins: 5 },
      { orderIds: [], origins: [] },
    ],
    ['only the readable of its orders', { order_ids: ['A', 1, null] }, { orderIds: ['a'] }],
    ['no scope when it names none', { scope: undefined }, { scopes: [] }],
    ['no scope when they are no text', { scope: ['read:orders'] }, { scopes: [] }],
  ])('and read with %s', async (_name, more, expected) => {
    expect(await tokens.verify(signed(more))).toMatchObject(expected);
  });
});

describe('a token is UNAUTHENTICATED', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const bySomebody = (alg: string) => new SignJWT({ ...claims }).setProtectedHeader({ alg }).sign(privateKey);
  const [head = '', payload = '', signature = ''] = signed().split('.');
  const none = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
  const pem = String(publicKey.export({ type: 'spki', format: 'pem' }));

  test.each<readonly [string, string | (() => Promise<string>)]>([
    ['with algorithm none', `${none}.${payload}.`],
    ['with algorithm none and a signature', `${none}.${payload}.${signature}`],
    ['without signature', `${head}.${payload}.`],
    ['with algorithm HS384', signed({}, { alg: 'HS384' })],
    ['with algorithm HS512', signed({}, { alg: 'HS512' })],
    ['with algorithm RS256', () => bySomebody('RS256')],
    ['signed with a public key as secret', signed({}, {}, pem)],
    ['with a key of its own in the header', signed({}, { jwk: { kty: 'oct', k: 'AAAA' } }, 'x'.repeat(40))],
    ['with a critical header nobody knows', signed({}, { crit: ['b64'], b64: false })],
    [
      'with another payload than was signed',
      `${head}.${signed({ sub: 'other' }).split('.')[1]}.${signature}`,
    ],
    ['of another issuer', signed({ iss: 'other' })],
    ['without issuer', signed({ iss: undefined })],
    ['for another audience', signed({ aud: 'labgraph:other' })],
    ['without audience', signed({ aud: undefined })],
    ['without end', signed({ exp: undefined })],
    ['without beginning', signed({ iat: undefined })],
    ['without user', signed({ sub: undefined })],
    ['with an empty user', signed({ sub: '' })],
    ['whose user is no uuid', signed({ sub: 'user-1' })],
    ['whose user only begins with a uuid', signed({ sub: `${userId}/../x` })],
    ['that names a key nobody has', signed({}, { kid: 'another' })],
    ['whose key is named as a path', signed({}, { kid: '../../../../dev/null' })],
    ['whose key is named as a path, signed with what is there', signed({}, { kid: '/dev/null' }, '')],
    ['whose key is named by a word of the language', signed({}, { kid: '__proto__' })],
    ['whose key is named by an empty text', signed({}, { kid: '' })],
    ['whose key is named by a number', signed({}, { kid: 1 })],
    ['that says where its key is', signed({}, { jku: 'http://127.0.0.1/keys' }, 'x'.repeat(40))],
    ['that is larger than any of ours', signed({ more: 'x'.repeat(8192) })],
    ['that was made tomorrow', signed({ iat: now + 61, exp: now + 90 })],
    ['that has two parts', `${head}.${payload}`],
    ['whose beginning is a text', signed({ iat: String(now) })],
    ['whose user is a number', signed({ sub: 5 })],
    ['that has expired', signed({ iat: now - 61, exp: now - 1 })],
    ['that expires now', signed({ exp: now })],
    ['that lives too long', signed({ exp: now + 901 })],
    [
      'that lives too long because it begins in a year',
      signed({ iat: now + 31_536_000, exp: now + 31_536_060 }),
    ],
    ['that is not valid yet', signed({ nbf: now + 61 })],
    ['whose end is a text', signed({ exp: String(now + 60) })],
    ['with padding behind it', `${signed()}=`],
    ['with padding behind each part', signed().replaceAll('.', '=.')],
    ['with a character that means nothing', `${signed()}!`],
    ['with spare bits', signed().replace(/.$/, nextCharacter)],
    ['that is empty', ''],
    ['that is no token', 'a.b.c'],
  ])('%s', async (_name, token) => {
    await expect(tokens.verify(typeof token === 'string' ? token : await token())).rejects.toMatchObject({
      name: 'GatewayError',
      code: 'UNAUTHENTICATED',
      message: 'The viewer token is not valid or has expired.',
    });
  });
});
