import { describe, expect, test } from 'vitest';
import { Rights } from '../../gateway/auth/rights.ts';
import { findOrderAnswers } from '../../gateway/domain/order/place/rest-recovery.ts';
import { getOrders, listChangedOrders, listOrders } from '../../gateway/domain/order/read/rest.ts';
import { listLastChangedOrders } from '../../gateway/domain/order/read/rest-last-changed.ts';
import { Upstream } from '../../gateway/service/client.ts';
import { bindService } from '../../gateway/service/service.ts';
import { plainOrder, startPlainService, userId } from '../support/plain-service.ts';

/** A service with so many orders, the newest first. */
async function openService(count: number, changedAt: (index: number) => Date = () => new Date()) {
  const plain = await startPlainService();
  for (let index = 0; index < count; index += 1)
    plain.orders.push(plainOrder(index, userId, { at: changedAt(index) }));
  const upstream = new Upstream({ url: plain.url, apiKey: 'key', apiKeyHeader: 'x-api-key' });
  let pages = 0;
  plain.beforeList = () => {
    pages += 1;
  };
  return {
    plain,
    service: bindService(upstream, { rights: new Rights({ kind: 'TEAM' }) }),
    pages: () => pages,
    [Symbol.asyncDispose]: async () => {
      await upstream.close();
      await plain[Symbol.asyncDispose]();
    },
  };
}

async function changedSince(opened: Awaited<ReturnType<typeof openService>>, since: Date) {
  const ids = await Array.fromAsync(
    listChangedOrders(opened.service, since),
    ({ message }) => message.subject.id,
  );
  return ids.length;
}

/** The newest order is of this day, each further one of the day before. */
const day = (index: number) => new Date(Date.UTC(2026, 5, 1) - index * 86_400_000);
const earlier = new Date(Date.now() - 3_600_000);

describe.each(['total', 'pages'] as const)('a service that gives at most 50 orders and the %s', (extent) => {
  test('is read to its end for changes, also if it ignores the filter by time', async () => {
    const old = new Date(earlier.getTime() - 1);
    await using opened = await openService(120, (index) => (index < 40 || index > 100 ? new Date() : old));
    opened.plain.maxPageSize = 50;
    opened.plain.extent = extent;
    expect(await changedSince(opened, earlier)).toBe(59);
    expect(opened.pages()).toBe(3);
  });

  test('is searched for the order of a lost answer beyond the first page', async () => {
    await using opened = await openService(120);
    opened.plain.maxPageSize = 50;
    opened.plain.extent = extent;
    const last = opened.plain.orders.at(-1);
    const found = await findOrderAnswers(opened.service, {
      userId,
      reference: 'lost',
      isAlike: ({ id }) => id === last?.id,
    });
    expect(found).toMatchObject([{ answer: { order: last } }]);
  });

  test('is read on for the newest hundred', async () => {
    await using opened = await openService(120, day);
    opened.plain.maxPageSize = 50;
    opened.plain.extent = extent;
    const orders = await listLastChangedOrders(opened.service, { userId });
    expect(orders.map(({ id }) => id)).toEqual(opened.plain.orders.slice(0, 100).map(({ id }) => id));
    expect(opened.pages()).toBe(3);
  });

  test('gives orders by their ids, however many pages they take', async () => {
    await using opened = await openService(80);
    opened.plain.maxPageSize = 50;
    opened.plain.extent = extent;
    const ids = opened.plain.orders.map(({ id }) => id);
    const orders = await getOrders(opened.service, ids);
    expect(orders.map((order) => order?.id)).toEqual(ids);
    expect(opened.pages()).toBe(2);
  });
});

test.each(['total', 'pages', 'nothing'] as const)(
  'a short page ends a list that shows its %s',
  async (extent) => {
    await using opened = await openService(120);
    opened.plain.extent = extent;
    expect(await changedSince(opened, earlier)).toBe(120);
    expect(opened.pages()).toBe(2);
  },
);

describe('after a long outage', () => {
  async function openLongList(filtersByTime: boolean) {
    const old = new Date(earlier.getTime() - 1);
    const opened = await openService(1005, (index) => (index === 3 ? old : new Date()));
    Object.assign(opened.plain, { filtersByTime, maxPageSize: 1, extent: 'pages' });
    return opened;
  }

  test('a service that filters by time is read to its last page', async () => {
    await using opened = await openLongList(true);
    expect(await changedSince(opened, earlier)).toBe(1004);
  });

  test('also if one of its orders cannot be read', async () => {
    await using opened = await openService(2010);
    Object.assign(opened.plain, { filtersByTime: true, maxPageSize: 2, extent: 'pages' });
    Object.assign(opened.plain.orders[3] ?? {}, { id: null });
    expect(await changedSince(opened, earlier)).toBe(2009);
  });

  test('one that does not is read for 1,000 pages', async () => {
    await using opened = await openLongList(false);
    expect(await changedSince(opened, earlier)).toBe(999);
    expect(opened.pages()).toBe(1000);
  });
});

test('changes are read to the end also if a page of orders is placed between two reads', async () => {
  await using opened = await openService(60);
  Object.assign(opened.plain, { maxPageSize: 10, extent: 'pages', filtersByTime: true });
  const ids = new Set<string>();
  for await (const { message } of listChangedOrders(opened.service, earlier)) {
    ids.add(message.subject.id);
    if (ids.size !== 10 || opened.plain.orders.length > 60) continue;
    opened.plain.orders.unshift(...Array.from({ length: 10 }, (_, index) => plainOrder(100 + index, userId)));
  }
  expect(ids.size).toBe(60);
});

test('a service that sends all its orders as each page is asked a few times at most', async () => {
  await using opened = await openService(120);
  opened.plain.ignoresPages = true;
  opened.plain.extent = 'nothing';
  const ids = await Array.fromAsync(
    listChangedOrders(opened.service, earlier),
    ({ message }) => message.subject.id,
  );
  // Each order once, however often it was sent.
  expect(ids).toHaveLength(120);
  expect(new Set(ids).size).toBe(120);
  expect(opened.pages()).toBe(4);
});

describe('the hundred orders that changed last', () => {
  const ids = (orders: readonly { readonly id: string }[]) => new Set(orders.map(({ id }) => id));

  /** Orders of one day each, the newest first; some of them changed today. */
  async function openChanged(count: number, isChanged: (index: number) => boolean) {
    const opened = await openService(count, day);
    opened.plain.filtersByTime = true;
    opened.plain.orders.forEach((order, index, all) => {
      if (isChanged(index)) all[index] = { ...order, updated_at: day(-1).toISOString() };
    });
    return opened;
  }

  test('are those of a short list, in one call', async () => {
    await using opened = await openChanged(99, (index) => index === 70);
    expect(await listLastChangedOrders(opened.service, { userId })).toHaveLength(99);
    expect(opened.pages()).toBe(1);
  });

  test('have old orders among them that changed later, for one call more', async () => {
    await using opened = await openChanged(250, (index) => index === 120 || index === 249);
    const { orders } = opened.plain;
    const wanted = [...orders.slice(0, 98), orders[120], orders[249]].flatMap((order) => order ?? []);
    expect(ids(await listLastChangedOrders(opened.service, { userId }))).toEqual(ids(wanted));
    expect(opened.pages()).toBe(2);
  });

  test('are found among many that changed, for two calls more at most', async () => {
    await using opened = await openChanged(400, (index) => index === 0 || (index > 100 && index % 3 === 0));
    const { orders } = opened.plain;
    const wanted = orders.filter((_, index) => index === 0 || (index > 100 && index % 3 === 0)).slice(0, 100);
    const found = await listLastChangedOrders(opened.service, { userId });
    expect(ids(found)).toEqual(ids(wanted));
    expect(opened.pages()).toBeLessThanOrEqual(3);
  });

  test('are the newest where the service ignores the filter', async () => {
    await using opened = await openChanged(250, (index) => index === 120);
    opened.plain.filtersByTime = false;
    const found = await listLastChangedOrders(opened.service, { userId });
    expect(ids(found)).toEqual(ids(opened.plain.orders.slice(0, 100)));
    expect(opened.pages()).toBe(2);
  });
});

test('an order that does not show its interpretation fits a filter by it, which the service applies', async () => {
  await using opened = await openService(3);
  const { orders } = opened.plain;
  opened.plain.orders.splice(
    0,
    3,
    ...orders.map((order, index) => ({
      ...order,
      ...[{}, { interpretation: 'abnormal' }, { interpretation: 'normal' }][index],
    })),
  );
  const { rows } = await listOrders(opened.service, { interpretation: 'abnormal' }, { page: 1, size: 3 });
  expect(rows.map((row) => row?.id)).toEqual([orders[0]?.id, orders[1]?.id, undefined]);
});

test('a full page is not the last one, even if the service says so', async () => {
  await using opened = await openService(120);
  opened.plain.extent = 'one-page';
  expect(await changedSince(opened, earlier)).toBe(120);
});
