import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { watchSockets } from '../../gateway/websocket/socket-watch.ts';
import { gatewayKey, type Lab, readTestConfig, startLab } from '../support/lab.ts';
import { openRawSocket } from '../support/raw-socket.ts';
import { openSocket } from '../support/socket.ts';

let lab: Lab;

beforeAll(async () => {
  lab = await startLab({ env: { EVENT_LOG: 'memory:' } });
});

afterAll(async () => {
  await lab[Symbol.asyncDispose]();
});

test('a client whose token was revoked can do nothing more, even if it does not take the goodbye', async () => {
  const [order] = lab.sandbox.orders();
  const token = await lab.tokenFor(order?.userId ?? '', { scopes: ['read:orders', 'simulate:orders'] });
  const socket = await openRawSocket(lab.url);
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }));
  await once(socket.connection, 'data');
  await lab.query('mutation ($id: ID!) { revokeViewerTokens(input: { userId: $id }) { revokedAt } }', {
    variables: { id: order?.userId },
  });
  expect(await socket.goodbye).toBe(4403);
  const before = lab.sandbox.calls.length;
  const query = `mutation { simulateOrder(id: "${order?.orderId}") { __typename } }`;
  socket.send(JSON.stringify({ type: 'subscribe', id: 'late', payload: { query } }));
  await once(socket.connection, 'end');
  expect(lab.sandbox.calls).toHaveLength(before);
  socket.connection.destroy();
});

test('a client that asks and does not read is not listened to until it does, and then misses nothing', async () => {
  const watch = watchSockets();
  const server = createServer().listen(0);
  const sockets = new WebSocketServer({ server });
  const accepted = once(sockets, 'connection');
  await once(server, 'listening');
  const address = server.address();
  const client = new WebSocket(`ws://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`);
  await once(client, 'open');
  const [socket]: WebSocket[] = await accepted;
  if (socket === undefined) throw new Error('No socket came.');
  const watched = watch.add(socket);
  const stopped = Promise.withResolvers<void>();
  socket.on('message', (data) => {
    void watched.send(String(data));
    if (socket.isPaused) stopped.resolve();
  });

  const [count, message] = [1000, 'a'.repeat(90_000)];
  client.pause();
  for (let sent = 0; sent < count; sent += 1) client.send(message);
  await stopped.promise;
  expect(socket.bufferedAmount).toBeLessThan(2 * 1024 * 1024);

  const received = Promise.withResolvers<void>();
  let messages = 0;
  client.on('message', () => {
    messages += 1;
    if (messages === count) received.resolve();
  });
  client.resume();
  await received.promise;
  client.terminate();
  watch.stop();
  sockets.close();
  server.close();
});

test('a client that offers HTTP/2 with its request is answered as if it had not', async () => {
  const body = JSON.stringify({ query: '{ viewer { kind } }' });
  const { hostname, port } = new URL(lab.url);
  const connection = connect({ host: hostname, port: Number(port) });
  connection.end(
    [
      'POST /graphql HTTP/1.1',
      `host: ${hostname}`,
      `authorization: Bearer ${gatewayKey}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
      'connection: upgrade, http2-settings',
      'upgrade: h2c',
      `http2-settings: AAMAAABkAAQBAAAAAAIAAAAA\r\n\r\n${body}`,
    ].join('\r\n'),
  );
  expect(await text(connection)).toContain('{"data":{"viewer":{"kind":"TEAM"}}}');
});

test.each([
  [{ type: 'connection_ack' }],
  [{ type: 'next', id: '1', payload: {} }],
  [{ type: 'error', id: '1', payload: [{ message: 'planted' }] }],
  [{ type: 'unknown' }],
])('%j of a client closes its socket with 4400, and is no fault of the gateway', async (message) => {
  const init = { type: 'connection_init', payload: { authorization: `Bearer ${gatewayKey}` } };
  for (const messages of [[message], [init, message]]) {
    const socket = new WebSocket(`${lab.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    await once(socket, 'open');
    const closed = once(socket, 'close');

    for (const sent of messages) socket.send(JSON.stringify(sent));

    expect((await closed)[0]).toBe(4400);
  }
  expect(lab.logged.filter((line) => line.includes('socket.failed'))).toEqual([]);
});

test('nothing more is read for a client whose socket is closing, even if it does not take the goodbye', async () => {
  await using other = await startLab({ env: { EVENT_LOG: 'memory:', READ_CACHE_SECONDS: '0' } });
  const [owner] = other.sandbox.users();
  const events = (after: string) => `subscription { events${after} { cursor user { id } } }`;
  const send = () => other.sandbox.webhooks.send('some.event', {}, { userId: owner?.userId ?? '' });
  const follower = openSocket(other);
  const first = follower.client.iterate({ query: events('') });
  const item = first.next();
  const metrics = async () => await (await fetch(`${other.url}/metrics`)).text();
  await expect.poll(metrics).toContain('labgraph_subscriptions{transport="websocket"} 1');
  send();
  const { cursor } = Object((await item).value?.data?.events);
  await follower.client.dispose();
  for (let count = 0; count < 200; count += 1) send();
  await other.sandbox.webhooks.settled();
  const reads = () => other.sandbox.calls.filter((call) => call.startsWith('GET /v2/user/')).length;
  const before = reads();
  other.sandbox.faults.add({ path: '/v2/user/', delayMs: 20 });
  const socket = await openRawSocket(other.url);
  socket.send(
    JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${gatewayKey}` } }),
  );
  await once(socket.connection, 'data');
  const query = events(`(after: "${cursor}")`);
  socket.send(JSON.stringify({ type: 'subscribe', id: 'behind', payload: { query } }));
  await expect.poll(reads).toBeGreaterThan(before + 3);

  const config = { SERVICE_URL: other.serviceUrl, GATEWAY_API_KEYS: 'another-gateway-key' };
  other.gateway.useSecrets(readTestConfig(config));
  const atTheEnd = reads();
  await once(socket.connection, 'end');

  expect(reads()).toBeLessThanOrEqual(atTheEnd + 1);
  socket.connection.destroy();
});
