import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { SharedCache } from '../../../gateway/cache/shared-cache.ts';
import type { UpstreamCall } from '../../../gateway/service/calls.ts';
import { Upstream } from '../../../gateway/service/client.ts';
import { listenAnywhere } from '../../support/listening.ts';
import {
  type Answer,
  cutShort,
  json,
  openUpstream,
  reset,
  silence,
  stall,
  startMisbehavingService,
  text,
} from '../../support/misbehaving-service.ts';

const list: UpstreamCall = { operation: 'order.list', method: 'GET', path: '/orders' };
const create: UpstreamCall = {
  operation: 'order.create',
  method: 'POST',
  path: '/v3/order/testkit',
  body: { user_id: 'u1' },
};
const rights = { rights: 'team', reader: (sent: unknown) => sent };

describe('a call', () => {
  test('carries the key in its header, lists as repeated keys, and no empty parameters', async () => {
    await using open = await openUpstream([json({ orders: [] })]);
    const query = { status: ['a b', 'c'], page: 1, size: undefined, user_id: null, open: false };

    const answer = await open.upstream.read({ ...list, query }, rights);

    expect(answer).toEqual({ orders: [] });
    expect(open.service.calls()).toEqual(['GET /orders?status=a+b&status=c&page=1&open=false']);
    const { headers } = await open.service.request(0);
    expect(headers).toMatchObject({ 'x-service-api-key': 'key-of-the-team', accept: 'application/json' });
    expect(headers).not.toHaveProperty('content-type');
  });

  test('keeps the path of the base address', async () => {
    await using service = await startMisbehavingService(json({}));
    const options = { apiKey: 'k', apiKeyHeader: 'x-service-api-key' };
    const upstream = new Upstream({ url: `${service.url}/base/`, ...options });

    await upstream.read(list, rights);

    expect(service.calls()).toEqual(['GET /base/orders']);
    await upstream.close();
  });

  test.each([301, 302, 303, 307, 308])(
    'answered with a redirect (%i) stays where it is, key included',
    async (status) => {
      await using elsewhere = await startMisbehavingService(json({}));
      await using open = await openUpstream([text('', status, { location: `${elsewhere.url}/orders` })]);

      await expect(open.upstream.read(list, rights)).rejects.toMatchObject({
        code: 'UPSTREAM_UNREADABLE',
        status,
      });

      expect(open.service.calls()).toEqual(['GET /orders']);
      expect(elsewhere.calls()).toEqual([]);
    },
  );

  test('that finds no service says so, and that nothing was sent', async () => {
    const service = await startMisbehavingService();
    const options = { apiKey: 'k', apiKeyHeader: 'x-service-api-key' };
    const upstream = new Upstream({ url: service.url, ...options });
    await service[Symbol.asyncDispose]();

    await expect(upstream.write(create)).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      notSent: true,
    });
    await upstream.close();
  });

  test('reports its operation and outcome once, after any number of tries', async () => {
    const calls: string[] = [];
    const onCall = (operation: string, outcome: string) => calls.push(`${operation} ${outcome}`);
    await using open = await openUpstream([json({}, 503), json({}), json({}, 403)], { onCall });

    await open.upstream.read(list, rights);
    await open.upstream.read(list, rights).catch(() => {});

    expect(calls).toEqual(['order.list ok', 'order.list UPSTREAM_FORBIDDEN']);
  });
});

describe('a read is tried again', () => {
  const passing: readonly (readonly [string, Answer])[] = [
    ['429', json({}, 429)],
    ['500', json({}, 500)],
    ['503', text('<html>down</html>', 503)],
    ['a cut connection', reset],
    ['an answer cut short', cutShort],
    ['half a JSON text', text('{"orders": [')],
    ['an HTML page with status 200', text('<html>hello</html>')],
  ];

  test.each(passing)('after %s', async (_name, fault) => {
    await using open = await openUpstream([fault, json({ orders: [] })]);

    expect(await open.upstream.read(list, rights)).toEqual({ orders: [] });

    expect(open.service.calls()).toEqual(['GET /orders', 'GET /orders']);
  });

  test('three times in all, and then shows the fault', async () => {
    await using open = await openUpstream([json({}, 503)]);

    await expect(open.upstream.read(list, rights)).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      status: 503,
    });

    expect(open.service.seen).toHaveLength(3);
  });

  test('not before the time that Retry-After asks for', async () => {
    await using open = await openUpstream([json({}, 429, { 'retry-after': '1' }), json({})]);
    const startedAt = performance.now();

    await open.upstream.read(list, rights);

    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990);
    expect(open.service.seen).toHaveLength(2);
  });

  test('not when Retry-After outlasts the deadline: the caller learns how long to wait', async () => {
    await using open = await openUpstream([json({}, 429, { 'retry-after': '30' })]);

    await expect(open.upstream.read(list, rights)).rejects.toMatchObject({
      code: 'UPSTREAM_RATE_LIMITED',
      retryAfterMs: 30_000,
    });

    expect(open.service.seen).toHaveLength(1);
  });

  test.each([400, 401, 403, 422])('not after a refusal (%i)', async (status) => {
    await using open = await openUpstream([json({ detail: 'no' }, status)]);

    await expect(open.upstream.read(list, rights)).rejects.toMatchObject({ status });

    expect(open.service.seen).toHaveLength(1);
  });
});

test('404 is the answer that there is none, shared like any other', async () => {
  await using open = await openUpstream([json({ detail: 'no' }, 404)]);

  const answers = await Promise.all([open.upstream.read(list, rights), open.upstream.read(list, rights)]);

  expect(answers).toEqual([undefined, undefined]);
  expect(open.service.seen).toHaveLength(1);
});

describe('a write reaches the service exactly once', () => {
  const faults: readonly (readonly [string, Answer, string])[] = [
    ['429', json({}, 429, { 'retry-after': '0' }), 'UPSTREAM_RATE_LIMITED'],
    ['500', json({}, 500), 'UPSTREAM_UNAVAILABLE'],
    ['503', json({}, 503), 'UPSTREAM_UNAVAILABLE'],
    ['a cut connection', reset, 'UPSTREAM_UNAVAILABLE'],
    ['an answer cut short', cutShort, 'UPSTREAM_UNAVAILABLE'],
    ['half a JSON text', text('{"order":'), 'UPSTREAM_UNREADABLE'],
    ['no answer', silence, 'UPSTREAM_TIMEOUT'],
    ['a stalled answer', stall, 'UPSTREAM_TIMEOUT'],
  ];

  test.each(faults)('after %s', async (_name, fault, code) => {
    await using open = await openUpstream([fault, json({ order: {} })], { deadlineMs: 400 });

    await expect(open.upstream.write(create)).rejects.toMatchObject({ code, notSent: false });

    // A read behind it on the same upstream: a second POST would have come before.
    await open.upstream.read(list, rights);
    expect(open.service.calls()).toEqual(['POST /v3/order/testkit', 'GET /orders']);
    expect(open.service.seen[0]?.body).toBe('{"user_id":"u1"}');
  });

  test('even when the server has closed the idle connection it would have used', async () => {
    await using open = await openUpstream([json({}, 200, { connection: 'keep-alive' }), reset]);
    await open.upstream.read(list, rights);

    await expect(open.upstream.write(create)).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });

    expect(open.service.calls()).toEqual(['GET /orders', 'POST /v3/order/testkit']);
  });
});

test('a connection that was idle for six seconds is used again, if the service names no time', async () => {
  let connections = 0;
  // With a `connection` header of its own, Node does not add how long it waits.
  const server = createServer({ keepAliveTimeout: 60_000 }, (_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json', connection: 'keep-alive' }).end('{}'),
  ).on('connection', () => {
    connections += 1;
  });
  const upstream = new Upstream({
    url: await listenAnywhere(server),
    apiKey: 'k',
    apiKeyHeader: 'x-service-api-key',
  });
  await upstream.read(list, rights);
  await wait(6000);
  await upstream.read(list, rights);
  expect(connections).toBe(1);
  await upstream.close();
  server.close();
});

describe('the deadline', () => {
  test.each([
    ['never answers', silence],
    ['stalls in the middle of its answer', stall],
  ])('ends a read that %s', async (_name, fault) => {
    await using open = await openUpstream([fault], { deadlineMs: 200, attemptMs: 80 });

    await expect(open.upstream.read(list, rights)).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });

    const first = await open.service.request(0);
    await first.abandoned;
  });

  test('gives an attempt all the remaining time if no other would fit after it', async () => {
    await using open = await openUpstream([silence], { deadlineMs: 500, attemptMs: 200 });

    await expect(open.upstream.read(list, rights)).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });

    // 200 ms and 300 ms: a service that is slow and not silent would have answered the second.
    expect(open.service.seen).toHaveLength(2);
  });

  test('leaves room for a second attempt after one that hung', async () => {
    await using open = await openUpstream([silence, json({ orders: [] })], { attemptMs: 250 });

    expect(await open.upstream.read(list, rights)).toEqual({ orders: [] });
  });
});

describe('an answer that is too long', () => {
  test('is refused and not asked for again', async () => {
    await using open = await openUpstream([json({ text: 'x'.repeat(2000) })], { maxBodyBytes: 1000 });

    await expect(open.upstream.read(list, rights)).rejects.toMatchObject({ code: 'UPSTREAM_UNREADABLE' });

    expect(open.service.seen).toHaveLength(1);
  });

  test('is refused at the limit and not read to its end', async () => {
    const endless: Answer = (response) => {
      const send = () => {
        while (!response.destroyed && response.write('x'.repeat(64 * 1024)));
      };
      response.writeHead(200).on('drain', send);
      send();
    };
    await using open = await openUpstream([endless], { maxBodyBytes: 100_000 });

    await expect(open.upstream.write(create)).rejects.toMatchObject({ code: 'UPSTREAM_UNREADABLE' });

    const request = await open.service.request(0);
    await request.abandoned;
  });

  test('may be just as long as the limit', async () => {
    const body = JSON.stringify({ text: 'x'.repeat(989) });
    await using open = await openUpstream([text(body)], { maxBodyBytes: body.length });

    expect(await open.upstream.read(list, rights)).toEqual(JSON.parse(body));
  });
});

describe('a client that leaves', () => {
  const abandoned = { code: 'ABANDONED', cause: { message: 'left' } };

  test('ends the call when nobody else waits for it', async () => {
    await using open = await openUpstream([silence]);
    const client = new AbortController();
    const answer = open.upstream.read(list, { ...rights, signal: client.signal });
    const request = await open.service.request(0);

    client.abort(new Error('left'));

    await expect(answer).rejects.toMatchObject(abandoned);
    await request.abandoned;
    expect(open.service.seen).toHaveLength(1);
  });

  test.each([
    ['with a signal of its own', new AbortController().signal],
    ['without a signal', undefined],
  ])('does not end it for another who still waits %s', async (_name, signal) => {
    const held = Promise.withResolvers<Parameters<Answer>[0]>();
    await using open = await openUpstream([held.resolve]);
    const client = new AbortController();
    const leaving = open.upstream.read(list, { ...rights, signal: client.signal });
    const staying = open.upstream.read(list, { ...rights, signal });
    const response = await held.promise;

    client.abort(new Error('left'));
    await expect(leaving).rejects.toMatchObject(abandoned);
    json({ orders: [] })(response);

    expect(await staying).toEqual({ orders: [] });
    expect(open.service.seen).toHaveLength(1);
  });

  test('in the pause between two tries stops the tries', async () => {
    const ended = Promise.withResolvers<string>();
    const onCall = (_operation: string, outcome: string) => ended.resolve(outcome);
    await using open = await openUpstream([json({}, 503)], { retryDelayMs: 40, onCall });
    const client = new AbortController();
    const answer = open.upstream.read(list, { ...rights, signal: client.signal });
    await open.service.request(0);

    client.abort(new Error('left'));
    await expect(answer).rejects.toMatchObject(abandoned);

    expect(await ended.promise).toBe('ABANDONED');
    expect(open.service.seen).toHaveLength(1);
  });

  test('before the call began makes no call', async () => {
    await using open = await openUpstream([json({})]);

    await expect(
      open.upstream.read(list, { ...rights, signal: AbortSignal.abort(new Error('left')) }),
    ).rejects.toMatchObject(abandoned);

    expect(open.service.calls()).toEqual([]);
  });
});

describe('sharing through the client', () => {
  test('makes one call of equal reads at once, and one per rights', async () => {
    const shared: string[] = [];
    const onCache = (outcome: string, operation: string) => shared.push(`${operation} ${outcome}`);
    await using open = await openUpstream([json({ orders: [] })], { onCache });
    const { upstream } = open;

    await Promise.all([
      upstream.read(list, { ...rights, rights: 'user:a:*' }),
      upstream.read(list, { ...rights, rights: 'user:a:*' }),
      upstream.read(list, { ...rights, rights: 'user:b:*' }),
      upstream.read({ ...list, query: { page: 2 } }, { ...rights, rights: 'user:a:*' }),
    ]);

    expect([...open.service.calls()].sort()).toEqual(['GET /orders', 'GET /orders', 'GET /orders?page=2']);
    expect(shared).toEqual(['order.list joined']);
  });

  test('ends with a write: a read behind it asks again', async () => {
    const cache = new SharedCache({ ttlMs: 60_000 });
    await using open = await openUpstream([json({})], { cache });
    const read = () => open.upstream.read(list, { ...rights, tags: () => ['orders'] });

    await read();
    await read();
    await open.upstream.write(create);
    await read();

    expect(open.service.calls()).toEqual(['GET /orders', 'POST /v3/order/testkit', 'GET /orders']);
  });
});
