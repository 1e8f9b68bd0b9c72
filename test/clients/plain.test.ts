import { readFileSync } from 'node:fs';
import { fetchEventSource } from '@microsoft/fetch-event-source';
import { EventSource } from 'eventsource';
import { GraphQLClient } from 'graphql-request';
import { createClient as createSseClient } from 'graphql-sse';
import { createClient as createSocketClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { gatewayKey } from '../support/lab.ts';
import { type Bench, bearer, startBench } from './support.ts';

const subscription = `subscription ($orderId: ID!, $after: EventCursor) {
  orderUpdates(orderId: $orderId, after: $after) { kind cursor event { id } }
}`;

interface Update {
  readonly kind: string;
  readonly cursor: string;
}

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

describe('graphql-request', () => {
  test('asks with variables and gets data', async () => {
    const client = new GraphQLClient(bench.url, { headers: bearer(gatewayKey) });
    const { orderId } = bench.freshOrder();

    const data = await client.request('query ($id: ID!) { order(id: $id) { id } }', { id: orderId });

    expect(data).toEqual({ order: { id: orderId } });
  });

  test('throws the errors with their codes', async () => {
    const client = new GraphQLClient(bench.url, { headers: bearer('nobody') });

    await expect(client.request('{ viewer { kind } }')).rejects.toMatchObject({
      response: { status: 401, errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] },
    });
  });
});

describe('graphql-ws', () => {
  test('follows an order, and comes back by itself after a restart', async () => {
    const { orderId } = bench.freshOrder();
    const client = createSocketClient({
      url: bench.socketUrl,
      webSocketImpl: WebSocket,
      connectionParams: bearer(gatewayKey),
      // Its default gives up when a connection is refused, which a closed port does.
      shouldRetry: () => true,
    });
    const seen: Update[] = [];
    client.subscribe<{ orderUpdates: Update }>(
      { query: subscription, variables: { orderId } },
      { next: ({ data }) => data && seen.push(data.orderUpdates), error: () => {}, complete: () => {} },
    );
    await expect.poll(() => seen.length).toBe(1);
    await bench.restart();
    // The client sends its subscription again as it was: from the order as it is now.
    await expect.poll(() => seen.map(({ kind }) => kind)).toEqual(['SNAPSHOT', 'SNAPSHOT']);
    await client.dispose();
  });

  test('gets the code of a refusal', async () => {
    const client = createSocketClient({
      url: bench.socketUrl,
      webSocketImpl: WebSocket,
      connectionParams: bearer(gatewayKey),
    });
    const following = client.iterate({
      query: subscription,
      variables: { orderId: '00000000-0000-4000-8000-000000000000' },
    });

    const refusal = await following.next().catch((errors: unknown) => ({ value: { errors } }));

    expect(refusal.value).toMatchObject({ errors: [{ extensions: { code: 'NOT_FOUND' } }] });
    await client.dispose();
  });
});

describe('graphql-sse', () => {
  test('follows in distinct connections', async () => {
    const { orderId } = bench.freshOrder();
    const client = createSseClient({ url: bench.url, headers: bearer(gatewayKey) });
    const following = client.iterate<{ orderUpdates: Update }>({
      query: subscription,
      variables: { orderId },
    });

    const { value } = await following.next();
    expect(value?.data?.orderUpdates.kind).toBe('SNAPSHOT');
    await bench.world.step(orderId);
    expect((await following.next()).value?.data?.orderUpdates.kind).toBe('CHANGED');
    client.dispose();
  });

  test('comes back by itself after a restart', async () => {
    const { orderId } = bench.freshOrder();
    const seen: Update[] = [];
    const ends: unknown[] = [];
    const client = createSseClient({
      url: bench.url,
      headers: (): Record<string, string> => {
        const cursor = seen.at(-1)?.cursor;
        return { ...bearer(gatewayKey), ...(cursor ? { 'last-event-id': cursor } : {}) };
      },
      retryAttempts: 1000,
    });
    client.subscribe<{ orderUpdates: Update }>(
      { query: subscription, variables: { orderId } },
      {
        next: ({ data }) => data && seen.push(data.orderUpdates),
        error: (error) => ends.push(error),
        complete: () => ends.push('complete'),
      },
    );
    await expect.poll(() => seen.length).toBe(1);
    await bench.restart();
    await bench.world.step(orderId);
    await expect.poll(() => seen.map(({ kind }) => kind)).toEqual(['SNAPSHOT', 'CHANGED']);
    expect(ends).toEqual([]);
    client.dispose();
  });

  test('in a single connection is refused with a code', async () => {
    const client = createSseClient({
      url: bench.url,
      headers: bearer(gatewayKey),
      singleConnection: true,
      retryAttempts: 0,
    });
    const refusal = await client
      .iterate({ query: '{ viewer { kind } }' })
      .next()
      .catch((cause: unknown) => cause);

    expect(refusal).toMatchObject({ response: { status: 405 } });
    client.dispose();
  });
});

test('eventsource comes back with Last-Event-ID: 0 missed, 0 repeated', async () => {
  const { orderId } = bench.freshOrder();
  const search = new URLSearchParams({ query: subscription, variables: JSON.stringify({ orderId }) });
  const source = new EventSource(`${bench.url}?${search}`, {
    fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, ...bearer(gatewayKey) } }),
  });
  const seen: string[] = [];
  source.addEventListener('next', ({ data }) => seen.push(JSON.parse(data).data.orderUpdates.kind));
  await expect.poll(() => seen.length).toBe(1);
  await bench.world.step(orderId);
  await bench.restart();
  await bench.world.step(orderId);

  await expect.poll(() => seen).toEqual(['SNAPSHOT', 'CHANGED', 'CHANGED']);
  source.close();
});

test('the example with fetch-event-source comes back with Last-Event-ID: 0 missed, 0 repeated', async () => {
  onTestFinished(() => void vi.unstubAllGlobals());
  vi.stubGlobal('window', globalThis);
  vi.stubGlobal('document', Object.assign(new EventTarget(), { hidden: false }));
  const { orderId, userId } = bench.freshOrder();
  const seen: string[] = [];
  const page = {
    ...{ fetchEventSource, orderId },
    query: 'subscription ($id: ID!) { orderUpdates(orderId: $id) { kind order { status { raw } } } }',
    fetchViewerToken: async () => (await bench.tokenFor(userId)).token,
    report: (errors: unknown) => seen.push(JSON.stringify(errors)),
    show: ({ status }: { readonly status: { readonly raw: string } }) => seen.push(status.raw),
  };
  const code = exampleOf('fetchEventSource').replace('https://gateway.example/graphql', bench.url);
  const run = new Function(
    ...Object.keys(page),
    `${code.replace('await fetch', 'fetch')}\nreturn controller;`,
  );
  const controller: AbortController = run(...Object.values(page));
  await expect.poll(() => seen.length).toBe(1);
  await bench.world.step(orderId);
  await bench.restart();
  await bench.world.step(orderId);

  await expect.poll(() => seen.length).toBe(3);
  controller.abort();
  expect(new Set(seen).size).toBe(3);
});

/** The example of docs/events.md that uses a name, without its imports. */
function exampleOf(name: string): string {
  const text = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/^```js\n(.*?)^```/gms)].map(([, code = '']) => code);
  return blocks.find((code) => code.includes(name))?.replace(/^import .*\n/m, '') ?? '';
}
