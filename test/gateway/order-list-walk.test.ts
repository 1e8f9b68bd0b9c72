import { expect, test } from 'vitest';
import { type Lab, startLab } from '../support/lab.ts';
import { cancelOrder, orderKit } from '../support/list-cases.ts';

const list = `query ($filter: OrderFilter, $after: String) {
  orders(first: 3, after: $after, filter: $filter) {
    totalCount pageInfo { hasNextPage endCursor } nodes { id createdAt }
  }
}`;

interface Stretch {
  readonly totalCount: number | null;
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly nodes: readonly { readonly id: string; readonly createdAt: string }[];
}

/** Walks a filtered list by threes; after the first stretch something happens. */
async function walk(lab: Lab, filter: object, then: (first: Stretch) => Promise<void> = async () => {}) {
  const stretches: Stretch[] = [];
  for (let after: string | null = null; ; ) {
    const { data } = await lab.query(list, { variables: { filter, after } });
    stretches.push(data.orders);
    if (!data.orders.pageInfo.hasNextPage) return stretches;
    if (stretches.length === 1) await then(data.orders);
    after = data.orders.pageInfo.endCursor;
  }
}

const idsIn = (stretches: readonly Stretch[]) => stretches.flatMap(({ nodes }) => nodes.map(({ id }) => id));

async function orderKits(lab: Lab, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) ids.unshift(await orderKit(lab));
  return ids;
}

const waiting = { statuses: ['AWAITING_REGISTRATION'], createdAfter: '2026-06-01T00:00:00Z' };

test('orders that were read and leave the filter hide none of those behind them', async () => {
  await using lab = await startLab();
  const kits = await orderKits(lab, 8);
  const stretches = await walk(lab, waiting, async ({ nodes }) => {
    for (const { id } of nodes) await cancelOrder(lab, id);
  });
  expect(idsIn(stretches)).toEqual(kits);
});

test('orders that come into the filter above and below bring none a second time', async () => {
  await using lab = await startLab();
  const kits = await orderKits(lab, 9);
  const [above, , , , , , , , below] = kits;
  const cancelled = kits.filter((id) => id !== above && id !== below);
  for (const id of cancelled) await cancelOrder(lab, id);
  const filter = { statuses: ['CANCELLED'], createdAfter: waiting.createdAfter };
  const stretches = await walk(lab, filter, async () => {
    for (const id of [above, below]) await cancelOrder(lab, id ?? '');
  });
  expect(idsIn(stretches)).toEqual([...cancelled, below]);
});

test('the count stays that of the list as it was when the walk began', async () => {
  await using lab = await startLab();
  const kits = await orderKits(lab, 8);
  const stretches = await walk(lab, waiting, async () => {
    await orderKit(lab);
  });
  expect(stretches.map(({ totalCount }) => totalCount)).toEqual([8, 8, 8]);
  expect(idsIn(stretches)).toEqual(kits);
});

test("the filter's own end holds until a stretch has come before it", async () => {
  await using lab = await startLab();
  const kits = await orderKits(lab, 6);
  const { data } = await lab.query(list, { variables: { filter: waiting } });
  const [, end] = data.orders.nodes;
  lab.sandbox.clearCalls();

  const stretches = await walk(lab, { ...waiting, createdBefore: end.createdAt });

  expect(idsIn(stretches)).toEqual(kits.slice(1));
  const calls = lab.sandbox.calls.filter((call) => call.startsWith('GET /orders'));
  const ends = calls.map((call) => new URLSearchParams(call.split('?')[1]).get('end_date'));
  const last = stretches[0]?.nodes.at(-1)?.createdAt ?? '';
  expect(ends).toEqual([end.createdAt, last].map((instant) => instant.replace('Z', '999Z')));
});

test("the filter's own end holds behind a stretch that ends with it", async () => {
  await using lab = await startLab();
  await orderKits(lab, 2);
  const { data } = await lab.query(list, { variables: { filter: waiting } });
  const instant = new Date(data.orders.nodes[1].createdAt).toISOString();
  const filter = { createdAfter: instant, createdBefore: instant };
  const [only] = await walk(lab, filter);

  const behind = await lab.query(list, { variables: { filter, after: only?.pageInfo.endCursor } });

  expect(only?.nodes).toHaveLength(1);
  expect(behind.data.orders).toMatchObject({ totalCount: 1, nodes: [], pageInfo: { hasNextPage: false } });
  const call = lab.sandbox.calls.findLast((each) => each.startsWith('GET /orders'));
  expect(new URLSearchParams(call?.split('?')[1]).get('end_date')).toBe(instant.replace('Z', '999Z'));
});
