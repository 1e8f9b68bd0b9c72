import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createSignatureCheck, readSignatureHeaders } from '../../../gateway/webhooks/signature.ts';
import {
  type Delivery,
  nowSeconds,
  openEndpoint,
  orderEvent,
  secretOf,
  signatureOf,
  signedHeaders,
} from './support.ts';

const body = orderEvent();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

async function statusOf(delivery: Delivery, secrets?: readonly string[]) {
  await using endpoint = await openEndpoint(secrets === undefined ? {} : { secrets: async () => secrets });
  const status = await endpoint.deliver(body, delivery);
  return { status, outcomes: endpoint.outcomes, isStored: (await endpoint.events.position()) > 0 };
}

const accepted = { status: 202, outcomes: ['accepted'], isStored: true };
const refused = { status: 401, outcomes: ['refused'], isStored: false };

describe('a webhook is accepted', () => {
  test.each<readonly [string, Delivery]>([
    ['under webhook-* headers', {}],
    ['under svix-* headers', { prefix: 'svix' }],
    ['300 s old', { age: 300 }],
    ['300 s ahead', { age: -300 }],
    ['with an id of 255 characters', { id: 'm'.repeat(255) }],
  ])('%s', async (_name, delivery) => {
    expect(await statusOf(delivery)).toEqual(accepted);
  });

  test.each([secretOf('a'), secretOf('b')])('under either secret during a rotation', async (signedBy) => {
    expect(await statusOf({ secret: signedBy }, [secretOf('a'), secretOf('b')])).toEqual(accepted);
  });

  test('when any of several signatures fits', async () => {
    const timestamp = String(nowSeconds());
    const [wrong, right] = [secretOf('x'), secretOf('a')].map((by) =>
      signatureOf(body, 'msg_1', timestamp, by),
    );
    const headers = { 'webhook-signature': `v1,short ${wrong} v2,${right?.slice(3)} ${right}` };
    expect(await statusOf({ headers })).toEqual(accepted);
  });
});

describe('a webhook is refused, and nothing of it stored,', () => {
  const timestamp = () => String(nowSeconds());
  const headersOf = (id: string, at: string, signature = signatureOf(body, id, at)) => ({
    'webhook-id': id,
    'webhook-timestamp': at,
    'webhook-signature': signature,
  });

  test.each<readonly [string, () => Delivery]>([
    ['signed with another secret', () => ({ secret: secretOf('x') })],
    ['without an id', () => ({ headers: { 'webhook-id': null } })],
    ['without a timestamp', () => ({ headers: { 'webhook-timestamp': null } })],
    ['without a signature', () => ({ headers: { 'webhook-signature': null } })],
    ['with an empty signature', () => ({ headers: { 'webhook-signature': '' } })],
    ['with another id than was signed', () => ({ headers: { 'webhook-id': 'msg_2' } })],
    [
      'with another timestamp than was signed',
      () => ({ headers: { 'webhook-timestamp': String(nowSeconds() + 1) } }),
    ],
    ['with an id that has a dot', () => ({ headers: headersOf('msg.1', timestamp()) })],
    ['with an id that has a blank', () => ({ headers: headersOf('msg 1', timestamp()) })],
    ['with an id of 256 characters', () => ({ id: 'm'.repeat(256) })],
    // Signed over the number that a lenient reader, the library among them, makes of it.
    ...['.5', 'abc', 'e0', ' 1', ',1'].map((rest): readonly [string, () => Delivery] => [
      `with "${rest}" behind its timestamp`,
      () => ({ headers: headersOf('msg_1', timestamp() + rest, signatureOf(body, 'msg_1', timestamp())) }),
    ]),
    ...['+', '0', '0x'].map((before): readonly [string, () => Delivery] => [
      `with "${before}" before its timestamp`,
      () => ({ headers: headersOf('msg_1', before + timestamp(), signatureOf(body, 'msg_1', timestamp())) }),
    ]),
    ['with a signed timestamp that is no number', () => ({ headers: headersOf('msg_1', 'NaN') })],
    ['with a timestamp in milliseconds', () => ({ headers: headersOf('msg_1', String(Date.now())) })],
    ['with a negative timestamp', () => ({ headers: headersOf('msg_1', '-1') })],
    [
      'with a signature of another version',
      () => ({
        headers: headersOf(
          'msg_1',
          timestamp(),
          signatureOf(body, 'msg_1', timestamp()).replace('v1,', 'v2,'),
        ),
      }),
    ],
    [
      'with half a signature',
      () => ({
        headers: headersOf('msg_1', timestamp(), signatureOf(body, 'msg_1', timestamp()).slice(0, 20)),
      }),
    ],
    ['with a bare version', () => ({ headers: headersOf('msg_1', timestamp(), 'v1,') })],
    [
      'with signatures without end',
      () => ({
        headers: headersOf(
          'msg_1',
          timestamp(),
          `${'v1,AAAA '.repeat(600)}${signatureOf(body, 'msg_1', timestamp())}`,
        ),
      }),
    ],
  ])('%s', async (_name, delivery) => {
    expect(await statusOf(delivery())).toEqual(refused);
  });

  test.each<readonly [string, Readonly<Record<string, string | null>>]>([
    ['without any header of a signature', { 'webhook-id': null, 'webhook-timestamp': null }],
    ['without a signature', { 'webhook-signature': null }],
    ['with a signature of another version only', { 'webhook-signature': `v2,${'A'.repeat(43)}=` }],
    ['with a signature that is too short', { 'webhook-signature': 'v1,AAAA' }],
    ['with a timestamp that is none', { 'webhook-timestamp': 'now' }],
    ['with an id that is none', { 'webhook-id': 'a.b' }],
  ])('%s, before its body is read', async (_name, headers) => {
    await using endpoint = await openEndpoint();
    const unread = new ReadableStream({ pull: () => expect.unreachable() }, { highWaterMark: 0 });
    const { status } = await endpoint.post(unread, { ...signedHeaders(body), ...headers });
    expect({ status, outcomes: endpoint.outcomes }).toEqual({ status: 401, outcomes: ['refused'] });
  });

  test('with an altered body', async () => {
    await using endpoint = await openEndpoint();
    const response = await endpoint.post(body.replace('received', 'finished'), signedHeaders(body));
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({
      error: {
        code: 'WEBHOOK_UNVERIFIED',
        message: 'The signature headers are missing, wrong or more than 300 seconds off.',
      },
    });
    expect(await endpoint.events.position()).toBe(0);
  });

  test('with bytes that are not UTF-8, however they were signed', async () => {
    await using endpoint = await openEndpoint();
    const bytes = Buffer.concat([Buffer.from(body), Buffer.from([0xff, 0xfe])]);
    // Once over the bytes, and once over the text that a careless receiver would make of them.
    expect(await endpoint.deliver(bytes)).toBe(401);
    const replaced = signedHeaders(bytes.toString('utf8'));
    expect((await endpoint.post(new Uint8Array(bytes), replaced)).status).toBe(401);
    expect(await endpoint.events.position()).toBe(0);
  });

  test('with text that a decoder would quietly change', async () => {
    await using endpoint = await openEndpoint();
    const withMark = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(body)]);
    const withoutMark = signedHeaders(body);
    expect((await endpoint.post(new Uint8Array(withMark), withoutMark)).status).toBe(401);
    expect(await endpoint.events.position()).toBe(0);
  });

  test('and the log says so without a word of it, once however many come', async () => {
    await using endpoint = await openEndpoint();
    await endpoint.deliver(body, { secret: secretOf('x') });
    await endpoint.deliver(body, { secret: secretOf('x') });
    const [line, ...more] = endpoint.logged.map((text) => JSON.parse(text));
    expect(more).toEqual([]);
    expect(line).toEqual({
      level: 40,
      time: expect.any(String),
      event: 'webhook.refused',
      code: 'WEBHOOK_UNVERIFIED',
    });
  });
});

test('a signature over 1 MiB costs little more than its HMAC, however many signatures the header has', () => {
  const isSigned = createSignatureCheck([secretOf('a')]);
  const large = Buffer.alloc(1024 * 1024, 'x');
  const wrong = Array(80)
    .fill(signatureOf(large, 'msg_2', '1'))
    .join(' ');
  const headers = new Headers(signedHeaders(large));
  headers.set('webhook-signature', `${wrong} ${headers.get('webhook-signature')}`);
  const read = readSignatureHeaders(headers) ?? expect.unreachable();
  const key = Buffer.alloc(32, 'a');
  // The shortest of several: what is longer is somebody else's work.
  const shortestMs = (work: () => unknown) =>
    Math.min(
      ...Array.from({ length: 20 }, () => {
        const startedAt = performance.now();
        work();
        return performance.now() - startedAt;
      }),
    );
  expect(isSigned(read, large)).toBe(true);
  const hmacMs = shortestMs(() => createHmac('sha256', key).update(large).digest());
  expect(shortestMs(() => isSigned(read, large))).toBeLessThan(6 * hmacMs);
});
