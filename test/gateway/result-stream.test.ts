import { createServer, ServerResponse } from 'node:http';
import { queryObjects } from 'node:v8';
import { getRequestListener } from '@hono/node-server';
import { createSchema, createYoga, type Plugin } from 'graphql-yoga';
import { request } from 'undici';
import { expect, onTestFinished, test, vi } from 'vitest';
import { useResultStream } from '../../gateway/http/result-stream.ts';
import { listenAnywhere } from '../support/listening.ts';

/** More than the two systems between a server and its client hold. */
const plenty = 400;
const filler = 'x'.repeat(100_000);

type Results = AsyncGenerator<{ readonly data: object }>;

/** A server of one subscription, with real sockets. */
async function serve(results: () => Results) {
  const over = new AbortController();
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const source = { sent: 0, ended };
  async function* watched() {
    try {
      yield* results();
    } finally {
      end();
    }
  }
  const subscribing: Plugin = {
    onSubscribe: ({ setSubscribeFn }) => setSubscribeFn(async () => watched()),
  };
  const yoga = createYoga<{ readonly over: AbortSignal; readonly outgoing: ServerResponse }>({
    schema: createSchema({ typeDefs: 'type Query { item: String } type Subscription { item: String }' }),
    logging: false,
    maskedErrors: false,
    fetchAPI: { Request, Response, Headers, ReadableStream, TextEncoder, TextDecoder, URL },
    plugins: [
      subscribing,
      useResultStream({
        onSend: () => {
          source.sent += 1;
        },
      }),
    ],
  });
  const listener = getRequestListener(
    async (asked, { outgoing }) => {
      if (!(outgoing instanceof ServerResponse)) throw new Error('This server speaks HTTP/1.1.');
      return await yoga.fetch(asked, { over: over.signal, outgoing });
    },
    { overrideGlobalObjects: false },
  );
  const server = createServer(listener);
  const url = await listenAnywhere(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { body } = await request(`${url}/graphql`, {
    method: 'POST',
    headers: { accept: 'text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'subscription { item }' }),
  });
  const countConnections = () =>
    new Promise<number>((resolve, reject) =>
      server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  return { body, over, source, countConnections };
}

async function* repeat(count: number, end: () => Promise<unknown>): Results {
  for (let number = 0; number < count; number += 1) yield { data: { item: `${number} ${filler}` } };
  await end();
}

const never = () => new Promise(() => {});

test('a client that does not read holds neither the stream nor its connection when the token ends', async () => {
  const { body, over, source, countConnections } = await serve(() => repeat(plenty, never));
  body.pause();
  let before = -1;
  await expect
    .poll(() => {
      const isStill = before === source.sent;
      before = source.sent;
      return isStill && before > 0;
    })
    .toBe(true);
  expect(source.sent).toBeLessThan(plenty);

  over.abort();

  await source.ended;
  await expect.poll(countConnections).toBe(0);
  body.destroy();
});

test('a client that reads sees the whole of what was sent, and an end without a fault', async () => {
  const { body, over, source, countConnections } = await serve(() => repeat(3, never));
  const chunks = body.setEncoding('utf8');
  let text = '';
  for await (const chunk of chunks) {
    text += chunk;
    if (/"2 x+"\}\}\n\n$/.test(text)) over.abort();
  }

  expect(text.match(/^event: \w+$/gm)).toEqual(['event: next', 'event: next', 'event: next']);
  await expect.poll(countConnections).toBe(0);
  expect(source.sent).toBe(3);
});

test('a subscription that throws ends its connection and its heartbeats', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const [started, stopped] = [vi.spyOn(globalThis, 'setInterval'), vi.spyOn(globalThis, 'clearInterval')];
  const fault = new Error('planted');
  const { body, countConnections } = await serve(() => repeat(1, () => Promise.reject(fault)));

  const heartbeats = started.mock.results.at(-1)?.value;
  await body.text().catch(() => {});

  await expect.poll(countConnections).toBe(0);
  expect(stopped).toHaveBeenCalledWith(heartbeats);
  vi.restoreAllMocks();
});

class Item {
  readonly item: string;
  constructor(number: number) {
    this.item = `${number}`;
  }
}

test('a stream holds none of the results that it has sent', async () => {
  const { body } = await serve(async function* () {
    for (let number = 0; number < 50; number += 1) yield { data: new Item(number) };
    await never();
  });
  const chunks = body.setEncoding('utf8').iterator({ destroyOnReturn: false });
  let text = '';
  while (!text.includes('"49"')) text += (await chunks.next()).value;

  // Counts after a collection of garbage. The last one is a local variable of the generator that waits.
  await expect.poll(() => queryObjects(Item, { format: 'count' })).toBeLessThanOrEqual(1);
  body.destroy();
});
