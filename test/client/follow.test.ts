import { execFile } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createLabgraphClient } from '../../client/src/client.ts';
import type { LabgraphError } from '../../client/src/errors.ts';
import { Results } from '../../client/src/transports/results.ts';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';
import { listenAnywhere } from '../support/listening.ts';
import { startWorld } from '../support/world.ts';
import { Follower, transports } from './follower.ts';

const run = promisify(execFile);

test('after two kill -9 a follower has missed and repeated nothing, on each transport', async () => {
  // At its start a gateway compares, and on a busy machine that can be earlier than the webhook.
  await using world = await startWorld({ RECONCILE_MINUTES: '0' });
  let gateway = await world.startGateway();
  const { orderId } = world.freshOrder();
  const client = createLabgraphClient({ url: `${gateway.url}/graphql`, token: gatewayKey });
  const followers = transports.map((transport) => new Follower(client, orderId, transport));
  for (const follower of followers) await follower.takeOne();

  for (const round of [1, 2]) {
    await world.step(orderId);
    // One has taken what another has not when the gateway dies.
    await followers[round % followers.length]?.takeOne();
    await gateway.end('SIGKILL');
    gateway = await world.startGateway();
    await world.step(orderId);
    await Promise.all(followers.map((follower) => follower.takeUntil(2 * round)));
  }

  const { order } = await client.query<{ order: { events: readonly { id: string }[] } }>(
    'query ($id: ID!) { order(id: $id) { events { id } } }',
    { id: orderId },
  );
  const happened = order.events.slice(-4).map(({ id }) => id);
  for (const follower of followers) {
    expect(follower.eventIds).toEqual(happened);
    expect(follower.kinds).toEqual(['SNAPSHOT', 'CHANGED', 'CHANGED', 'CHANGED', 'CHANGED']);
    await follower.leave();
  }
});

describe('over one gateway', () => {
  let lab: Lab;
  let [orderId, userId] = ['', ''];
  beforeAll(async () => {
    lab = await startLab();
    const order = lab.sandbox.orders().find(({ status }) => status === 'received.walk_in_test.ordered');
    [orderId, userId] = [order?.orderId ?? '', order?.userId ?? ''];
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => lab[Symbol.asyncDispose]());

  const step = async (id: string) => {
    await lab.query('mutation ($id: ID!) { simulateOrder(id: $id) { __typename } }', { variables: { id } });
    await lab.sandbox.webhooks.settled();
  };
  const signOut = (id: string) =>
    lab.query('mutation ($id: ID!) { revokeViewerTokens(input: { userId: $id }) { revokedAt } }', {
      variables: { id },
    });
  const count = vi.fn();
  /** Counts the connections that the client opens, of either kind. */
  const follow = (transport: (typeof transports)[number], id: string, token: () => Promise<string>) => {
    count.mockClear();
    class Counted extends WebSocket {
      constructor(...args: ConstructorParameters<typeof WebSocket>) {
        super(...args);
        count();
      }
    }
    const fetchIt = globalThis.fetch;
    vi.spyOn(globalThis, 'fetch').mockImplementation((...args) => {
      count();
      return fetchIt(...args);
    });
    const client = createLabgraphClient({ url: `${lab.url}/graphql`, token, webSocketImpl: Counted });
    return new Follower(client, id, transport);
  };

  test.each(transports)('an unknown order over %s is one request, then an error', async (transport) => {
    const token = vi.fn(() => lab.tokenFor(userId));
    const follower = follow(transport, crypto.randomUUID(), token);

    await expect(follower.takeOne()).rejects.toMatchObject({ name: 'LabgraphError', code: 'NOT_FOUND' });

    expect(count).toHaveBeenCalledTimes(1);
    expect(token.mock.calls).toEqual([['initial']]);
  });

  test.each(transports)('a token that ends over %s is replaced by one request', async (transport) => {
    const token = vi.fn(() => lab.tokenFor(userId));
    const follower = follow(transport, orderId, token);
    await follower.takeOne();

    const next = follower.takeOne();
    await signOut(userId);
    await step(orderId);
    await next;

    expect(follower.kinds).toEqual(['SNAPSHOT', 'CHANGED']);
    expect(token.mock.calls).toEqual([['initial'], ['rejected']]);
    await follower.leave();
  });

  test.each(transports)('a token that is rejected twice in a row over %s ends it', async (transport) => {
    const token = vi.fn(async () => 'not a token');
    const follower = follow(transport, orderId, token);

    await expect(follower.takeOne()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });

    expect(token.mock.calls).toEqual([['initial'], ['rejected']]);
  });

  test.each(transports)('nothing is opened over %s for a token that does not come', async (transport) => {
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const token = vi.fn(() => new Promise<string>(() => {}));
    const follower = follow(transport, orderId, token);

    const waiting = follower.takeOne().catch(() => {});
    await vi.advanceTimersByTimeAsync(15_000);

    expect(follower.cuts).toEqual(['TOKEN_UNAVAILABLE']);
    expect(count).not.toHaveBeenCalled();
    await follower.leave();
    await waiting;
  });

  test.each(transports)('a follower over %s may leave as soon as it is accepted', async (transport) => {
    const client = createLabgraphClient({ url: `${lab.url}/graphql`, token: gatewayKey });
    const left = new AbortController();
    const onOpen = vi.fn(() => left.abort());
    const text = 'subscription ($after: EventCursor) { events(after: $after) { cursor } }';
    const updates = client.follow(text, {}, { transport, signal: left.signal, onOpen });

    expect(await updates.next()).toEqual({ done: true, value: undefined });

    expect(onOpen).toHaveBeenCalledTimes(1);
    const countOpen = async () =>
      (await (await fetch(`${lab.url}/metrics`)).text())
        .split('\n')
        .find((line) => line.startsWith(`labgraph_subscriptions{transport="${transport}"}`))
        ?.split(' ')[1] ?? '0';
    await expect.poll(countOpen).toBe('0');
  });

  test('a signal that outlives a follower holds nothing of it: not when it is left, and not when it cannot go on', async () => {
    const client = createLabgraphClient({ url: `${lab.url}/graphql`, token: gatewayKey });
    const { signal } = new AbortController();
    const text =
      'subscription ($id: ID!, $after: EventCursor) { orderUpdates(orderId: $id, after: $after) { cursor } }';
    const left = client.follow(text, { id: orderId }, { signal });
    await left.next();
    await left.return();
    const failed = client.follow(text.replace('cursor', 'nothing'), { id: orderId }, { signal });
    await expect(failed.next()).rejects.toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' });

    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('a signal that has aborted already ends it before anything is sent', async () => {
    const client = createLabgraphClient({ url: `${lab.url}/graphql`, token: gatewayKey });
    const text = 'subscription ($after: EventCursor) { events(after: $after) { cursor } }';
    const updates = client.follow(text, {}, { signal: AbortSignal.abort() });

    expect(await updates.next()).toEqual({ done: true, value: undefined });
  });

  test('leaving ends a wait for the next item', async () => {
    const follower = follow('websocket', orderId, () => lab.tokenFor(userId));
    await follower.takeOne();
    const waiting = follower.takeOne();

    await follower.leave();

    await expect(waiting).rejects.toThrow('defined');
  });

  test('an operation that is too long for a message is refused, and ends no other one', async () => {
    const follower = follow('websocket', orderId, () => lab.tokenFor(userId));
    await follower.takeOne();

    await expect(follower.beside('x'.repeat(100_000)).takeOne()).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      errors: [{ message: 'Request body too large' }],
    });

    await step(orderId);
    await follower.takeOne();
    expect(follower.kinds).toEqual(['SNAPSHOT', 'CHANGED']);
    expect(follower.cuts).toEqual([]);
    await follower.leave();
  });

  test.each(transports)('variables that JSON cannot contain end it over %s', async (transport) => {
    const client = createLabgraphClient({ url: `${lab.url}/graphql`, token: gatewayKey });
    const text = 'subscription ($after: EventCursor) { events(after: $after) { cursor } }';

    await expect(client.follow(text, { first: 1n }, { transport }).next()).rejects.toThrow(TypeError);
  });

  test.each([
    ['does not declare $after', 'subscription ($id: ID!) { orderUpdates(orderId: $id) { cursor } }'],
    [
      'does not select cursor',
      'subscription ($id: ID!, $after: EventCursor) { orderUpdates(orderId: $id, after: $after) { kind } }',
    ],
  ])('a document that %s is refused, because it could not be resumed', async (_name, text) => {
    const client = createLabgraphClient({ url: `${lab.url}/graphql`, token: gatewayKey });

    await expect(client.follow(text, { id: orderId }).next()).rejects.toMatchObject({
      code: 'DOCUMENT_NOT_RESUMABLE',
    });
  });
});

test.each(transports)(
  'a gateway that accepts a connection and says nothing is left over %s, and asked again',
  async (transport) => {
    const server = createServer();
    const url = await listenAnywhere(server);
    onTestFinished(() => {
      vi.useRealTimers();
      server.close();
    });
    server.on('connection', (socket) => onTestFinished(() => void socket.destroy()));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const connected = once(server, 'connection');
    const { promise: retried, resolve: onRetry } = Promise.withResolvers<LabgraphError>();
    const client = createLabgraphClient({ url, token: gatewayKey });
    const text = 'subscription ($after: EventCursor) { events(after: $after) { cursor } }';
    const updates = client.follow(text, {}, { transport, onRetry });

    const waiting = updates.next();
    await connected;
    await vi.advanceTimersByTimeAsync(35_000);

    expect((await retried).code).toBe('NETWORK_FAILED');
    await updates.return();
    await waiting;
  },
);

test('a follower over HTTP that ends while it waits leaves no timer behind, so its process can end', async () => {
  const server = createHttpServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`event: next\ndata: ${JSON.stringify({ data: { events: { cursor: '1' } } })}\n\n`);
  });
  const url = await listenAnywhere(server);
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const source = new URL('../../client/src/client.ts', import.meta.url).href;
  const program = `
    import { createLabgraphClient } from ${JSON.stringify(source)};
    const client = createLabgraphClient({ url: ${JSON.stringify(url)}, token: 'token' });
    const text = 'subscription ($after: EventCursor) { events(after: $after) { cursor } }';
    const leaving = new AbortController();
    const updates = client.follow(text, {}, { transport: 'sse', signal: leaving.signal });
    const first = await updates.next();
    const waiting = updates.next();
    leaving.abort();
    const { done } = await waiting;
    const timers = process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout');
    console.log(JSON.stringify([first.value, done, timers]));
    process.exit();`;

  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program]);

  expect(JSON.parse(stdout)).toEqual([{ events: { cursor: '1' } }, true, []]);
});

test('results that nobody reads are bounded: the operation ends, and its reader gets those that came before', async () => {
  const ended = vi.fn();
  const results = new Results(new AbortController().signal, ended);

  for (let number = 0; number < 100; number += 1) results.push({ data: { number } });

  expect(ended).toHaveBeenCalledTimes(1);
  const read: unknown[] = [];
  await expect(
    (async () => {
      for await (const { data } of results.read()) read.push(data);
    })(),
  ).rejects.toBeTypeOf('symbol');
  expect(read).toEqual(Array.from({ length: 64 }, (_, number) => ({ number })));
});
