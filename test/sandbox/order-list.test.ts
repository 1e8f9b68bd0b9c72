import { expect, test } from 'vitest';
import { at, openSandbox } from './support.ts';

interface Listed {
  readonly orders: readonly { readonly id: string; readonly user_id: string; readonly created_at: string }[];
  readonly total: number;
}

test.each(['/orders', '/v3/orders'])('%s lists the newest order first, fifty to a page', async (path) => {
  await using service = openSandbox();
  const { status, body } = await service.ask<Listed>('GET', path);
  expect(status).toBe(200);
  expect(body).toMatchObject({ total: 48, page: 1, size: 50 });
  expect(body.orders.map((order) => order.id)).toEqual(
    service.sandbox
      .orders()
      .map((order) => order.orderId)
      .toReversed(),
  );
});

test('Pages fit together in either direction', async () => {
  await using service = openSandbox();
  const first = await service.ask<Listed>('GET', '/orders?order_direction=asc&size=25&page=1');
  const second = await service.ask<Listed>('GET', '/orders?order_direction=asc&size=25&page=2');
  const ids = [...first.body.orders, ...second.body.orders].map((order) => order.id);
  expect(ids).toEqual(service.sandbox.orders().map((order) => order.orderId));
});

test.each([
  ['status=completed&status=corrected', 11],
  ['status=redraw_available', 1],
  ['order_type=on_site_collection', 8],
  ['order_type=testkit&order_type=walk_in_test', 31],
  ['interpretation=critical', 1],
  ['interpretation=abnormal', 4],
  ['is_critical=true', 1],
  ['is_critical=false', 47],
  ['patient_name=blake+okereke', 5],
  ['patient_name=zzz', 0],
  ['shipping_recipient_name=LINDHOLM', 5],
  ['shipping_recipient_name=zzz', 0],
  ['order_activation_types=scheduled', 0],
  ['order_activation_types=current&order_activation_types=scheduled', 48],
  ['search_input=morgan', 0],
  ['search_input=blake+okereke', 5],
  ['start_date=2025-06-02&end_date=2025-06-06', 2],
  ['updated_end_date=2025-06-05', 0],
  ['updated_end_date=2025-06-06', 1],
  ['updated_start_date=2025-11-05T13:00:00%2B00:00', 9],
])('The filter %s finds %i orders', async (query, total) => {
  await using service = openSandbox();
  const { body } = await service.ask<Listed>('GET', `/orders?size=100&${query}`);
  expect(body.total).toBe(total);
  expect(body.orders).toHaveLength(total);
});

test('Orders are listed for one user and by their ids', async () => {
  await using service = openSandbox();
  const users = service.sandbox.users();
  const orders = service.sandbox.orders();
  const many = await service.ask<Listed>('GET', `/orders?user_id=${at(users, 0).userId}`);
  const none = await service.ask<Listed>('GET', `/orders?user_id=${at(users, 12).userId}`);
  const wanted = [at(orders, 5).orderId, at(orders, 30).orderId];
  const two = await service.ask<Listed>('GET', `/orders?order_ids=${wanted.join('&order_ids=')}`);
  expect(many.body.total).toBe(10);
  expect(new Set(many.body.orders.map((order) => order.user_id))).toEqual(new Set([at(users, 0).userId]));
  expect(none.body).toEqual({ orders: [], total: 0, page: 1, size: 50 });
  expect(two.body.orders.map((order) => order.id)).toEqual(wanted.toReversed());
});

test('The orders of one transaction are listed by its id', async () => {
  await using service = openSandbox();
  const [parent, redraw] = service.sandbox.orders().slice(10, 12);
  const { body } = await service.ask<{ order_transaction: { id: string } }>(
    'GET',
    `/v3/order/${redraw?.orderId}`,
  );
  const path = `/orders?order_transaction_id=${body.order_transaction.id}`;
  const listed = await service.ask<Listed>('GET', path);
  expect(listed.body.orders.map((order) => order.id)).toEqual([redraw?.orderId, parent?.orderId]);
});

test.each(['patient_name', 'last_status', 'created_at'])(
  'Sorting by %s backwards turns the list round',
  async (key) => {
    await using service = openSandbox();
    const up = await service.ask<Listed>('GET', `/orders?order_key=${key}&order_direction=asc`);
    const down = await service.ask<Listed>('GET', `/orders?order_key=${key}&order_direction=desc`);
    expect(down.body.orders).toEqual(up.body.orders.toReversed());
  },
);

test('The list refuses an unknown user, sort key, page size, time, status and flag', async () => {
  await using service = openSandbox();
  const unknown = await service.ask('GET', '/orders?user_id=00000000-0000-4000-8000-000000000000');
  expect(unknown).toEqual({ status: 404, body: { detail: 'User not found' } });
  for (const query of [
    'order_key=size',
    'order_key=updated_at',
    'size=101',
    'page=0',
    'start_date=yesterday',
    'user_id=me',
    'status=bogus',
    'status=completed&status=bogus',
    'is_critical=perhaps',
  ]) {
    expect([query, (await service.ask('GET', `/orders?${query}`)).status]).toEqual([query, 422]);
  }
});
