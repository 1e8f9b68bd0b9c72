import { copyFileSync } from 'node:fs';
import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openEventStream } from '../support/event-stream.ts';
import { makeFolder } from '../support/folder.ts';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';
import { transports } from '../support/subscribe.ts';

const simulate = 'mutation ($id: ID!) { simulateOrder(id: $id) { __typename } }';
const orderUpdates = `subscription ($orderId: ID!, $after: EventCursor) {
  orderUpdates(orderId: $orderId, after: $after) { cursor kind }
}`;

let lab: Lab;
beforeEach(async () => {
  lab = await startLab({ eventLog: 'sqlite' });
});
afterEach(async () => {
  vi.useRealTimers();
  await lab[Symbol.asyncDispose]();
});

function freshOrder() {
  const order = lab.sandbox.orders().find(({ status }) => status === 'received.walk_in_test.ordered');
  if (order === undefined) throw new Error('The world has no fresh walk-in order.');
  return order;
}

async function step(orderId: string): Promise<void> {
  await lab.query(simulate, { variables: { id: orderId } });
  await lab.sandbox.webhooks.settled();
}

const open = (more: Partial<Parameters<typeof openEventStream>[0]>) =>
  openEventStream({ url: lab.url, token: gatewayKey, query: orderUpdates, ...more });

type Stream = Awaited<ReturnType<typeof open>>;

async function readRest(stream: Stream) {
  const frames = [];
  for (let frame = await stream.nextFrame(); frame !== null; frame = await stream.nextFrame())
    frames.push(frame);
  return frames;
}

describe('every frame of a subscription bears its cursor as id, asked for or not:', () => {
  test.each<readonly [string, string, (own: number) => number]>([
    ['orderUpdates', '($orderId: ID!) { item: orderUpdates(orderId: $orderId)', () => 3],
    ['userOrderUpdates', '($userId: ID!) { item: userOrderUpdates(userId: $userId)', (own) => own + 2],
    ['events', '{ item: events', () => 2],
  ])('%s', async (_name, field, countOf) => {
    const { orderId, userId } = freshOrder();
    const own = lab.sandbox.orders().filter((order) => order.userId === userId).length;
    const variables = { orderId, userId };
    const asking = await open({ query: `subscription ${field} { at: cursor } }`, variables });
    const other = await open({ query: `subscription ${field} { __typename } }`, variables });
    await step(orderId);
    await step(orderId);

    for (let count = countOf(own); count > 0; count -= 1) {
      const frame = await asking.next();
      expect(frame?.id).toBe(JSON.parse(frame?.data ?? '').data.item.at);
      expect((await other.next())?.id).toBe(frame?.id);
    }
    asking.leave();
    other.leave();
  });

  test('also when the reader falls behind and items wait for it', async () => {
    const stream = await open({
      query: 'subscription { events { cursor ... on UnknownEvent { payload } } }',
    });
    const userId = lab.sandbox.users()[0]?.userId ?? '';
    const filler = 'x'.repeat(20_000);
    for (let index = 0; index < 300; index += 1)
      lab.sandbox.webhooks.send('of.size', { index, filler }, { userId });
    await lab.sandbox.webhooks.settled();

    const indexes = new Set<number>();
    for (let count = 0; count < 300; count += 1) {
      const frame = await stream.next();
      const { cursor, payload } = JSON.parse(frame?.data ?? '').data.events;
      expect(frame?.id).toBe(cursor);
      indexes.add(payload.index);
    }
    expect(indexes.size).toBe(300);
    stream.leave();
  });
});

describe.each(['GET', 'POST'] as const)('Last-Event-ID over %s', (method) => {
  test('resumes where it says, even when `after` says otherwise', async () => {
    const { orderId } = freshOrder();
    const first = await open({ method, variables: { orderId } });
    const after = (await first.next())?.id;
    await step(orderId);
    const lastEventId = (await first.next())?.id;
    first.leave();
    await step(orderId);

    const resumed = await open({ method, variables: { orderId, after }, lastEventId });
    const from = await open({ method, variables: { orderId, after: lastEventId } });
    expect(await resumed.next()).toEqual(await from.next());
    resumed.leave();
    from.leave();
  });

  test.each([
    ['some text', 'not-a-cursor'],
    ['other letters', Buffer.from('∅').toString('latin1')],
    ['very long', 'x'.repeat(4000)],
  ])('that is not ours (%s) is BAD_CURSOR', async (_name, lastEventId) => {
    const { orderId } = freshOrder();
    const stream = await open({ method, variables: { orderId }, lastEventId });
    const frame = await stream.next();
    expect(frame?.id).toBeUndefined();
    expect(JSON.parse(frame?.data ?? '').errors[0].extensions).toEqual({ code: 'BAD_CURSOR' });
    expect(await stream.next()).toBeNull();
  });

  test('of another order is BAD_CURSOR', async () => {
    const [one, two] = lab.sandbox.orders();
    const first = await open({ method, variables: { orderId: one?.orderId } });
    const lastEventId = (await first.next())?.id;
    first.leave();
    const second = await open({ method, variables: { orderId: two?.orderId }, lastEventId });
    expect((await second.next())?.data).toContain('BAD_CURSOR');
  });
});

test('pages of an allowed origin may send Last-Event-ID', async () => {
  await using other = await startLab({ env: { ALLOWED_ORIGINS: 'https://app.example.com' } });
  const answer = await fetch(`${other.url}/graphql`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://app.example.com',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'last-event-id,authorization',
    },
  });
  expect(answer.headers.get('access-control-allow-headers')).toContain('last-event-id');
});

test('a stream begins with the retry delay, and its headers forbid proxies to cache, compress or hold it back', async () => {
  const stream = await open({ variables: { orderId: freshOrder().orderId } });
  expect(stream.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  });
  expect(await stream.nextFrame()).toEqual({ retry: '2000' });
  stream.leave();
});

test('a silent stream has a comment every ten seconds, so that proxies keep it open', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const stream = await open({ query: 'subscription { events { type } }' });
  expect(await stream.nextFrame()).toEqual({ retry: '2000' });
  for (let count = 0; count < 3; count += 1) {
    vi.advanceTimersByTime(10_000);
    expect(await stream.nextFrame()).toEqual({ comment: '' });
  }
  stream.leave();
});

test('a silent stream in parts has an empty part every ten seconds, each with the boundary after it', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const { headers, body } = await request(`${lab.url}/graphql`, {
    method: 'POST',
    headers: {
      accept: 'multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json',
      authorization: `Bearer ${gatewayKey}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ query: 'subscription { events { type } }' }),
  });
  expect(headers).toMatchObject({
    'content-type': 'multipart/mixed;boundary="graphql";subscriptionSpec="1.0"',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  });
  const chunks = body.setEncoding('utf8').iterator({ destroyOnReturn: false });
  const empty = '\r\ncontent-type: application/json\r\n\r\n{}\r\n--graphql';
  expect((await chunks.next()).value).toBe(`\r\n--graphql${empty}`);
  for (let count = 0; count < 3; count += 1) {
    vi.advanceTimersByTime(10_000);
    expect((await chunks.next()).value).toBe(empty);
  }
  body.destroy();
});

test('a subscription that is over ends with `complete` and a closed connection', async () => {
  const stream = await open({ variables: { orderId: freshOrder().orderId }, lastEventId: 'not-a-cursor' });
  expect((await readRest(stream)).map(({ event }) => event)).toEqual([undefined, 'next', 'complete']);
  await stream.closed;
});

describe('a stream ends without `complete`, so that its client comes back,', () => {
  test('when the gateway stops', async () => {
    const stream = await open({ query: 'subscription { events { type } }' });
    await stream.nextFrame();
    await lab.gateway.close();
    expect(await readRest(stream)).toEqual([]);
    await stream.closed;
  });

  test('when the token ends, and not before', async () => {
    const { orderId, userId } = freshOrder();
    const token = await lab.tokenFor(userId, { ttlSeconds: 5 });
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    const stream = await open({ token, variables: { orderId } });
    await stream.next();
    expect(await readRest(stream)).toEqual([]);
    expect(Date.now()).toBeGreaterThanOrEqual((exp - 1) * 1000);
    await stream.closed;
  });

  test('and what was in the making is not sent any more', async () => {
    const { orderId } = freshOrder();
    const query = `subscription { orderUpdates(orderId: "${orderId}") { order { user { clientUserId } } } }`;
    const stream = await open({ query });
    await stream.next();
    lab.sandbox.faults.add({ method: 'GET', path: '/v2/user', effect: { kind: 'hang' } });
    const asked = lab.sandbox.calls.length;
    await step(orderId);
    await expect.poll(() => lab.sandbox.calls.slice(asked).join()).toContain('GET /v2/user');
    const closing = lab.gateway.close();
    expect(await readRest(stream)).toEqual([]);
    await closing;
  });
});

describe.each(transports)(
  'a stream over %s whose truth cannot be read when its history is gone',
  (_name, subscribe) => {
    test('says so in its last item, and goes on once it can', async () => {
      using folder = makeFolder();
      const path = folder.file('events.db');
      const env = { EVENT_LOG: `sqlite:${path}` };
      const { orderId } = freshOrder();
      const after = await readLostCursor(path, orderId);

      await using other = await startLab({ env });
      other.sandbox.faults.add({ path: '/', effect: { kind: 'featureNotEnabled' } });
      const options = {
        url: other.url,
        token: gatewayKey,
        query: orderUpdates,
        variables: { orderId, after },
      };
      const failed = await subscribe(options);
      expect((await failed.next())?.errors?.[0].extensions).toMatchObject({ code: 'UPSTREAM_FORBIDDEN' });
      expect(await failed.next()).toBeNull();

      other.sandbox.faults.clear();
      const resumed = await subscribe(options);
      expect((await resumed.next())?.data.orderUpdates.kind).toBe('RESYNC');
      await failed.close();
      await resumed.close();
    });

    /** The cursor of an item that is in no log any more: the file was put back to an older one. */
    async function readLostCursor(path: string, orderId: string): Promise<string> {
      const env = { EVENT_LOG: `sqlite:${path}` };
      await (await startLab({ env }))[Symbol.asyncDispose]();
      copyFileSync(path, `${path}.older`);
      await using before = await startLab({ env });
      const updates = await subscribe({
        url: before.url,
        token: gatewayKey,
        query: orderUpdates,
        variables: { orderId },
      });
      await updates.next();
      await before.query(simulate, { variables: { id: orderId } });
      const changed = await updates.next();
      await updates.close();
      await before.gateway.close();
      copyFileSync(`${path}.older`, path);
      return changed?.data.orderUpdates.cursor;
    }
  },
);
