import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { at, openReceiver, openSandbox, statusesOf } from './support.ts';

async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), 'sandbox-'));
  return {
    file: join(path, 'deep', 'state.json'),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true }),
  };
}

const everything = ['/v2/user/', '/orders?size=100', '/v3/lab_tests/markers?size=100', '/v3/lab_test'];

test('Equal seeds make equal worlds, other seeds make others', async () => {
  await using one = openSandbox({ seed: 5 });
  await using two = openSandbox({ seed: 5 });
  await using other = openSandbox({ seed: 6 });
  for (const path of everything) {
    expect(await one.ask('GET', path)).toEqual(await two.ask('GET', path));
  }
  const idsOf = ({ sandbox }: typeof one) => sandbox.orders().map((order) => order.orderId);
  expect(idsOf(other).some((id) => idsOf(one).includes(id))).toBe(false);
});

test('A change that was answered is there after a restart, with nothing closed properly', async () => {
  await using folder = await temporaryFolder();
  await using before = openSandbox({ stateFile: folder.file });
  const { orderId } = at(before.sandbox.orders(), 37);
  await before.ask('POST', `/v3/order/${orderId}/test`);
  const portal = await before.ask<{ url: string }>(
    'POST',
    `/v2/user/${at(before.sandbox.users(), 0).userId}/create_portal_url`,
    { context: 'communications' },
  );
  const seen = await before.ask('GET', `/v3/order/${orderId}`);

  await using after = openSandbox({ stateFile: folder.file, seed: 99 });
  expect(await after.ask('GET', `/v3/order/${orderId}`)).toEqual(seen);
  expect((await after.sandbox.fetch(new Request(portal.body.url))).status).toBe(200);
  await after.ask('POST', `/v3/order/${orderId}/test`);
  const { body } = await after.ask<{ events: { id: number }[] }>('GET', `/v3/order/${orderId}`);
  const [last = 0, previous = 0] = body.events.map((event) => event.id).toReversed();
  expect(last).toBe(previous + 1);
});

test('Only the owner may read the file', async () => {
  await using folder = await temporaryFolder();
  await using service = openSandbox({ stateFile: folder.file });
  await service.ask('POST', `/v3/order/${at(service.sandbox.orders(), 37).orderId}/test`);
  expect((await stat(folder.file)).mode & 0o777).toBe(0o600);
});

test('A message that nobody took yet goes out after a restart, under its old id', async () => {
  await using folder = await temporaryFolder();
  await using refusing = await openReceiver();
  await using receiver = await openReceiver();
  refusing.answers.push(500, 500);
  const before = openSandbox({ stateFile: folder.file, speed: 1 });
  before.sandbox.webhooks.register(refusing.url);
  await before.ask('POST', `/v3/order/${at(before.sandbox.orders(), 37).orderId}/test`);
  await expect.poll(() => refusing.received).toHaveLength(1);
  await before.sandbox.close();

  await using after = openSandbox({ stateFile: folder.file });
  after.sandbox.webhooks.register(receiver.url);
  await after.sandbox.webhooks.settled();
  expect(statusesOf(receiver.received)).toEqual(['received.walk_in_test.requisition_created']);
  expect(receiver.received[0]?.id).toBe(refusing.received[0]?.id);
  expect(receiver.received[0]?.text).toBe(refusing.received[0]?.text);
  await after.sandbox.close();

  await using third = openSandbox({ stateFile: folder.file });
  third.sandbox.webhooks.register(receiver.url);
  await third.sandbox.webhooks.settled();
  expect(receiver.received).toHaveLength(1);
});

test('A slow simulation goes on after a restart, unless something else has moved its order', async () => {
  await using folder = await temporaryFolder();
  await using before = openSandbox({ stateFile: folder.file, speed: 1 });
  const orders = before.sandbox
    .orders()
    .filter(({ status }) => status.endsWith('walk_in_test.requisition_created'));
  const [moving, cancelled] = [at(orders, 0).orderId, at(orders, 1).orderId];
  const query = 'final_status=completed.walk_in_test.completed&delay=86400';
  for (const orderId of [moving, cancelled]) {
    const path = `/v3/order/${orderId}/test?${query}`;
    expect((await before.ask('POST', path, { interpretation: 'abnormal' })).status).toBe(200);
  }
  await before.ask('POST', `/v3/order/${cancelled}/cancel`);

  await using after = openSandbox({ stateFile: folder.file, speed: 100_000_000 });
  await after.sandbox.webhooks.settled();
  expect((await after.ask('GET', `/v3/order/${moving}`)).body).toMatchObject({
    last_event: { status: 'completed.walk_in_test.completed' },
    interpretation: 'abnormal',
  });
  expect((await after.ask('GET', `/v3/order/${cancelled}`)).body).toMatchObject({
    last_event: { status: 'cancelled.walk_in_test.cancelled' },
  });
});

test.each(['', '{"version":1', '{"version":2}', '[]'])('A file with the text %j is damaged', async (text) => {
  await using folder = await temporaryFolder();
  const file = join(folder.file, '..', '..', 'state.json');
  await writeFile(file, text);
  expect(() => openSandbox({ stateFile: file })).toThrow(
    `The sandbox's state file ${file} is damaged. Delete it to start with a new world.`,
  );
});

test('A malformed webhook secret is refused at once', () => {
  expect(() => openSandbox({ webhookSecret: 'whsec_%%%' })).toThrow();
});

test('The invented history ends shortly before the time it is given, and has the same things in it', async () => {
  const historyEndsAt = Date.parse('2031-03-01T08:30:00Z');
  await using usual = openSandbox();
  await using other = openSandbox({ historyEndsAt });
  const read = async ({ ask }: typeof usual) => {
    const { body } = await ask<{ orders: { id: string; created_at: string; updated_at: string }[] }>(
      'GET',
      '/orders?size=100',
    );
    return body.orders;
  };
  const [usualOrders, orders] = [await read(usual), await read(other)];
  expect(orders.map(({ id }) => id)).toEqual(usualOrders.map(({ id }) => id));
  const times = orders.flatMap(({ created_at, updated_at }) => [
    Date.parse(created_at),
    Date.parse(updated_at),
  ]);
  expect(new Date(Math.max(...times)).toISOString()).toBe('2031-02-26T02:30:00.000Z');
  expect(new Date(Math.min(...times)).toISOString()).toBe('2030-08-21T08:30:00.000Z');
});
