import { once } from 'node:events';
import { createClient } from 'graphql-ws';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createRateLimits } from '../../gateway/auth/rate-limits.ts';
import type { Caller } from '../../gateway/auth/rights.ts';
import { isGatewayError } from '../../gateway/errors.ts';
import { openEventStore } from '../../gateway/events/open.ts';
import { createLog } from '../../gateway/log.ts';
import { waysWith } from '../support/ask.ts';
import { openEventStream } from '../support/event-stream.ts';
import { gatewayKey, graphqlRequest, type Lab, readAnew, startLab } from '../support/lab.ts';
import { subscribeOverSse, subscribeOverWebSocket } from '../support/subscribe.ts';
import { startWithUser } from './events/stores.ts';

const cheap = '{ viewer { kind } }';
const follow = 'subscription ($id: ID!) { orderUpdates(orderId: $id) { kind } }';

async function tokensOf(lab: Lab): Promise<readonly [string, string]> {
  const [one, other] = lab.sandbox.users();
  return [await lab.tokenFor(one?.userId ?? ''), await lab.tokenFor(other?.userId ?? '')];
}

describe('points of a minute', () => {
  test('run out for one caller over all transports together, and for nobody else', async () => {
    await using lab = await startLab({ env: { RATE_LIMIT_POINTS: '6' } });
    const [token, otherToken] = await tokensOf(lab);
    const asViewer = waysWith(() => token);
    for (const [, ask] of [...asViewer, ...asViewer]) expect((await ask(lab, cheap)).errors).toBeUndefined();
    const refusal = {
      message:
        'The caller has used its 6 points of this minute (a request, a call to the service or 1,000 fields of an answer is one).',
      extensions: { code: 'RATE_LIMITED', retryAfterSeconds: expect.any(Number) },
    };

    expect((await lab.query(cheap, { token })).errors).toEqual([refusal]);
    const socket = await subscribeOverWebSocket({ url: lab.url, token, query: cheap });
    expect(await socket.next().catch((errors: unknown) => errors)).toEqual([refusal]);
    await socket.close();
    // A stream that never begins is an answer like any other.
    expect((await openEventStream({ url: lab.url, token, query: follow })).status).toBe(429);

    expect((await lab.query(cheap, { token: otherToken })).errors).toBeUndefined();
  });

  test('over HTTP it is 429 with Retry-After, and what is malformed costs as much', async () => {
    await using lab = await startLab({ env: { RATE_LIMIT_POINTS: '2' } });
    const ask = (body: unknown) => lab.gateway.fetch(graphqlRequest(lab.url, body, gatewayKey));
    expect((await ask([])).status).toBe(400);
    expect((await ask('{')).status).toBe(400);

    const refused = await ask({ query: cheap });

    expect(refused.status).toBe(429);
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(await refused.json()).toMatchObject({
      errors: [{ extensions: { code: 'RATE_LIMITED', retryAfterSeconds: seconds } }],
    });
  });

  test('are what an operation has really called: what was paid ahead comes back', async () => {
    // It weighs more than 400 calls and pays 50 ahead.
    const query = '{ users(first: 20) { nodes { orders(first: 20) { nodes { markers { totalCount } } } } } }';
    await using lab = await startLab({ env: { ...readAnew, RATE_LIMIT_POINTS: '140' } });
    const before = lab.sandbox.calls.length;
    const codes: unknown[] = [];
    for (let count = 0; count < 4; count += 1) {
      codes.push((await lab.query(query)).errors?.[0].extensions.code ?? 'ok');
    }
    // A request and 29 calls are 30 points; the fourth would find 50, and needs 51.
    expect(codes).toEqual(['ok', 'ok', 'ok', 'RATE_LIMITED']);
    expect(lab.sandbox.calls.length - before).toBe(3 * 29);
  });

  test('are also those of a stream, for each item', async () => {
    const rateLimits = createRateLimits({ ...limits, pointsPerMinute: 10 });
    const charge = await rateLimits.pay(team, 1);
    for (const calls of [4, 7, 10]) charge.settle(calls);
    await expect(rateLimits.pay(team, 1)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });

  test('are counted for nobody when the limit is 0', async () => {
    const rateLimits = createRateLimits({ ...limits, pointsPerMinute: 0 });
    for (let count = 0; count < 100; count += 1) (await rateLimits.pay(team, 1e6)).settle(1e6);
  });
});

const team: Caller = { kind: 'TEAM' };
const limits = { pointsPerMinute: 10, connections: 2, operationsPerSocket: 2, runShared: null };

describe('over Redis', () => {
  test('several gateways with the documented rights count together, and each alone while Redis is away', async () => {
    await using redis = await startWithUser();
    const url = redis.newUrl();
    const withUser = url.replace('redis://', 'redis://labgraph:secret@');
    const place = { kind: 'redis', url: withUser, allowWeak: false } as const;
    const open = () => openEventStore(place, { keys: [], log: createLog({ level: 'silent' }) });
    const stores = [await open(), await open()];
    const gateways = stores.map(({ runShared }) => createRateLimits({ ...limits, runShared }));
    const pay = async (points: number) => {
      const results = await Promise.allSettled(gateways.map(({ pay: one }) => one(team, points)));
      return results.map(({ status }) => status);
    };

    expect(await pay(5)).toEqual(['fulfilled', 'fulfilled']);
    expect(await pay(1)).toEqual(['rejected', 'rejected']);
    expect(String(await redis.command(url, 'KEYS', '*points*'))).toBe('{labgraph}:points:team');
    await redis.kill();
    expect(await pay(10)).toEqual(['fulfilled', 'fulfilled']);
    expect(await pay(1)).toEqual(['rejected', 'rejected']);
    await Promise.all(stores.map(({ log }) => log.close()));
  });
});

describe('connections of one caller', () => {
  test('are sockets and streams together; one too many is refused until one is left', async () => {
    await using lab = await startLab({ env: { MAX_CONNECTIONS: '2' } });
    const order = lab.sandbox.orders().at(-1);
    const token = await lab.tokenFor(order?.userId ?? '');
    const request = { url: lab.url, token, query: follow, variables: { id: order?.orderId } };
    const socket = await subscribeOverWebSocket(request);
    await socket.next();
    const stream = await subscribeOverSse(request);
    await stream.next();

    expect(await closeCodeOf(lab, token)).toBe(1013);
    const refused = await openEventStream(request);
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '5']);
    refused.leave();
    expect(await (await subscribeOverSse({ ...request, token: gatewayKey })).next()).toMatchObject({
      data: { orderUpdates: { kind: 'SNAPSHOT' } },
    });

    await stream.close();
    await expect.poll(() => canFollow(request)).toBe(true);
    await socket.close();
    await expect.poll(() => canFollow(request)).toBe(true);
  });

  test('that are refused cost the point of their request, and nothing in advance', async () => {
    await using lab = await startLab({ env: { MAX_CONNECTIONS: '1', RATE_LIMIT_POINTS: '40' } });
    const order = lab.sandbox.orders().at(-1);
    const token = await lab.tokenFor(order?.userId ?? '');
    const query =
      'subscription ($id: ID!) { orderUpdates(orderId: $id) { order { user { orders(first: 5) { nodes { markers { totalCount } } } } } } }';
    const request = { url: lab.url, token, query, variables: { id: order?.orderId } };
    const open = await openEventStream(request);
    expect(open.status).toBe(200);

    const refusals: unknown[] = [];
    for (let count = 0; count < 10; count += 1) {
      const refused = await openEventStream(request);
      refusals.push(refused.headers['retry-after']);
      refused.leave();
    }

    expect(refusals).toEqual(Array(10).fill('5'));
    expect((await lab.query(cheap, { token })).errors).toBeUndefined();
    open.leave();
  });

  test('give their place back once, however often they end', () => {
    const { connect } = createRateLimits(limits);
    const [leave] = [connect(team), ...Array.from({ length: 39 }, () => connect(team))];
    expect(() => connect(team)).toThrow();
    leave?.();
    leave?.();
    connect(team);
    expect(() => connect(team)).toThrow();
  });
});

/** What a socket of this caller is closed with. */
async function closeCodeOf(lab: Lab, token: string): Promise<unknown> {
  const socket = new WebSocket(`${lab.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }));
  return (await once(socket, 'close'))[0];
}

async function canFollow(request: Parameters<typeof openEventStream>[0]): Promise<boolean> {
  const stream = await openEventStream(request);
  stream.leave();
  return stream.status === 200;
}

test('operations at once over one socket are limited, and the socket stays', async () => {
  await using lab = await startLab({ env: { MAX_SOCKET_OPERATIONS: '3' } });
  const order = lab.sandbox.orders().at(-1);
  const token = await lab.tokenFor(order?.userId ?? '');
  const client = createClient({
    url: `${lab.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${token}` },
    retryAttempts: 0,
  });
  const begin = () => client.iterate({ query: follow, variables: { id: order?.orderId ?? '' } });
  const three = [begin(), begin(), begin()];
  await Promise.all(three.map((results) => results.next()));

  const refusal = await begin()
    .next()
    .catch((errors: unknown) => errors);

  expect(refusal).toMatchObject([{ extensions: { code: 'RATE_LIMITED', retryAfterSeconds: 5 } }]);
  await three[0]?.return?.();
  expect(await begin().next()).toMatchObject({ done: false });
  await client.dispose();
});

test('a refusal says when there are points again', async () => {
  const rateLimits = createRateLimits(limits);
  await rateLimits.pay(team, 10);
  const error = await rateLimits.pay(team, 1).catch((cause: unknown) => cause);
  expect(isGatewayError(error, 'RATE_LIMITED') && error.retryAfterMs).toBeGreaterThan(0);
});
