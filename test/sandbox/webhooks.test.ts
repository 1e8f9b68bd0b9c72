import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { at, isSigned, type OpenSandbox, openReceiver, openSandbox, statusesOf } from './support.ts';

/** An order of method walk_in_test in its first status, and a function that moves it. */
function walkIn({ sandbox, ask }: OpenSandbox) {
  const order = at(sandbox.orders(), 37);
  const completed = `/v3/order/${order.orderId}/test?final_status=completed.walk_in_test.completed`;
  return {
    ...order,
    step: () => ask('POST', `/v3/order/${order.orderId}/test`),
    complete: (interpretation: string) => ask('POST', completed, { interpretation }),
  };
}

const walkInSteps = [
  'received.walk_in_test.requisition_created',
  'collecting_sample.walk_in_test.appointment_pending',
  'collecting_sample.walk_in_test.appointment_scheduled',
  'sample_with_lab.walk_in_test.partial_results',
  'completed.walk_in_test.completed',
];

test('Each event of an order is one signed message with the order as it was then', async () => {
  await using receiver = await openReceiver();
  await using service = openSandbox();
  const { sandbox } = service;
  const order = walkIn(service);
  sandbox.webhooks.register(receiver.url);
  sandbox.webhooks.register(receiver.url);
  await order.complete('normal');
  await sandbox.webhooks.settled();
  expect(statusesOf(receiver.received)).toEqual(walkInSteps);
  expect(receiver.received.every(isSigned)).toBe(true);
  expect(receiver.received.map((message) => message.id)).toEqual([
    'msg_1_00000001',
    'msg_1_00000002',
    'msg_1_00000003',
    'msg_1_00000004',
    'msg_1_00000005',
  ]);
  expect(at(receiver.received, 0).body).toMatchObject({
    event_type: 'labtest.order.updated',
    team_id: sandbox.teamId,
    user_id: order.userId,
    client_user_id: 'member-0011',
    data: { id: order.orderId, status: 'received' },
  });
  const { body } = await service.ask('GET', `/v3/order/${order.orderId}`);
  expect(at(receiver.received, -1).body.data).toEqual(body);
});

test('A new kit is created once and updated once', async () => {
  await using receiver = await openReceiver();
  await using service = openSandbox();
  service.sandbox.webhooks.register(receiver.url);
  await service.ask('POST', '/v3/order/testkit', {
    user_id: at(service.sandbox.users(), 9).userId,
    lab_test_id: at(service.sandbox.labTests(), 1).labTestId,
    shipping_details: {
      receiver_name: 'Front Desk',
      first_line: '1 Example Plaza',
      city: 'Austin',
      state: 'TX',
      zip: '78701-1234',
      country: 'US',
      phone_number: '+15125550199',
    },
  });
  await service.sandbox.webhooks.settled();
  expect(receiver.received.map(({ body }) => body.event_type)).toEqual([
    'labtest.order.created',
    'labtest.order.updated',
  ]);
  expect(receiver.received.map(({ body }) => (body.data.events as unknown[]).length)).toEqual([1, 2]);
});

test('A critical result is announced without its values', async () => {
  await using receiver = await openReceiver();
  await using service = openSandbox();
  const order = walkIn(service);
  service.sandbox.webhooks.register(receiver.url);
  await order.complete('critical');
  await service.sandbox.webhooks.settled();
  const { body } = at(receiver.received, -1);
  expect(body.event_type).toBe('labtest.result.critical');
  expect(Object.keys(body.data)).toEqual([
    'order_id',
    'sample_id',
    'status',
    'interpretation',
    'team_id',
    'user_id',
    'created_at',
    'updated_at',
  ]);
  expect(body.data).toMatchObject({ order_id: order.orderId, interpretation: 'critical' });
});

test('A receiver that fails twice gets the same message a third time', async () => {
  await using receiver = await openReceiver();
  await using service = openSandbox();
  const { webhooks } = service.sandbox;
  receiver.answers.push(500, 302);
  webhooks.register(receiver.url);
  await walkIn(service).step();
  await webhooks.settled();
  const [first, second, third] = receiver.received;
  expect(receiver.received.every(isSigned)).toBe(true);
  expect([second?.id, second?.text]).toEqual([first?.id, first?.text]);
  expect([third?.id, third?.text]).toEqual([first?.id, first?.text]);
  expect(webhooks.sent).toEqual([
    {
      messageId: 'msg_1_00000001',
      eventType: 'labtest.order.updated',
      orderId: walkIn(service).orderId,
      attempts: 3,
      outcome: 'delivered',
    },
  ]);
});

test('After eight failures a message is dropped', async () => {
  await using receiver = await openReceiver();
  await using service = openSandbox({ speed: 10_000_000 });
  receiver.answers.push(500, 500, 500, 500, 500, 500, 500, 500);
  service.sandbox.webhooks.register(receiver.url);
  await walkIn(service).step();
  await service.sandbox.webhooks.settled();
  expect(receiver.received).toHaveLength(8);
  expect(service.sandbox.webhooks.sent).toMatchObject([{ attempts: 8, outcome: 'given_up' }]);
});

test('A failed message is overtaken by the next one of its order', async () => {
  await using receiver = await openReceiver();
  // Slow enough that the retry, 5 s later, comes after the next message.
  await using service = openSandbox({ speed: 20 });
  const order = walkIn(service);
  receiver.answers.push(503);
  service.sandbox.webhooks.register(receiver.url);
  await order.step();
  await order.step();
  await service.sandbox.webhooks.settled();
  const [first, second] = walkInSteps;
  expect(statusesOf(receiver.received)).toEqual([first, second, first]);
});

test('Messages of different orders do not wait for each other', async () => {
  const arrivals: (() => void)[] = [];
  // Answers the first request only when the second is there; one after the other, both would be stuck.
  const server = createServer((_, response) => {
    arrivals.push(() => response.writeHead(204).end());
    if (arrivals.length === 2) for (const answer of arrivals) answer();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await using service = openSandbox();
  const { webhooks, orders } = service.sandbox;
  webhooks.register(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await walkIn(service).step();
  await service.ask('POST', `/v3/order/${at(orders(), 20).orderId}/test`);
  await webhooks.settled();
  expect(webhooks.sent.map(({ attempts, outcome }) => [attempts, outcome])).toEqual([
    [1, 'delivered'],
    [1, 'delivered'],
  ]);
  server.close();
});

test('With the knob duplicate each message comes twice under one id', async () => {
  await using receiver = await openReceiver();
  await using service = openSandbox();
  service.sandbox.webhooks.register(receiver.url);
  service.sandbox.webhooks.knobs.duplicate = true;
  await walkIn(service).step();
  await service.sandbox.webhooks.settled();
  expect(receiver.received.map((message) => message.id)).toEqual(['msg_1_00000001', 'msg_1_00000001']);
});

test('With the knob reorder a message comes after its successor, and the last one still comes', async () => {
  await using receiver = await openReceiver();
  await using service = openSandbox();
  service.sandbox.webhooks.register(receiver.url);
  service.sandbox.webhooks.knobs.reorder = true;
  await walkIn(service).complete('normal');
  await service.sandbox.webhooks.settled();
  const [first, second, third, fourth, fifth] = walkInSteps;
  expect(statusesOf(receiver.received)).toEqual([second, first, fourth, third, fifth]);
});

test('With the knob drop messages are lost, by number or by choice', async () => {
  await using receiver = await openReceiver();
  await using service = openSandbox();
  const { webhooks } = service.sandbox;
  const order = walkIn(service);
  webhooks.register(receiver.url);
  webhooks.knobs.drop = 1;
  await order.step();
  await order.step();
  webhooks.knobs.drop = (message) => message.orderId === order.orderId;
  await order.step();
  await webhooks.settled();
  expect(statusesOf(receiver.received)).toEqual(walkInSteps.slice(1, 2));
  expect(webhooks.sent.map(({ outcome }) => outcome)).toEqual(['dropped', 'delivered', 'dropped']);
});

test('With the knob wrongSignature nobody can verify a message', async () => {
  await using receiver = await openReceiver();
  await using service = openSandbox();
  service.sandbox.webhooks.register(receiver.url);
  service.sandbox.webhooks.knobs.wrongSignature = true;
  await walkIn(service).step();
  await service.sandbox.webhooks.settled();
  expect(receiver.received.map(isSigned)).toEqual([false]);
});

test('An event of any type can be sent', async () => {
  await using receiver = await openReceiver();
  await using service = openSandbox();
  const { webhooks, users, teamId } = service.sandbox;
  const { userId } = at(users(), 2);
  webhooks.register(receiver.url);
  const messageId = webhooks.send('moon.phase.created', { phase: 'full' }, { userId });
  await webhooks.settled();
  expect(receiver.received.map(({ id, body }) => [id, body])).toEqual([
    [
      messageId,
      {
        event_type: 'moon.phase.created',
        data: { phase: 'full' },
        team_id: teamId,
        user_id: userId,
        client_user_id: 'member-0003',
      },
    ],
  ]);
});

test('Without an address nothing is sent and nothing is stored for later', async () => {
  await using receiver = await openReceiver();
  await using service = openSandbox();
  await walkIn(service).step();
  service.sandbox.webhooks.register(receiver.url);
  await service.sandbox.webhooks.settled();
  expect(service.sandbox.webhooks.sent).toMatchObject([{ attempts: 0, outcome: 'unaddressed' }]);
  expect(receiver.received).toEqual([]);
});

test('A broker that the library refuses to open is a receiver that fails', async () => {
  await using service = openSandbox({ speed: 10_000_000 });
  const { webhooks } = service.sandbox;
  webhooks.register('eventhubs://%20:key@127.0.0.1:1/hub');
  webhooks.send('new.type', {}, { userId: at(service.sandbox.users(), 0).userId });
  await webhooks.settled();
  expect(webhooks.sent).toMatchObject([{ attempts: 8, outcome: 'given_up' }]);
});
