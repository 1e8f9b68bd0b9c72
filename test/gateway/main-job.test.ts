import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';

const nested = `{
  users(first: 20) { totalCount nodes { clientUserId orders(first: 20) { nodes {
    id events { id status { raw stage } } markers(first: 20) { nodes { name expectedResults { loinc { code } } } }
  } } } }
}`;

/** What the nested query costs: the users, the orders of each, and the markers of each lab test once. */
function documentedCalls(lab: Lab): readonly string[] {
  const orders = '&page=1&size=20&order_key=created_at&order_direction=desc';
  return [
    'GET /v2/user/?offset=0&limit=20',
    ...lab.sandbox.users().map(({ userId }) => `GET /orders?user_id=${userId}${orders}`),
    ...lab.sandbox.labTests().map(() => 'POST /v3/lab_tests/list_order_set_markers?page=1&size=20'),
  ].toSorted();
}

test('20 users with their orders, events and markers cost 1 + 20 + one call per lab test', async () => {
  await using lab = await startLab();
  const answer = await lab.query(nested);

  expect(answer.errors).toBeUndefined();
  expect(answer.data.users.nodes).toHaveLength(20);
  const orders = answer.data.users.nodes.flatMap(
    (user: { orders: { nodes: unknown[] } }) => user.orders.nodes,
  );
  expect(orders).toHaveLength(lab.sandbox.orders().length);
  for (const order of orders) {
    expect(order.events[0].status.stage).toBe('RECEIVED');
    expect(order.markers.nodes[0].expectedResults[0].loinc.code).toMatch(/^\d+-\d$/);
  }
  expect(lab.sandbox.calls.toSorted()).toEqual(documentedCalls(lab));
  expect(lab.sandbox.calls).toHaveLength(29);
});

/** A busy machine may need longer for 50 queries than answers are cached by default. */
const cached = { READ_CACHE_SECONDS: '60' };

test('50 equal queries at once cost no more than one', async () => {
  await using lab = await startLab({ env: cached });
  const answers = await Promise.all(Array.from({ length: 50 }, () => lab.query(nested)));
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(lab.sandbox.calls.toSorted()).toEqual(documentedCalls(lab));
});

test('50 equal queries over 50 connections cost no more than one', async () => {
  await using lab = await startLab({ env: cached });
  const client = new Worker(new URL('../support/concurrent-client.ts', import.meta.url), {
    workerData: { url: lab.url, key: gatewayKey, query: nested, count: 50 },
  });
  const [answers]: unknown[][] = await once(client, 'message');
  expect(new Set(answers).size).toBe(1);
  expect(lab.sandbox.calls.toSorted()).toEqual(documentedCalls(lab));
});

test('orders asked for by id in one operation are one call', async () => {
  await using lab = await startLab();
  const [one, two] = lab.sandbox.orders();
  const answer = await lab.query(
    `{ a: order(id: "${one?.orderId}") { id } b: order(id: "${two?.orderId}") { id } c: order(id: "${crypto.randomUUID()}") { id } }`,
  );
  expect(answer.data).toEqual({ a: { id: one?.orderId }, b: { id: two?.orderId }, c: null });
  expect(lab.sandbox.calls).toHaveLength(1);
  expect(lab.sandbox.calls[0]).toContain(`order_ids=${one?.orderId}&order_ids=${two?.orderId}`);
});

test('an unknown status anywhere in a list is data and nulls nothing', async () => {
  await using lab = await startLab();
  lab.sandbox.faults.add({
    path: '/orders',
    effect: { kind: 'unknownStatus', status: 'quarantined.drone_pickup.held_at_customs' },
  });
  const answer = await lab.query(
    '{ orders(first: 3) { nodes { status { raw stage method step label isTerminal needsAttention } } } }',
  );
  expect(answer.errors).toBeUndefined();
  expect(answer.data.orders.nodes).toEqual(
    Array.from({ length: 3 }, () => ({
      status: {
        raw: 'quarantined.drone_pickup.held_at_customs',
        stage: 'UNKNOWN',
        method: null,
        step: null,
        label: 'Held at customs',
        isTerminal: false,
        needsAttention: false,
      },
    })),
  );
});

test('an id that is no uuid is refused before anything is asked of the service', async () => {
  await using lab = await startLab();
  const answer = await lab.query('{ order(id: "1; drop") { id } }');
  expect(answer.errors?.[0]?.extensions).toEqual({ code: 'BAD_USER_INPUT' });
  expect(lab.sandbox.calls).toEqual([]);
});
