import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';
import { gatewayKey, graphqlRequest, serviceKey, webhookSecret } from '../support/lab.ts';
import { type Subscribe, type Subscribed, transports } from '../support/subscribe.ts';

const query = `subscription ($orderId: ID!, $after: EventCursor) {
  orderUpdates(orderId: $orderId, after: $after) { cursor kind event { id } order { events { id } } }
}`;

interface Update {
  readonly cursor: string;
  readonly kind: string;
  readonly event: { readonly id: string } | null;
}

/** A subscriber that records the events it receives and resumes with its cursor. */
class Follower {
  readonly kinds: string[] = [];
  readonly eventIds: string[] = [];
  readonly #subscribe: Subscribe;
  readonly #orderId: string;
  #after: string | undefined;
  #updates: Subscribed | undefined;

  constructor(subscribe: Subscribe, orderId: string) {
    this.#subscribe = subscribe;
    this.#orderId = orderId;
  }

  async connect(url: string): Promise<void> {
    const variables = { orderId: this.#orderId, after: this.#after };
    this.#updates = await this.#subscribe({ url, token: gatewayKey, query, variables });
  }

  async takeUntil(count: number): Promise<void> {
    while (this.eventIds.length < count) await this.takeOne();
  }

  async takeOne(): Promise<void> {
    const result = await this.#updates?.next();
    const update: Update = result?.data.orderUpdates;
    this.#after = update.cursor;
    this.kinds.push(update.kind);
    if (update.event !== null) this.eventIds.push(update.event.id);
  }

  async leave(): Promise<void> {
    await this.#updates?.close().catch(() => undefined);
  }
}

async function step(service: string, orderId: string): Promise<void> {
  const headers = { 'x-service-api-key': serviceKey };
  const response = await fetch(`${service}/v3/order/${orderId}/test`, { method: 'POST', headers });
  expect(response.status).toBe(200);
}

async function readEventIds(gateway: GatewayProcess, orderId: string): Promise<readonly string[]> {
  const request = graphqlRequest(
    gateway.url,
    { query: `{ order(id: "${orderId}") { events { id } } }` },
    gatewayKey,
  );
  const answer = await (await fetch(request)).json();
  return answer.data.order.events.map((event: { id: string }) => event.id);
}

function freshOrder(sandbox: Sandbox) {
  const order = sandbox.orders().find(({ status }) => status === 'received.walk_in_test.ordered');
  if (order === undefined) throw new Error('The world has no fresh walk-in order.');
  return order;
}

test('after a kill -9 in the middle, subscribers over every transport have missed and repeated nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'labgraph-kill-'));
  const sandbox = createSandbox({ apiKey: serviceKey, webhookSecret, speed: 1000 });
  const { url: service } = await sandbox.listen({ host: '127.0.0.1', port: 0 });
  const env = {
    SERVICE_URL: service,
    SERVICE_API_KEY: serviceKey,
    WEBHOOK_SECRETS: webhookSecret,
    GATEWAY_API_KEYS: gatewayKey,
    VIEWER_TOKEN_SECRET: 'a viewer token secret of more than 32 characters',
    EVENT_LOG: `sqlite:${join(folder, 'events.db')}`,
    // At its start it may find the step before the webhook comes again, and would tell it in other words.
    RECONCILE_MINUTES: '0',
  };
  let gateway = await startGatewayProcess(folder, { ...env, PORT: '0' });
  const { port } = new URL(gateway.url);
  sandbox.webhooks.register(`${gateway.url}/webhooks`);
  const { orderId } = freshOrder(sandbox);
  const followers = transports.map(([, subscribe]) => new Follower(subscribe, orderId));

  for (const follower of followers) {
    await follower.connect(gateway.url);
    await follower.takeOne();
  }
  const before = await readEventIds(gateway, orderId);
  await step(service, orderId);
  await step(service, orderId);
  await sandbox.webhooks.settled();
  // One has seen one step, the other none yet: they come back from different places.
  await followers[0]?.takeUntil(1);

  await gateway.end('SIGKILL');
  for (const follower of followers) await follower.leave();
  await step(service, orderId);
  gateway = await startGatewayProcess(folder, { ...env, PORT: port });
  // The sender tries again what it could not deliver; only then the next step, lest it overtake.
  await sandbox.webhooks.settled();
  await step(service, orderId);
  await sandbox.webhooks.settled();

  for (const follower of followers) await follower.connect(gateway.url);
  await Promise.all(followers.map((follower) => follower.takeUntil(4)));
  const happened = (await readEventIds(gateway, orderId)).slice(before.length);
  expect(happened).toHaveLength(4);
  for (const follower of followers) {
    expect(follower.eventIds).toEqual(happened);
    expect(follower.kinds).toEqual(['SNAPSHOT', 'CHANGED', 'CHANGED', 'CHANGED', 'CHANGED']);
  }

  for (const follower of followers) await follower.leave();
  expect(await gateway.end('SIGTERM')).toBe(0);
  await sandbox.close();
  rmSync(folder, { recursive: true, force: true });
});
