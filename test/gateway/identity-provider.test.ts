import { createHmac, createSecretKey, generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type IdentityProvider,
  type KeySetAnswer,
  startIdentityProvider,
} from '../support/identity-provider.ts';
import { knock } from '../support/knock.ts';
import { type Lab, readTestConfig, startLab } from '../support/lab.ts';

const own = 'a viewer token secret of more than 32 characters';
let provider: IdentityProvider;
let lab: Lab;
let userId: string;

beforeAll(async () => {
  provider = await startIdentityProvider();
  provider.addKey('loose', 'RS256', false);
  lab = await startLab({ env: provider.env });
  userId = lab.sandbox.users()[0]?.userId ?? '';
});
afterAll(async () => {
  await lab[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const now = () => Math.floor(Date.now() / 1000);
const inWords = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Signed with a shared secret of the attacker's choice. */
async function hmac(key: string | Buffer, header: object = {}, claims: object = {}): Promise<string> {
  const [, payload = ''] = (await provider.tokenFor(userId, { ...claims })).split('.');
  const text = `${inWords({ alg: 'HS256', ...header })}.${payload}`;
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
}

describe('a token of the identity provider', () => {
  test.each(['ES256', 'EdDSA', 'RS256', 'PS256'])('signed with %s is its user', async (alg) => {
    const answer = await knock(lab, await provider.tokenFor(userId, {}, { alg, kid: alg }));
    expect(answer.closed).toBeNull();
    expect(JSON.parse(answer.body).data.viewer).toEqual({ userId, scopes: ['read:orders', 'launch:portal'] });
  });

  test.each<readonly [string, object, readonly string[]]>([
    ['none of ours', { scope: 'openid profile' }, ['read:orders', 'launch:portal']],
    [
      'some of ours among others',
      { scope: 'openid read:orders read:results' },
      ['read:orders', 'read:results'],
    ],
    ['a list', { scope: ['openid', 'read:results'] }, ['read:results']],
    ['scp, a list as Okta writes it', { scp: ['openid', 'read:results'] }, ['read:results']],
    ['scp, a text as Entra ID writes it', { scp: 'read:results User.Read' }, ['read:results']],
    ['scope beside scp', { scope: 'read:orders', scp: ['read:results'] }, ['read:orders']],
    ['an unreadable claim', { scope: 7 }, []],
  ])('that names as scopes %s may do what that says and no more', async (_name, claims, shown) => {
    const { body } = await knock(lab, await provider.tokenFor(userId, { ...claims }));
    expect(JSON.parse(body).data.viewer.scopes).toEqual(shown);
  });

  test('sees its user, and of another nothing', async () => {
    const token = await provider.tokenFor(userId, { scope: 'read:profile read:orders' });
    const other = lab.sandbox.users()[1]?.userId;
    const query = 'query ($id: ID!) { user(id: $id) { id } }';
    expect((await lab.query(query, { token, variables: { id: userId } })).data).toEqual({
      user: { id: userId },
    });
    expect((await lab.query(query, { token, variables: { id: other } })).data).toEqual({ user: null });
  });

  test('can be narrowed to orders like one of our own', async () => {
    const [first, second] = lab.sandbox.orders().filter((order) => order.userId === userId);
    const token = await provider.tokenFor(userId, { order_ids: [first?.orderId] });
    const query = 'query ($id: ID!) { order(id: $id) { id } }';
    const ask = async (id?: string) => (await lab.query(query, { token, variables: { id } })).data.order;
    expect([await ask(first?.orderId), await ask(second?.orderId)]).toEqual([{ id: first?.orderId }, null]);
  });

  test('may be issued by a clock that is up to a minute ahead', async () => {
    const ahead = now() + 55;
    const token = await provider.tokenFor(userId, { iat: ahead, nbf: ahead, exp: ahead + 300 });
    expect((await knock(lab, token)).closed).toBeNull();
  });

  test('works beside our own tokens, which remain valid', async () => {
    expect((await knock(lab, await lab.tokenFor(userId))).closed).toBeNull();
  });

  test('names its user in the claim that is configured, and in no other', async () => {
    await using other = await startLab({ env: { ...provider.env, VIEWER_USER_CLAIM: 'https://labs/user' } });
    const right = await provider.tokenFor('auth0|4711', { 'https://labs/user': userId.toUpperCase() });
    expect(JSON.parse((await knock(other, right)).body).data.viewer.userId).toBe(userId);
    expect((await knock(other, await provider.tokenFor(userId))).status).toBe(401);
  });

  test('with a key that was published a moment ago is taken', async () => {
    await using rotating = await startIdentityProvider();
    await using fresh = await startLab({ env: rotating.env });
    rotating.addKey('new');
    expect((await knock(fresh, await rotating.tokenFor(userId, {}, { kid: 'new' }))).closed).toBeNull();
  });
});

describe('refused, with the same bytes over HTTP and 4403 over WebSocket, is a token', () => {
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const strong = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const signed = async (key: typeof stranger, alg: string, header: object = {}) => {
    const [, payload = ''] = (await provider.tokenFor(userId)).split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    return await new SignJWT(claims).setProtectedHeader({ alg, kid: alg, ...header }).sign(key);
  };
  /** Published without a word on its algorithm: the list alone decides. */
  const loose = () => provider.keyOf('loose').privateKey;
  const unsigned = async (alg: unknown) => {
    const [, payload, signature] = (await provider.tokenFor(userId)).split('.');
    return [`${inWords({ alg })}.${payload}.`, `${inWords({ alg })}.${payload}.${signature}`];
  };
  const published = (kid: string) => {
    const { publicKey } = provider.keyOf(kid);
    const jwk = publicKey.export({ format: 'jwk' });
    return [
      publicKey.export({ type: 'spki', format: 'pem' }),
      publicKey.export({ type: 'spki', format: 'der' }),
      JSON.stringify(jwk),
      Buffer.from(jwk.n ?? jwk.x ?? '', 'base64url'),
    ];
  };
  const claimed = (claims: object, header: object = {}) =>
    provider.tokenFor(userId, { ...claims }, { ...header });

  const attacks: readonly (readonly [string, () => Promise<string | readonly string[]>])[] = [
    ['without algorithm', () => unsigned('none')],
    ['without algorithm in other letters', () => unsigned('nOnE')],
    ['whose algorithm is no text', () => unsigned(['ES256'])],
    ...['RS256', 'ES256', 'EdDSA'].map((kid): readonly [string, () => Promise<readonly string[]>] => [
      `signed with the public key of ${kid} as a shared secret`,
      async () =>
        await Promise.all(
          published(kid).flatMap((key) => [hmac(key), hmac(key, { kid }), hmac(key, { kid, typ: 'JWT' })]),
        ),
    ]),
    [
      'signed with that public key, as one of our own',
      () => hmac(published('RS256')[0] ?? '', {}, ownClaims()),
    ],
    ['signed with our own secret in the name of the provider', () => hmac(own)],
    ["signed with the provider's key in our own name", () => claimed(ownClaims())],
    ["signed with a stranger's key under a known kid", () => signed(stranger, 'ES256')],
    [
      "signed with a stranger's key that it brings along",
      () => signed(stranger, 'ES256', { jwk: stranger.export({ format: 'jwk' }) }),
    ],
    [
      'signed by a key of the provider with an algorithm that is not on the list',
      () => Promise.all(['RS384', 'RS512', 'PS512'].map((alg) => signed(loose(), alg, { kid: 'loose' }))),
    ],
    ['signed with a key of another algorithm', () => signed(strong, 'RS256', { kid: 'ES256' })],
    ['encrypted rather than signed', async () => `${(await claimed({})).replace(/\.[^.]*$/, '')}.a.b.c`],
    ['of another issuer', () => claimed({ iss: 'https://evil.example.com' })],
    [
      'of an issuer that only begins like it',
      () => claimed({ iss: `${provider.env.VIEWER_ISSUER}.evil.example` }),
    ],
    ['of no issuer', () => claimed({ iss: undefined })],
    ['of a list of issuers', () => claimed({ iss: [provider.env.VIEWER_ISSUER] })],
    ['for another audience', () => claimed({ aud: 'https://other.example.com' })],
    ['for no audience', () => claimed({ aud: undefined })],
    ['with a kid nobody has', () => claimed({}, { kid: 'unknown' })],
    ['with a path as kid', () => claimed({}, { kid: '../../../dev/null' })],
    ['with an address as kid', () => claimed({}, { kid: 'http://127.0.0.1:1/keys' })],
    ['with a statement as kid', () => claimed({}, { kid: "x' UNION SELECT 'secret" })],
    ['with a word of the language as kid', () => claimed({}, { kid: 'constructor' })],
    ['with nothing as kid', () => claimed({}, { kid: '' })],
    ['without end', () => claimed({ exp: undefined })],
    ['that ends too late', () => claimed({ exp: now() + 901 })],
    ['that ends in a day', () => claimed({ exp: now() + 86_400 })],
    ['that never ends', () => claimed({ exp: Number.MAX_SAFE_INTEGER })],
    ['that has ended', () => claimed({ iat: now() - 100, exp: now() - 1 })],
    ['without beginning', () => claimed({ iat: undefined })],
    ['made in an hour', () => claimed({ iat: now() + 3600, exp: now() + 3700 })],
    ['not valid yet', () => claimed({ nbf: now() + 70 })],
    ['whose user is no uuid', () => claimed({ sub: 'auth0|4711' })],
    ['whose user is a list', () => claimed({ sub: [userId] })],
    ['without user', () => claimed({ sub: undefined })],
    [
      'with something critical that nobody knows',
      async () => {
        const [, payload, signature] = (await claimed({})).split('.');
        return `${inWords({ alg: 'ES256', kid: 'ES256', crit: ['exp2'], exp2: 1 })}.${payload}.${signature}`;
      },
    ],
    [
      'altered after it was signed',
      async () => {
        const [head, , signature] = (await claimed({})).split('.');
        const other = (await claimed({ sub: lab.sandbox.users()[1]?.userId })).split('.')[1];
        return `${head}.${other}.${signature}`;
      },
    ],
    ['larger than any token', () => claimed({ more: 'x'.repeat(8000) })],
    ['that is none', async () => ['a.b.c', '..', 'e30.e30.e30', `${inWords({})}..`]],
  ];
  const ownClaims = () => ({ iss: 'labgraph', aud: 'labgraph:viewer', scope: 'read:orders' });

  test('while the same key is good with an algorithm that is on the list', async () => {
    expect((await knock(lab, await signed(loose(), 'RS256', { kid: 'loose' }))).closed).toBeNull();
  });

  test.each(attacks)('%s', async (_name, forge) => {
    const tokens = [await forge()].flat();
    for (const token of tokens) {
      expect(await knock(lab, token)).toEqual({
        status: 401,
        body: JSON.stringify({
          errors: [
            {
              message: 'The viewer token is not valid or has expired.',
              extensions: { code: 'UNAUTHENTICATED' },
            },
          ],
        }),
        closed: 4403,
      });
    }
  });

  test('and the log says why, without a word of the token', async () => {
    await knock(lab, await claimed({ aud: 'canary-audience' }));
    const lines = lab.logged.filter((line) => line.includes('viewer_token.refused'));
    expect(lines.map((line) => JSON.parse(line).reason)).toContain('ERR_JWT_CLAIM_VALIDATION_FAILED aud');
    expect(lab.logged.join('')).not.toContain('canary');
    expect(lab.logged.join('')).not.toContain(userId);
  });
});

describe('when the provider does not serve its keys as it should', () => {
  const text =
    (body: string, status = 200): KeySetAnswer =>
    (response) => {
      response.statusCode = status;
      response.end(body);
    };
  const symmetric = createSecretKey(own, 'utf8').export({ format: 'jwk' });
  const wrong: readonly (readonly [string, (from: IdentityProvider) => KeySetAnswer])[] = [
    ['garbage', () => text('<html>')],
    ['an empty answer', () => text('')],
    ['JSON that is no key set', () => text('{"keys":{}}')],
    ['a set without keys', () => text('{"keys":[]}')],
    ['a set of nothing', () => text('{"keys":[null,1,"x",{}]}')],
    ['500', () => text('{"keys":[]}', 500)],
    [
      'a redirect to where the keys are',
      (from) => (response) => {
        response.writeHead(302, { location: `${from.keysUrl}/moved` });
        response.end(JSON.stringify(from.publicSet()));
      },
    ],
    [
      'a set without end',
      (from) => (response) => {
        response.write(JSON.stringify(from.publicSet()).slice(0, -1));
        response.end(`,"more":"${'x'.repeat(300_000)}"}`);
      },
    ],
    ['nothing, and the connection closed', () => (response) => void response.destroy()],
    [
      'private keys',
      (from) => {
        const { privateKey } = from.keyOf('ES256');
        const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'ES256', alg: 'ES256' };
        return text(JSON.stringify({ keys: [jwk] }));
      },
    ],
    ['a shared secret', () => text(JSON.stringify({ keys: [{ ...symmetric, kid: 'ES256', alg: 'HS256' }] }))],
  ];

  test.each(wrong)('but %s, its tokens are refused and ours are not', async (_name, answerOf) => {
    await using failing = await startIdentityProvider();
    await using fresh = await startLab({ env: failing.env });
    failing.willAnswer(answerOf(failing));
    for (const token of [await failing.tokenFor(userId), await hmac(own, { kid: 'ES256' })]) {
      expect(await knock(fresh, token)).toMatchObject({ status: 401, closed: 4403 });
    }
    expect((await knock(fresh, await fresh.tokenFor(userId))).closed).toBeNull();
  });

  test('and takes its time, nobody waits for longer than three seconds', async () => {
    await using slow = await startIdentityProvider();
    await using fresh = await startLab({ env: slow.env });
    slow.willAnswer(() => undefined);
    const token = await slow.tokenFor(userId);
    // The test itself has five seconds; the provider never answers.
    expect(await knock(fresh, token)).toMatchObject({ status: 401, closed: 4403 });
    expect(slow.asked()).toBe(1);
  });

  test('a change of its own secrets does not make the gateway lose the keys of a provider that is unreachable', async () => {
    await using failing = await startIdentityProvider();
    await using fresh = await startLab({ env: failing.env });
    expect((await knock(fresh, await failing.tokenFor(userId))).closed).toBeNull();
    failing.willAnswer(text('no keys here', 503));
    fresh.gateway.useSecrets(readTestConfig({ SERVICE_URL: fresh.serviceUrl, ...failing.env }));
    expect((await knock(fresh, await failing.tokenFor(userId))).closed).toBeNull();
    expect(failing.asked()).toBe(1);
  });

  test('the log says once that it is gone', async () => {
    await using failing = await startIdentityProvider();
    await using fresh = await startLab({ env: failing.env });
    failing.willAnswer(text('no keys here', 503));
    for (let index = 0; index < 3; index += 1) await knock(fresh, await failing.tokenFor(userId));
    const events = fresh.logged.map((line) => JSON.parse(line).event);
    expect(events.filter((event) => event.startsWith('identity_provider'))).toEqual([
      'identity_provider.gone',
    ]);
    expect(failing.asked()).toBe(1);
  });
});
