import { once } from 'node:events';
import { Agent, type Dispatcher, EventSource } from 'undici';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { openEventStream } from '../support/event-stream.ts';
import { gatewayKey, graphqlRequest } from '../support/lab.ts';
import { startWorld } from '../support/world.ts';

const query = `subscription ($orderId: ID!, $after: EventCursor) {
  orderUpdates(orderId: $orderId, after: $after) { kind event { id } }
}`;

/** An EventSource of the kind that browsers have; only the key comes in on its way, as there it comes from a proxy. */
function openEventSource(url: string, variables: Readonly<Record<string, string>>) {
  const search = new URLSearchParams({ query, variables: JSON.stringify(variables) });
  const agent = new Agent().compose(
    (dispatch): Dispatcher.Dispatch =>
      (options, handler) => {
        const headers = {
          ...Object.fromEntries(readHeaders(options.headers)),
          authorization: `Bearer ${gatewayKey}`,
        };
        return dispatch({ ...options, headers }, handler);
      },
  );
  const source = new EventSource(`${url}/graphql?${search}`, { node: { dispatcher: agent } });
  const seen: { kind: string; event: { id: string } | null }[] = [];
  source.addEventListener('next', (event) => {
    if ('data' in event) seen.push(JSON.parse(String(event.data)).data.orderUpdates);
  });
  return { source, seen };
}

function readHeaders(headers: Dispatcher.DispatchOptions['headers']): Iterable<readonly [string, string]> {
  if (Array.isArray(headers)) throw new Error('A fetch hands its headers on by name.');
  return Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)]);
}

test('an EventSource comes back by itself after a kill -9 and has missed and repeated nothing', async () => {
  // At its start a gateway compares, and on a busy machine that can be earlier than the webhook.
  await using world = await startWorld({ RECONCILE_MINUTES: '0' });
  const gateway = await world.startGateway();
  const { orderId } = world.freshOrder();
  const { source, seen } = openEventSource(gateway.url, { orderId });
  await expect.poll(() => seen.length).toBe(1);
  await world.step(orderId);
  await world.step(orderId);
  await expect.poll(() => seen.length).toBe(3);

  await gateway.end('SIGKILL');
  const again = await world.startGateway();
  await world.step(orderId);
  await world.step(orderId);
  await expect.poll(() => seen.length).toBe(5);
  source.close();

  const request = graphqlRequest(
    again.url,
    { query: `{ order(id: "${orderId}") { events { id } } }` },
    gatewayKey,
  );
  const { data } = await (await fetch(request)).json();
  expect(seen.map(({ kind }) => kind)).toEqual(['SNAPSHOT', 'CHANGED', 'CHANGED', 'CHANGED', 'CHANGED']);
  expect(seen.slice(1).map(({ event }) => event?.id)).toEqual(
    data.order.events.slice(-4).map(({ id }: { id: string }) => id),
  );
});

test('SIGTERM ends a stream over SSE without `complete`, a socket with 1012, and the process with 0', async () => {
  await using world = await startWorld();
  const gateway = await world.startGateway();
  const { orderId } = world.freshOrder();
  const stream = await openEventStream({
    url: gateway.url,
    token: gatewayKey,
    query,
    variables: { orderId },
  });
  await stream.next();
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  await once(socket, 'open');
  // One that never answers the close must not hold up the end.
  const silent = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  await once(silent, 'open');
  silent.pause();

  const closed = once(socket, 'close');
  const code = gateway.end('SIGTERM');
  expect(await stream.nextFrame()).toBeNull();
  await stream.closed;
  expect((await closed)[0]).toBe(1012);
  expect(await code).toBe(0);
});
