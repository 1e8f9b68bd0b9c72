import { generateKeyPairSync } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callCommand } from '../../support/commands.ts';
import { makeFolder } from '../../support/folder.ts';
import { fillDisk } from '../../support/full-disk.ts';
import { type IdentityProvider, startIdentityProvider } from '../../support/identity-provider.ts';
import { gatewayKey, type Lab, startLab } from '../../support/lab.ts';
import { subscribeOverSse } from '../../support/subscribe.ts';
import { orderEvent, userId } from '../webhooks/support.ts';

const audience = 'https://gateway.example.com/intake/pubsub';
const email = 'push@example.iam.gserviceaccount.com';
const claims = { iss: 'https://accounts.google.com', aud: audience, email, email_verified: true };

const mebibyte = 1024 * 1024;
const everything = 'subscription { events { __typename ... on UnknownEvent { type } } }';

const folder = makeFolder();
const eventLog = `sqlite:${folder.file('events.db')}`;
let google: IdentityProvider;
let lab: Lab;
beforeAll(async () => {
  google = await startIdentityProvider();
  lab = await startLab({
    env: {
      EVENT_LOG: eventLog,
      INTAKE_PUBSUB_AUDIENCE: audience,
      INTAKE_PUBSUB_SERVICE_ACCOUNT: email,
      INTAKE_PUBSUB_JWKS_URL: google.keysUrl,
    },
  });
  // What the sandbox signs with is published as well.
  const published = await (await fetch(`${lab.serviceUrl}/sandbox/oidc/jwks.json`)).json();
  const keys = [...google.publicSet().keys, ...published.keys];
  google.willAnswer((response) => response.end(JSON.stringify({ keys })));
});
afterAll(async () => {
  await lab[Symbol.asyncDispose]();
  await google[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const otherKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

async function tokenOf(
  more: object = {},
  { kid = 'RS256', alg = 'RS256', lifetime = 3600, key = google.keyOf(kid).privateKey } = {},
) {
  const now = Math.floor(Date.now() / 1000);
  return await new SignJWT({ ...claims, ...more })
    .setProtectedHeader({ alg, kid })
    .setIssuedAt(now)
    .setExpirationTime(now + lifetime)
    .sign(key);
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
  const stream = await subscribeOverSse({ url: lab.url, token: gatewayKey, query: everything });
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
  ['a token of another key, under a name that Google publishes', () => tokenOf({}, { key: otherKey })],
  ['a token under a name that Google does not publish', () => tokenOf({}, { kid: 'none', key: otherKey })],
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

test('an event of 1 MiB fits with its attributes, a larger one is a dead letter, and only what Google cannot send is refused', async () => {
  const frame = some(4, { data: '' });
  const largest = some(4, { data: 'x'.repeat(mebibyte - frame.length) });
  const more = Object.fromEntries(Array.from({ length: 97 }, (_, index) => [`a${index}`, '"'.repeat(512)]));
  expect(await push({ data: base64(largest), attributes: { ...plain, ...more } })).toBe(204);
  expect(await newCounts()).toEqual({ accepted: 1 });
  expect(await push({ data: base64(`${largest} `), attributes: plain })).toBe(204);
  expect(await push({ data: base64(Buffer.alloc(10_000_000, largest)), attributes: plain })).toBe(204);
  expect(await newCounts()).toEqual({ dead: 2 });
  expect(await push({ data: 'A'.repeat(16 * mebibyte), attributes: plain })).toBe(413);
  expect(await newCounts()).toEqual({});
});

test('the event that the sandbox pushes reaches a subscriber', async () => {
  const { sandbox } = lab;
  const subscription = new URLSearchParams({ audience, email });
  sandbox.webhooks.register(`pubsub+${lab.url}/intake/pubsub?${subscription}`);
  const stream = await subscribeOverSse({ url: lab.url, token: gatewayKey, query: everything });
  const [{ userId } = expect.unreachable()] = sandbox.users();
  sandbox.webhooks.send('pushed.event', { number: 5 }, { userId });
  expect(await stream.next()).toMatchObject({ data: { events: { type: 'pushed.event' } } });
  await sandbox.webhooks.settled();
  // The sandbox sends a webhook as well: which of the two came first does not matter.
  expect([{ accepted: 1 }, { duplicate: 1 }]).toContainEqual(await newCounts());
  await stream.close();
});

test('a replay delivers dead letters that can be read, each once and beside no copy; the others stay', async () => {
  const env = { EVENT_LOG: eventLog, SERVICE_TEAM_ID: lab.sandbox.teamId };
  const letters = async () =>
    (await callCommand(env, 'dead')).lines().map(({ position }) => String(position));
  const older = await letters();
  const stream = await subscribeOverSse({ url: lab.url, token: gatewayKey, query: everything });
  const event = (type: string) => some(6, { event_type: type });
  const compressed = (text: string) => ({ data: base64(gzipSync(text)), attributes: unknownCodec });
  const unknownCodec = { ...plain, 'blob-codec': 'zip' };
  await push({ data: base64(event('wrong.type')), attributes: { ...plain, 'blob-type': 'avro' } });
  await push(compressed(event('wrong.codec')));
  await push(compressed(event('came.right')));
  await push({ data: base64('no JSON'), attributes: plain });
  await push({ data: base64(event('came.right')), attributes: plain });
  expect(await newCounts()).toEqual({ dead: 4, accepted: 1 });

  const positions = (await letters()).slice(older.length);
  const outcomes = async () =>
    (await callCommand(env, 'replay', ...positions)).lines().map(({ outcome }) => outcome);
  expect(await outcomes()).toEqual(['replayed', 'replayed', 'replayed-before', 'still-dead']);
  expect(await outcomes()).toEqual([...Array(3).fill('replayed-before'), 'still-dead']);
  for (const type of ['came.right', 'wrong.type', 'wrong.codec'])
    expect(await stream.next()).toMatchObject({ data: { events: { type } } });
  await stream.close();
  await push({ data: base64(event('wrong.codec')), attributes: plain });
  expect(await newCounts()).toEqual({ duplicate: 1 });
});

test('without a subscription there is no route', async () => {
  await using other = await startLab();
  const answer = await fetch(`${other.url}/intake/pubsub`, { method: 'POST', body: '{}' });
  expect(answer.status).toBe(404);
});

test('what cannot be made durable gets 503 and one line in the log a minute, and is taken when it comes again', async () => {
  const message = { data: base64(some(9)), attributes: { ...plain, 'idempotency-key': 'full-disk' } };
  {
    using _ = fillDisk();
    for (let count = 0; count < 3; count += 1) expect(await push(message)).toBe(503);
  }
  expect(lab.logged.filter((line) => line.includes('pubsub.unavailable'))).toHaveLength(1);
  expect(await push(message)).toBe(204);
});
