import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { type Folder, makeFolder } from '../support/folder.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';
import { gatewayKey, graphqlRequest, serviceKey, webhookSecret } from '../support/lab.ts';
import { findFreePort } from '../support/listening.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { type Subscribe, subscribeOverSse, subscribeOverWebSocket } from '../support/subscribe.ts';
import { checkConfigurations, startNginx } from './proxies.ts';

const query = `subscription ($orderId: ID!, $after: EventCursor) {
  orderUpdates(orderId: $orderId, after: $after) { cursor kind event { id } }
}`;

const soon = { timeout: 30_000 };

let folder: Folder;
let redis: RedisServer;
let sandbox: Sandbox;
let service: string;
let gateways: GatewayProcess[];
/** Of nginx, for the service. */
let port: number;

const startGateway = (at = '0') =>
  startGatewayProcess(folder.path, {
    ...{ PORT: at, DRAIN_SECONDS: '1', RATE_LIMIT_POINTS: '0', LOG_LEVEL: 'warn' },
    ...{ SERVICE_URL: service, SERVICE_API_KEY: serviceKey, WEBHOOK_SECRETS: webhookSecret },
    ...{ GATEWAY_API_KEYS: gatewayKey, EVENT_LOG: `redis://127.0.0.1:${redis.port}/0` },
    VIEWER_TOKEN_SECRET: 'a viewer token secret of more than 32 characters',
    RECONCILE_MINUTES: '0',
  });

beforeAll(async () => {
  folder = makeFolder();
  redis = await startRedis();
  sandbox = createSandbox({ apiKey: serviceKey, webhookSecret, speed: 1000 });
  service = (await sandbox.listen({ host: '127.0.0.1', port: 0 })).url;
  gateways = [await startGateway(), await startGateway()];
  port = await findFreePort();
  sandbox.webhooks.register(`http://127.0.0.1:${port}/webhooks`);
});

afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.end('SIGKILL')));
  await sandbox.close();
  await redis[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** Subscribers of one order, each of which resumes with its cursor whenever its stream ends. */
class Followers {
  readonly orderId: string;
  readonly received: readonly string[][];
  readonly #url: string;
  #isOver = false;
  opened = 0;
  /** How often a stream that was open has ended. */
  cut = 0;

  constructor(url: string, { orderId, count }: { readonly orderId: string; readonly count: number }) {
    this.#url = url;
    this.orderId = orderId;
    this.received = Array.from({ length: count }, () => []);
    this.received.forEach((ids, index) => {
      void this.#follow(index % 2 === 0 ? subscribeOverSse : subscribeOverWebSocket, ids);
    });
  }

  end(): void {
    this.#isOver = true;
  }

  async #follow(subscribe: Subscribe, ids: string[]): Promise<void> {
    let after: string | undefined;
    while (!this.#isOver) {
      const resumesAfter = after;
      try {
        const stream = await subscribe({
          ...{ url: this.#url, token: gatewayKey, query },
          variables: { orderId: this.orderId, after },
        });
        for (let item = await stream.next(); item !== null; item = await stream.next()) {
          if (after === undefined) this.opened += 1;
          const { cursor, event } = item.data.orderUpdates;
          after = cursor;
          if (event !== null) ids.push(event.id);
        }
      } catch {
        // The proxy or the gateway cut it: it resumes.
      }
      if (after !== resumesAfter) this.cut += 1;
      await setTimeout(50);
    }
  }
}

/** 200 queries a second, each a POST, until it is ended. */
class Load {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #pending: Promise<void>[] = [];
  readonly #sending: Promise<void>;
  #isOver = false;
  readonly failed: string[] = [];

  constructor(url: string, queries: readonly string[]) {
    this.#sending = this.#send(url, queries);
  }

  get sent(): number {
    return this.#pending.length;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#sending;
    await Promise.all(this.#pending);
    this.#agent.destroy();
  }

  async #send(url: string, queries: readonly string[]): Promise<void> {
    const start = performance.now();
    while (!this.#isOver) {
      await setTimeout(5);
      while (this.sent < (performance.now() - start) / 5)
        this.#pending.push(this.#ask(url, queries[this.sent % queries.length] ?? ''));
    }
  }

  async #ask(url: string, query: string): Promise<void> {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${gatewayKey}` };
    const asking = request(`${url}/graphql`, { method: 'POST', agent: this.#agent, headers });
    asking.end(JSON.stringify({ query }));
    try {
      const [answer] = await once(asking, 'response');
      const text = Buffer.concat(await answer.toArray()).toString();
      if (answer.statusCode !== 200 || !text.startsWith('{"data"')) this.failed.push(text);
    } catch (error) {
      this.failed.push(String(error));
    }
  }
}

/** Orders with four steps before them. */
const freshOrders = (count: number) =>
  sandbox
    .orders()
    .filter(({ status }) => /^received\.(walk_in_test|at_home_phlebotomy)\.(ordered|requis)/.test(status))
    .slice(0, count);

async function stepAll(followers: readonly Followers[]): Promise<void> {
  for (const { orderId } of followers) {
    const headers = { 'x-service-api-key': serviceKey };
    await fetch(`${service}/v3/order/${orderId}/test`, { method: 'POST', headers });
  }
  await sandbox.webhooks.settled();
}

const total = (followers: readonly Followers[], of: (each: Followers) => number) =>
  followers.reduce((sum, each) => sum + of(each), 0);
const itemsOf = (followers: readonly Followers[]) =>
  total(followers, ({ received }) => received.reduce((sum, ids) => sum + ids.length, 0));

test('nginx and Caddy accept the configurations as they are', () => {
  checkConfigurations(folder.path);
});

test('behind nginx, over a reload and a rolling restart of two gateways, 1,000 streams miss and repeat no change, and none of 200 queries a second fails', async () => {
  const [orders, each] = [5, 200];
  const streams = orders * each;
  const proxy = await startNginx({ folder: folder.path, port, gateways: gateways.map(({ url }) => url) });
  const followers = freshOrders(orders).map(
    ({ orderId }) => new Followers(proxy.url, { orderId, count: each }),
  );
  try {
    expect(followers).toHaveLength(orders);
    await expect.poll(() => total(followers, ({ opened }) => opened), soon).toBe(streams);
    await stepAll(followers);
    await expect.poll(() => itemsOf(followers), soon).toBe(streams);

    proxy.reload();
    await expect.poll(() => total(followers, ({ cut }) => cut), soon).toBe(streams);
    await stepAll(followers);
    await expect.poll(() => itemsOf(followers), soon).toBe(2 * streams);

    const load = new Load(
      proxy.url,
      sandbox.orders().map(({ orderId }) => `{ order(id: "${orderId}") { id status { raw } } }`),
    );
    await expect.poll(() => load.sent, soon).toBeGreaterThan(200);
    for (const [index, gateway] of gateways.entries()) {
      expect(await gateway.end('SIGTERM')).toBe(0);
      await stepAll(followers);
      gateways[index] = await startGateway(new URL(gateway.url).port);
    }
    await load.end();
    expect(load.sent).toBeGreaterThan(600);
    expect(load.failed).toEqual([]);
    await expect.poll(() => itemsOf(followers), soon).toBe(4 * streams);

    // One whole history for each order, in its order, once.
    for (const { received, orderId } of followers) {
      const asked = graphqlRequest(
        proxy.url,
        { query: `{ order(id: "${orderId}") { events { id } } }` },
        gatewayKey,
      );
      const { data } = await (await fetch(asked)).json();
      const happened = data.order.events.map(({ id }: { id: string }) => id).slice(-4);
      expect(received).toEqual(received.map(() => happened));
    }
    expect((await fetch(`${proxy.url}/widget/portal-widget.js`)).status).toBe(200);
    expect([
      (await fetch(`${proxy.url}/metrics`)).status,
      (await fetch(`${proxy.url}/ready`)).status,
    ]).toEqual([404, 404]);
  } finally {
    for (const some of followers) some.end();
    await proxy.end();
  }
});
