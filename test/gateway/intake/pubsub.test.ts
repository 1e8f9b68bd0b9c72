import { gzipSync } from 'node:zlib';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type IdentityProvider, startIdentityProvider } from '../../support/identity-provider.ts';
import { gatewayKey, type Lab, startLab } from '../../support/lab.ts';
import { subscribeOverSse } from '../../support/subscribe.ts';
import { orderEvent, userId } from '../webhooks/support.ts';

const audience = 'https://gateway.example.com/intake/pubsub';
const email = 'push@example.iam.gserviceaccount.com';
const claims = { iss: 'https://accounts.google.com', aud: audience, email, email_verified: true };

let google: IdentityProvider;
let lab: Lab;
beforeAll(async () => {
  google = await startIdentityProvider();
  lab = await startLab({
    eventLog: 'sqlite',
    env: {
      INTAKE_PUBSUB_AUDIENCE: audience,
      INTAKE_PUBSUB_SERVICE_ACCOUNT: email,
      INTAKE_PUBSUB_JWKS_URL: google.keysUrl,
    },
  });
});
afterAll(async () => {
  await lab[Symbol.asyncDispose]();
  await google[Symbol.asyncDispose]();
});

async function tokenOf(more: object = {}, { kid = 'RS256', alg = 'RS256', lifetime = 3600 } = {}) {
  const now = Math.floor(Date.now() / 1000);
  return await new SignJWT({ ...claims, ...more })
    .setProtectedHeader({ alg, kid })
    .setIssuedAt(now)
    .setExpirationTime(now + lifetime)
    .sign(google.keyOf(kid).privateKey);
}

async function push(message: unknown, token?: string) {
  const authorization = `Bearer ${token ?? (await tokenOf())}`;
  const body = JSON.stringify({ message, subscription: 'projects/p/subscriptions/s' });
  const answer = await fetch(`${lab.url}/intake/pubsub`, {
    method: 'POST',
    headers: { authorization },
    body,
  });
  return answer.status;
}

const plain = { 'event-type': 'some.event', 'blob-type': 'json', 'idempotency-key': 'k' };
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');
const some = (number: number, more: object = {}) =>
  orderEvent({ event_type: 'some.event', data: { number }, team_id: lab.sandbox.teamId, ...more });

/** The counts since the last call. */
let before: Readonly<Record<string, number>> = {};
async function newCounts() {
  const text = await (await fetch(`${lab.url}/metrics`)).text();
  const lines = [...text.matchAll(/^labgraph_broker_messages_total\{outcome="(\w+)"\} (\d+)$/gm)];
  const now = Object.fromEntries(lines.map(([, outcome = '', count]) => [outcome, Number(count)]));
  const grown = Object.entries(now).map(
    ([outcome, count]) => [outcome, count - (before[outcome] ?? 0)] as const,
  );
  before = now;
  return Object.fromEntries(grown.filter(([, count]) => count > 0));
}

test('a pushed event reaches a subscriber, plain or compressed, once', async () => {
  const query = 'subscription { events { __typename ... on UnknownEvent { type } } }';
  const stream = await subscribeOverSse({ url: lab.url, token: gatewayKey, query });
  const body = some(1);
  expect(await push({ data: base64(body), attributes: plain })).toBe(204);
  const compressed = { ...plain, 'blob-codec': 'gzip' };
  expect(await push({ data: base64(gzipSync(body)), attributes: compressed })).toBe(204);
  expect(await stream.next()).toMatchObject({ data: { events: { __typename: 'UnknownEvent' } } });
  await stream.close();
  expect(await newCounts()).toEqual({ accepted: 1, duplicate: 1 });
});

test.each([
  ['no token', () => Promise.resolve('')],
  ['a token for another audience', () => tokenOf({ aud: 'https://other.example.com' })],
  ['a token of another issuer', () => tokenOf({ iss: 'https://issuer.example.com' })],
  ['a token of another account', () => tokenOf({ email: 'other@example.iam.gserviceaccount.com' })],
  ['an account that is not verified', () => tokenOf({ email_verified: false })],
  ['an expired token', () => tokenOf({}, { lifetime: -3600 })],
  ['another algorithm', () => tokenOf({}, { kid: 'ES256', alg: 'ES256' })],
  ['the key of a server', () => Promise.resolve(gatewayKey)],
])('%s is refused, and nothing is stored', async (_, makeToken) => {
  expect(await push({ data: base64(some(2)), attributes: plain }, await makeToken())).toBe(401);
  expect(await newCounts()).toEqual({});
});

test('what cannot be read is stored as a dead letter and acknowledged', async () => {
  const data = base64(some(3));
  const statuses = [
    await push({ data, attributes: { ...plain, 'blob-codec': 'br' } }),
    await push({ data, attributes: { ...plain, 'blob-type': 'avro' } }),
    await push({ data, attributes: { ...plain, 'blob-codec': 'gzip' } }),
    await push({ data: '***', attributes: plain }),
    await push('no message'),
    await push({ data: base64(some(3, { team_id: userId })), attributes: plain }),
  ];
  expect(statuses).toEqual(Array(6).fill(204));
  // The first three have the same bytes.
  expect(await newCounts()).toEqual({ dead: 4, duplicate: 2 });
});

test('a request that is too large is refused', async () => {
  expect(await push({ data: 'A'.repeat(1024 * 1024), attributes: plain })).toBe(413);
});

test('without a subscription there is no route', async () => {
  await using other = await startLab();
  const answer = await fetch(`${other.url}/intake/pubsub`, { method: 'POST', body: '{}' });
  expect(answer.status).toBe(404);
});
