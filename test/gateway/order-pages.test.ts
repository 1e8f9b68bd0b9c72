import { describe, expect, test } from 'vitest';
import { Rights } from '../../gateway/auth/rights.ts';
import { findOrderAnswer } from '../../gateway/domain/order/place/rest-recovery.ts';
import { getOrders, listChangedOrders, listNewestOrders } from '../../gateway/domain/order/read/rest.ts';
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
    expect(await findOrderAnswer(opened.service, userId, ({ id }) => id === last?.id)).toMatchObject({
      order: last,
    });
  });

  test('is read on for the newest hundred', async () => {
    await using opened = await openService(120);
    opened.plain.maxPageSize = 50;
    opened.plain.extent = extent;
    const orders = await listNewestOrders(opened.service, { userId });
    expect(orders.map(({ id }) => id)).toEqual(opened.plain.orders.slice(0, 100).map(({ id }) => id));
    expect(opened.pages()).toBe(2);
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
