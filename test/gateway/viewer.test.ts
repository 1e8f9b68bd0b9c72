import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { startLab } from '../support/lab.ts';

const viewer = '{ viewer { kind userId teamId scopes expiresAt } }';
const everyScope = expect.arrayContaining([
  'read:orders',
  'read:profile',
  'write:profile',
  'simulate:orders',
]);

test('a server of the team may do everything, for ever; its team is known once the service named it', async () => {
  await using lab = await startLab();
  const before = await lab.query(viewer);
  expect(before.data.viewer).toEqual({
    kind: 'TEAM',
    userId: null,
    teamId: null,
    scopes: everyScope,
    expiresAt: null,
  });
  await lab.query('{ users(first: 1) { nodes { id } } }');
  expect((await lab.query(viewer)).data.viewer.teamId).toBe(lab.sandbox.teamId);
});

test.each([
  [undefined, ['read:orders', 'launch:portal']],
  [
    ['read:profile', 'write:profile'],
    ['read:profile', 'write:profile'],
  ],
  [[], []],
  [['read:orders', 'read:orders'], ['read:orders']],
])('a token made for the scopes %j says so, and until when', async (scopes, shown) => {
  await using lab = await startLab();
  const userId = lab.sandbox.users()[0]?.userId ?? '';
  const startedAt = Date.now();
  const token = await lab.tokenFor(userId, { ttlSeconds: 300, ...(scopes === undefined ? {} : { scopes }) });
  const answer = await lab.query(viewer, { token });
  expect(answer.data.viewer).toMatchObject({ kind: 'USER', userId, scopes: shown });
  const livesMs = Date.parse(answer.data.viewer.expiresAt) - startedAt;
  expect(livesMs).toBeGreaterThan(290_000);
  expect(livesMs).toBeLessThan(310_000);
});

test.each([
  ['a scope that is none', { scopes: ['write:everything'] }],
  ['a life of no time', { ttlSeconds: 0 }],
  ['a life of more than 15 minutes', { ttlSeconds: 901 }],
  ['an order id that is none', { orderIds: ['7'] }],
  [
    'more origins than it can carry',
    { origins: Array.from({ length: 200 }, (_, index) => `https://page-${index}.clinic.example.com`) },
  ],
])('a token with %s is not made', async (_name, more) => {
  await using lab = await startLab();
  const answer = await lab.query(
    'mutation ($input: CreateViewerTokenInput!) { createViewerToken(input: $input) { token } }',
    { variables: { input: { userId: lab.sandbox.users()[0]?.userId, ...more } } },
  );
  expect(answer.data).toEqual({ createViewerToken: null });
  expect(answer.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
});

describe('a GET without Origin, with a token limited to https://app.example,', () => {
  const sameOrigin = { 'sec-fetch-site': 'same-origin' };
  test.each<readonly [string, Readonly<Record<string, string>>, number]>([
    ['by a page of the gateway’s own origin is answered', { host: 'app.example', ...sameOrigin }, 200],
    ['in any spelling of it', { host: 'APP.example', ...sameOrigin }, 200],
    ['at another host is refused', { host: 'other.example', ...sameOrigin }, 401],
    ['at another port is refused', { host: 'app.example:8443', ...sameOrigin }, 401],
    ['by a page of another site is refused', { host: 'app.example', 'sec-fetch-site': 'cross-site' }, 401],
    ['by an address typed into a browser is refused', { host: 'app.example', 'sec-fetch-site': 'none' }, 401],
    ['by no browser is refused', { host: 'app.example' }, 401],
    [
      'is decided by Origin where there is one',
      { host: 'app.example', origin: 'https://other.example', ...sameOrigin },
      401,
    ],
  ])('%s', async (_who, headers, status) => {
    await using lab = await startLab();
    const userId = lab.sandbox.users()[0]?.userId ?? '';
    const token = await lab.tokenFor(userId, { origins: ['https://app.example'] });
    const query = new URLSearchParams({ query: viewer });
    const { statusCode, body } = await request(`${lab.url}/graphql?${query}`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
    await body.dump();
    expect(statusCode).toBe(status);
  });
});
