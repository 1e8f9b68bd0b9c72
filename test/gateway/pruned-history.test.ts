import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openSqliteStore } from '../../gateway/events/sqlite/store.ts';
import { openEventStream } from '../support/event-stream.ts';
import { gatewayKey } from '../support/lab.ts';
import { startWorld, type World } from '../support/world.ts';

const everything = 'subscription { item: events { __typename payload ... on StreamReset { reason } } }';

async function open(url: string, query: string, lastEventId?: string) {
  const stream = await openEventStream({ url, token: gatewayKey, query, lastEventId });
  return {
    next: async () => {
      const frame = await stream.next();
      return { id: frame?.id, item: JSON.parse(frame?.data ?? '').data.item };
    },
    leave: stream.leave,
  };
}

/** Deletes all events but the newest ones. */
async function pruneToLast({ folder }: World, count: number): Promise<void> {
  const { log } = await openSqliteStore(folder.file('events.db'), { keys: [], access: 'exclusive' });
  const batch = await log.read({}, 0, 100);
  const first = batch.kind === 'events' ? batch.events.at(-count) : undefined;
  await log.prune(first?.receivedAt ?? new Date(0));
  await log.close();
}

async function nextMillisecond(): Promise<void> {
  const now = Date.now();
  while (Date.now() === now) await nextTurn();
}

test('A client that was away for longer than the history gets what is still stored, each change once', async () => {
  await using world = await startWorld({ RECONCILE_MINUTES: '0' });
  const { orderId } = world.freshOrder();
  const updates = `subscription { item: orderUpdates(orderId: "${orderId}") { kind order { lastEvent { id } } } }`;
  const before = await world.openGateway();
  const first = await Promise.all([open(before.url, everything), open(before.url, updates)]);
  await first[1].next();
  await world.step(orderId);
  const cursors = [(await first[0].next()).id, (await first[1].next()).id];
  for (const stream of first) stream.leave();
  await world.step(orderId);
  await nextMillisecond();
  await world.step(orderId);
  await before.close();
  await pruneToLast(world, 1);

  const { url } = await world.openGateway(new URL(before.url).port);
  const events = await open(url, everything, cursors[0]);
  const orders = await open(url, updates, cursors[1]);
  const [reset, event, resync] = [await events.next(), await events.next(), await orders.next()];
  await world.step(orderId);
  const [newer, change] = [await events.next(), await orders.next()];

  expect(reset.item).toMatchObject({ __typename: 'StreamReset', reason: 'pruned' });
  const eventIds = [event, newer].map(({ item }) => item.payload.events.at(-1).id);
  expect(resync.item).toEqual({ kind: 'RESYNC', order: { lastEvent: { id: String(eventIds[0]) } } });
  expect(change.item).toEqual({ kind: 'CHANGED', order: { lastEvent: { id: String(eventIds[1]) } } });
  const again = await open(url, everything, reset.id);
  expect((await again.next()).item).toEqual(event.item);
  for (const stream of [events, orders, again]) stream.leave();
});

/** The orders whose versions are in a cursor: base64url of a MAC of 16 bytes and JSON. */
function ordersIn(cursor = ''): readonly string[] {
  return Object.keys(JSON.parse(Buffer.from(cursor, 'base64url').subarray(16).toString('utf8'))[2]);
}

test('After lost history the cursor has the versions that are newer than its position, until it has passed them', async () => {
  await using world = await startWorld({ RECONCILE_MINUTES: '0' });
  const isMoving = ({ status }: { readonly status: string }) => /^(received|collecting)/.test(status);
  const moving = Map.groupBy(world.sandbox.orders().filter(isMoving), ({ userId }) => userId);
  const [[one, two] = []] = [...moving.values()].filter(({ length }) => length > 1);
  if (one === undefined || two === undefined) throw new Error('No user of the world has two orders to move.');
  const updates = `subscription { item: userOrderUpdates(userId: "${one.userId}") { kind order { id } } }`;
  const before = await world.openGateway();
  const first = await open(before.url, updates);
  let last = await first.next();
  await world.step(one.orderId);
  while (last.item.kind === 'SNAPSHOT') last = await first.next();
  first.leave();
  await world.step(one.orderId);
  await nextMillisecond();
  await world.step(one.orderId);
  await world.step(two.orderId);
  await before.close();
  await pruneToLast(world, 2);

  const { url } = await world.openGateway(new URL(before.url).port);
  const orders = await open(url, updates, last.id);
  const total = world.sandbox.orders().filter(({ userId }) => userId === one.userId).length;
  let resync = last;
  for (let count = 0; count < total; count += 1) resync = await orders.next();
  await world.step(one.orderId);
  const change = await orders.next();

  expect(resync.item.kind).toBe('RESYNC');
  const moved = [one.orderId, two.orderId];
  const ahead = ordersIn(resync.id);
  expect(ahead).toEqual(expect.arrayContaining(moved));
  expect(change.item).toEqual({ kind: 'CHANGED', order: { id: one.orderId } });
  expect(ordersIn(change.id)).toEqual(ahead.filter((id) => !moved.includes(id)));
  orders.leave();
});
