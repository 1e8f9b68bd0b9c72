import { expect, test } from 'vitest';
import { at, openSandbox, requestTo, shippingDetails } from './support.ts';

test('A rule holds for its method, its path and so many times, then the service is well again', async () => {
  await using service = openSandbox();
  const { faults } = service.sandbox;
  faults.add({
    method: 'GET',
    path: '/v2/user/',
    times: 2,
    effect: { kind: 'tooManyRequests', retryAfterSeconds: 7 },
  });
  const statuses: number[] = [];
  for (const path of ['/orders', '/v2/user/', '/v2/user/', '/v2/user/']) {
    statuses.push((await service.ask('GET', path)).status);
  }
  expect(statuses).toEqual([200, 429, 429, 200]);
});

test('Rules follow one another and are cleared together', async () => {
  await using service = openSandbox();
  const { faults } = service.sandbox;
  faults.add({ path: '/orders', times: 1, effect: { kind: 'tooManyRequests' } });
  faults.add({
    path: /^\/orders\?page=2/,
    effect: { kind: 'answer', status: 502, body: '{"detail":"gateway"}' },
  });
  const before = await service.ask('GET', '/orders?page=2');
  const during = await service.ask('GET', '/orders?page=2');
  faults.clear();
  const after = await service.ask('GET', '/orders?page=2');
  expect([before.status, during.status, after.status]).toEqual([429, 502, 200]);
});

test('An answer without a body may have a status that allows none', async () => {
  await using service = openSandbox();
  service.sandbox.faults.add({ path: '/orders', effect: { kind: 'answer', status: 204, body: '' } });
  const { status } = await service.sandbox.fetch(requestTo('http://sandbox.test', 'GET', '/orders'));
  expect(status).toBe(204);
});

test('429 says when to come again', async () => {
  await using service = openSandbox();
  service.sandbox.faults.add({ path: '/orders', effect: { kind: 'tooManyRequests', retryAfterSeconds: 7 } });
  const answer = await service.sandbox.fetch(requestTo('http://sandbox.test', 'GET', '/orders'));
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '7']);
});

test('500 is plain text, as the public service answers it', async () => {
  await using service = openSandbox();
  service.sandbox.faults.add({ path: '/orders', effect: { kind: 'serverError' } });
  const answer = await service.sandbox.fetch(requestTo('http://sandbox.test', 'GET', '/orders'));
  expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
    500,
    'text/plain',
    'Internal Server Error',
  ]);
});

test('A truncated body is no JSON', async () => {
  await using service = openSandbox();
  service.sandbox.faults.add({ path: '/orders', effect: { kind: 'truncatedBody' } });
  await expect(service.ask('GET', '/orders')).rejects.toThrow(SyntaxError);
});

test('A big body is the answer and padding', async () => {
  await using service = openSandbox();
  service.sandbox.faults.add({ path: '/orders', effect: { kind: 'bigBody', bytes: 3_000_000 } });
  const { body } = await service.ask<{ padding: string; total: number }>('GET', '/orders?size=1');
  expect([body.total, body.padding.length]).toEqual([48, 3_000_000]);
});

test('An unknown status is in the order, in its last event and in its history', async () => {
  await using service = openSandbox();
  service.sandbox.faults.add({ path: '/orders', effect: { kind: 'unknownStatus', status: 'a.b.c' } });
  const { body } = await service.ask<{ orders: { events: unknown[] }[] }>('GET', '/orders?size=1');
  expect(body).toMatchObject({ orders: [{ status: 'a', last_event: { status: 'a.b.c' } }], total: 48 });
  expect(at(at(body.orders, 0).events, -1)).toMatchObject({ status: 'a.b.c' });
});

test('A delayed answer comes late, and right', async () => {
  await using service = openSandbox();
  service.sandbox.faults.add({ path: '/orders', delayMs: 60 });
  const start = performance.now();
  const { status } = await service.ask('GET', '/orders');
  expect(status).toBe(200);
  expect(performance.now() - start).toBeGreaterThan(55);
});

test('A hanging request ends when its caller aborts', async () => {
  await using service = openSandbox();
  const { url } = await service.sandbox.listen({ host: '127.0.0.1', port: 0 });
  service.sandbox.faults.add({ path: '/orders', effect: { kind: 'hang' } });
  const request = new Request(requestTo(url, 'GET', '/orders'), { signal: AbortSignal.timeout(50) });
  await expect(fetch(request)).rejects.toThrow(/timeout/);
});

test('A hanging request does not keep the sandbox open', async () => {
  const service = openSandbox();
  const { url } = await service.sandbox.listen({ host: '127.0.0.1', port: 0 });
  service.sandbox.faults.add({ path: '/orders', effect: { kind: 'hang' } });
  const answer = fetch(requestTo(url, 'GET', '/orders')).then(
    (late) => late.status,
    () => 'broken',
  );
  await expect.poll(() => service.sandbox.calls).toEqual(['GET /orders']);
  await service.sandbox.close();
  expect([503, 'broken']).toContain(await answer);
});

test.each(['over a socket', 'in the same process'])(
  'A lost answer %s hides work that was done',
  async (way) => {
    await using service = openSandbox();
    const { sandbox } = service;
    const { url } = await sandbox.listen({ host: '127.0.0.1', port: 0 });
    sandbox.faults.add({ path: '/v3/order/testkit', times: 1, effect: { kind: 'lostAnswer' } });
    const request = requestTo(url, 'POST', '/v3/order/testkit', {
      user_id: at(sandbox.users(), 0).userId,
      lab_test_id: at(sandbox.labTests(), 0).labTestId,
      shipping_details: shippingDetails,
    });
    const send = way === 'over a socket' ? fetch : sandbox.fetch;
    const read = async () => (await send(request)).text();
    await expect(read()).rejects.toThrow();
    expect(sandbox.orders()).toHaveLength(49);
  },
);

test('A wrong key is refused before any fault', async () => {
  await using service = openSandbox();
  service.sandbox.faults.add({ path: '/', effect: { kind: 'serverError' } });
  const answer = await service.sandbox.fetch(new Request('http://sandbox.test/orders'));
  expect(answer.status).toBe(401);
});

test('Calls are listed in order and cleared on request', async () => {
  await using service = openSandbox();
  await service.ask('GET', '/orders?user_id=me&size=3');
  await service.ask('POST', '/v3/lab_tests/list_order_set_markers?page=1', {});
  expect(service.sandbox.calls).toEqual([
    'GET /orders?user_id=me&size=3',
    'POST /v3/lab_tests/list_order_set_markers?page=1',
  ]);
  service.sandbox.clearCalls();
  expect(service.sandbox.calls).toEqual([]);
});
