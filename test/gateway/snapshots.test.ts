import { expect, test } from 'vitest';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';
import { type MisbehavingService, startMisbehavingService } from '../support/misbehaving-service.ts';
import { presentOrder, type WorldOrder } from '../support/order-world.ts';
import { type Subscribed, subscribeOverSse } from '../support/subscribe.ts';

const one = '0f6a2f0e-55c1-4b52-9d2f-2b4fd7a0a001';
const another = '0f6a2f0e-55c1-4b52-9d2f-2b4fd7a0a002';
const subscriptions = {
  order: `subscription ($id: ID!, $after: EventCursor) {
    item: orderUpdates(orderId: $id, after: $after) { cursor kind order { id lastEvent { id } } } }`,
  user: `subscription ($id: ID!, $after: EventCursor) {
    item: userOrderUpdates(userId: $id, after: $after) { cursor kind order { id lastEvent { id } } } }`,
} as const;

/** A gateway over a service whose answers, and their time, the test decides. */
interface Stage extends AsyncDisposable {
  readonly lab: Lab;
  readonly service: MisbehavingService;
  /** What the service shows. */
  readonly shown: WorldOrder[];
  /** From now on answers wait for what is returned to be called, and show what is shown then. */
  readonly hold: () => () => void;
  /** Reports the order as it is by a webhook, and resolves when the gateway has it. */
  readonly sendWebhook: (order: WorldOrder) => Promise<void>;
}

async function startStage(): Promise<Stage> {
  const shown: WorldOrder[] = [];
  let [held, teamId]: [Promise<void> | null, string] = [null, ''];
  const service = await startMisbehavingService(async (response) => {
    await held;
    const answer = answerOf(shown, new URL(response.req.url ?? '/', 'http://service'), teamId);
    response.writeHead(answer === null ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  });
  const lab = await startLab({
    serve: async (sandbox) => {
      teamId = sandbox.teamId;
      return service.url;
    },
  });
  return {
    lab,
    service,
    shown,
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    sendWebhook: async (order) => {
      lab.sandbox.webhooks.send('labtest.order.updated', presentOrder(order, teamId), order);
      await lab.sandbox.webhooks.settled();
    },
    [Symbol.asyncDispose]: async () => {
      await lab[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

function answerOf(shown: readonly WorldOrder[], { pathname, searchParams }: URL, teamId: string): unknown {
  if (pathname === '/orders') {
    const orders = shown.filter(({ userId }) => userId === searchParams.get('user_id'));
    const rows = orders.map((order) => presentOrder(order, teamId));
    return { orders: rows, total: rows.length, page: 1, size: 100 };
  }
  const order = shown.find(({ id }) => pathname === `/v3/order/${id}`);
  return order === undefined ? null : presentOrder(order, teamId);
}

function newOrder(userId: string, version: number): WorldOrder {
  return { id: crypto.randomUUID(), userId, eventIds: [version], expected: [] };
}

interface Following {
  readonly orderId?: string;
  readonly userId?: string;
  readonly after?: string | undefined;
  readonly token?: string;
}

async function follow(
  { lab }: Stage,
  { orderId, userId, after, token = gatewayKey }: Following,
): Promise<Subscribed> {
  const query = orderId === undefined ? subscriptions.user : subscriptions.order;
  return await subscribeOverSse({ url: lab.url, token, query, variables: { id: orderId ?? userId, after } });
}

/** Kind, order, version and cursor of the next items. */
async function take(updates: Subscribed, count: number) {
  const items = [];
  while (items.length < count) {
    const result = await updates.next();
    expect(result?.errors).toBeUndefined();
    if (result === null) break;
    const { cursor, kind, order } = result.data.item;
    items.push({ cursor, kind, id: order.id, version: Number(order.lastEvent.id) });
  }
  return items;
}

const versionsOf = (items: Awaited<ReturnType<typeof take>>) =>
  items.map(({ kind, version }) => `${kind} ${version}`);

test('a change reported while the snapshot is read is shown by it, once and never older', async () => {
  await using stage = await startStage();
  const order = newOrder(one, 10);
  stage.shown.push(order);
  await stage.sendWebhook(order);
  const release = stage.hold();
  const asked = stage.service.seen.length;
  const opening = follow(stage, { orderId: order.id });
  await stage.service.request(asked);
  for (const version of [20, 21]) {
    order.eventIds.push(version);
    await stage.sendWebhook(order);
  }
  release();
  const updates = await opening;
  const [snapshot] = await take(updates, 1);
  const resumed = await follow(stage, { orderId: order.id, after: snapshot?.cursor });

  order.eventIds.push(22);
  await stage.sendWebhook(order);

  expect([snapshot?.kind, snapshot?.version]).toEqual(['SNAPSHOT', 21]);
  expect(versionsOf(await take(updates, 1))).toEqual(['CHANGED 22']);
  expect(versionsOf(await take(resumed, 1))).toEqual(['CHANGED 22']);
  await Promise.all([updates.close(), resumed.close()]);
});

test('an order that moves to somebody else and comes back is followed again with the old cursor', async () => {
  await using stage = await startStage();
  const order = newOrder(one, 10);
  stage.shown.push(order);
  await stage.sendWebhook(order);
  const token = await stage.lab.tokenFor(one);
  const first = await follow(stage, { orderId: order.id, token });
  const [snapshot] = await take(first, 1);
  await first.close();
  for (const [version, userId] of [
    [11, another],
    [12, one],
    [13, one],
  ] as const) {
    await stage.sendWebhook({ ...order, userId, eventIds: [10, version] });
  }

  const resumed = await follow(stage, { orderId: order.id, token, after: snapshot?.cursor });

  expect(versionsOf(await take(resumed, 2))).toEqual(['CHANGED 12', 'CHANGED 13']);
  await resumed.close();
});

test('a subscriber that is cut off within a snapshot of several orders gets all of it again', async () => {
  await using stage = await startStage();
  const orders = [newOrder(one, 10), newOrder(one, 11), newOrder(one, 12)];
  stage.shown.push(...orders);
  const ids = new Set(orders.map(({ id }) => id));
  const cut = await follow(stage, { userId: one });
  const [, second] = await take(cut, 2);
  await cut.close();

  const resumed = await follow(stage, { userId: one, after: second?.cursor });
  const again = await take(resumed, 3);
  await resumed.close();

  expect(new Set(again.map(({ kind }) => kind))).toEqual(new Set(['SNAPSHOT']));
  expect(new Set(again.map(({ id }) => id))).toEqual(ids);
  const goingOn = await follow(stage, { userId: one, after: again.at(-1)?.cursor });
  orders[0]?.eventIds.push(20);
  if (orders[0]) await stage.sendWebhook(orders[0]);
  expect(versionsOf(await take(goingOn, 1))).toEqual(['CHANGED 20']);
  await goingOn.close();
});

test('an order that only a webhook has reported is in the snapshot of its user and of nobody else', async () => {
  await using stage = await startStage();
  const [listed, unlisted, moved] = [newOrder(one, 10), newOrder(one, 11), newOrder(one, 12)];
  stage.shown.push(listed);
  for (const order of [unlisted, moved]) await stage.sendWebhook(order);
  await stage.sendWebhook({ ...moved, userId: another, eventIds: [12, 13] });
  const token = await stage.lab.tokenFor(one);

  const updates = await follow(stage, { userId: one, token });
  const snapshots = await take(updates, 2);
  unlisted.eventIds.push(20);
  await stage.sendWebhook(unlisted);

  expect(new Set(snapshots.map(({ id }) => id))).toEqual(new Set([listed.id, unlisted.id]));
  expect(versionsOf(await take(updates, 1))).toEqual(['CHANGED 20']);
  await updates.close();
});
