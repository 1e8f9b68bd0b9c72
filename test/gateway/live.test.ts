import { describe, expect, test } from 'vitest';
import { gatewayKey, type Lab, serviceKey, startLab } from '../support/lab.ts';
import { type Subscribed, subscribeOverSse, transports } from '../support/subscribe.ts';

const orderUpdates = `subscription ($orderId: ID!, $after: EventCursor) {
  orderUpdates(orderId: $orderId, after: $after) {
    cursor kind event { id status { raw } } order { id status { raw } lastEvent { id } }
  }
}`;
const userOrderUpdates = `subscription ($userId: ID!, $after: EventCursor) {
  userOrderUpdates(userId: $userId, after: $after) { cursor kind order { id status { raw } } event { id } }
}`;
const simulate = 'mutation ($id: ID!) { simulateOrder(id: $id) { __typename } }';

/** A walk-in order at its very start, with its whole life before it. */
function freshOrder(lab: Lab) {
  const order = lab.sandbox.orders().find(({ status }) => status === 'received.walk_in_test.ordered');
  if (order === undefined) throw new Error('The world has no fresh walk-in order.');
  return order;
}

async function readFromService(lab: Lab, orderId: string) {
  const headers = { 'x-service-api-key': serviceKey };
  return await (await fetch(`${lab.serviceUrl}/v3/order/${orderId}`, { headers })).json();
}

async function step(lab: Lab, orderId: string): Promise<void> {
  const answer = await lab.query(simulate, { variables: { id: orderId } });
  expect(answer.data.simulateOrder.__typename).toBe('OrderSimulated');
  await lab.sandbox.webhooks.settled();
}

async function nextUpdate(updates: Subscribed) {
  const result = await updates.next();
  expect(result?.errors).toBeUndefined();
  return Object.values(result?.data ?? {})[0] as {
    cursor: string;
    kind: string;
    event: { id: string; status: { raw: string } } | null;
    order: { id: string; status: { raw: string }; lastEvent: { id: string } };
  };
}

describe.each(transports)('a subscriber over %s', (_name, subscribe) => {
  test('sees the order as it is, then every step in order', async () => {
    await using lab = await startLab({ eventLog: 'sqlite' });
    const { orderId } = freshOrder(lab);
    const updates = await subscribe({
      url: lab.url,
      token: gatewayKey,
      query: orderUpdates,
      variables: { orderId },
    });

    const snapshot = await nextUpdate(updates);
    expect(snapshot).toMatchObject({ kind: 'SNAPSHOT', event: null, order: { id: orderId } });

    const seen: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      await step(lab, orderId);
      const update = await nextUpdate(updates);
      expect(update.kind).toBe('CHANGED');
      seen.push(update.event?.status.raw ?? '');
    }
    expect(seen).toEqual([
      'received.walk_in_test.requisition_created',
      'collecting_sample.walk_in_test.appointment_pending',
      'collecting_sample.walk_in_test.appointment_scheduled',
    ]);
    await updates.close();
  });

  test('goes on after its cursor, missing and repeating nothing', async () => {
    await using lab = await startLab({ eventLog: 'sqlite' });
    const { orderId } = freshOrder(lab);
    const first = await subscribe({
      url: lab.url,
      token: gatewayKey,
      query: orderUpdates,
      variables: { orderId },
    });
    await nextUpdate(first);
    await step(lab, orderId);
    const { cursor: after, event } = await nextUpdate(first);
    await first.close();
    await step(lab, orderId);
    await step(lab, orderId);

    const second = await subscribe({
      url: lab.url,
      token: gatewayKey,
      query: orderUpdates,
      variables: { orderId, after },
    });
    const resumed = [await nextUpdate(second), await nextUpdate(second)];
    expect(resumed.map(({ kind }) => kind)).toEqual(['CHANGED', 'CHANGED']);
    const ids = [event, ...resumed.map((update) => update.event)].map((item) => Number(item?.id));
    expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
    await second.close();
  });

  test('does not receive a change that its snapshot already showed', async () => {
    await using lab = await startLab({ eventLog: 'sqlite' });
    const { orderId } = freshOrder(lab);
    lab.sandbox.webhooks.knobs.reorder = true;
    await lab.query(simulate, { variables: { id: orderId } });
    const updates = await subscribe({
      url: lab.url,
      token: gatewayKey,
      query: orderUpdates,
      variables: { orderId },
    });
    const snapshot = await nextUpdate(updates);
    expect(snapshot.order.status.raw).toBe('received.walk_in_test.requisition_created');

    lab.sandbox.webhooks.knobs.reorder = false;
    await lab.sandbox.webhooks.settled();
    await step(lab, orderId);
    expect((await nextUpdate(updates)).event?.status.raw).toBe(
      'collecting_sample.walk_in_test.appointment_pending',
    );
    await updates.close();

    const resumed = await subscribe({
      url: lab.url,
      token: gatewayKey,
      query: orderUpdates,
      variables: { orderId, after: snapshot.cursor },
    });
    expect((await nextUpdate(resumed)).event?.status.raw).toBe(
      'collecting_sample.walk_in_test.appointment_pending',
    );
    await resumed.close();
  });

  test('receives a duplicated webhook once', async () => {
    await using lab = await startLab({ eventLog: 'sqlite' });
    const { orderId } = freshOrder(lab);
    lab.sandbox.webhooks.knobs.duplicate = true;
    const updates = await subscribe({
      url: lab.url,
      token: gatewayKey,
      query: orderUpdates,
      variables: { orderId },
    });
    await nextUpdate(updates);
    await step(lab, orderId);
    await step(lab, orderId);
    const seen = [await nextUpdate(updates), await nextUpdate(updates)].map(({ event }) => event?.status.raw);
    expect(seen).toEqual([
      'received.walk_in_test.requisition_created',
      'collecting_sample.walk_in_test.appointment_pending',
    ]);
    await updates.close();
  });

  test('follows all orders of a user: one snapshot each, then changes', async () => {
    await using lab = await startLab({ eventLog: 'sqlite' });
    const { orderId, userId } = freshOrder(lab);
    const own = lab.sandbox.orders().filter((order) => order.userId === userId);
    const token = await lab.tokenFor(userId);
    const updates = await subscribe({ url: lab.url, token, query: userOrderUpdates, variables: { userId } });
    const snapshots = [];
    for (const _ of own) snapshots.push(await nextUpdate(updates));
    expect(new Set(snapshots.map(({ order }) => order.id))).toEqual(
      new Set(own.map((order) => order.orderId)),
    );
    expect(new Set(snapshots.map(({ kind }) => kind))).toEqual(new Set(['SNAPSHOT']));

    await step(lab, orderId);
    expect(await nextUpdate(updates)).toMatchObject({ kind: 'CHANGED', order: { id: orderId } });
    await updates.close();
  });

  test("gets for another user's order exactly what it gets for a random id", async () => {
    await using lab = await startLab({ eventLog: 'sqlite' });
    const { orderId, userId } = freshOrder(lab);
    const other = lab.sandbox.users().find((user) => user.userId !== userId);
    const token = await lab.tokenFor(other?.userId ?? '');
    const answers = [];
    for (const id of [orderId, crypto.randomUUID()]) {
      const updates = await subscribe({
        url: lab.url,
        token,
        query: orderUpdates,
        variables: { orderId: id },
      });
      answers.push(await updates.next().catch((error: unknown) => error));
      await updates.close();
    }
    expect(JSON.stringify(answers[0])).toContain('NOT_FOUND');
    expect(answers[0]).toEqual(answers[1]);
  });

  test('loses an order that moves to somebody else, and receives no more of it', async () => {
    await using lab = await startLab({ eventLog: 'sqlite' });
    const { orderId, userId } = freshOrder(lab);
    const other = lab.sandbox.users().find((user) => user.userId !== userId)?.userId ?? '';
    const token = await lab.tokenFor(userId);
    const updates = await subscribe({ url: lab.url, token, query: orderUpdates, variables: { orderId } });
    const snapshot = await nextUpdate(updates);

    const order = await readFromService(lab, orderId);
    const event = { ...order.last_event, id: order.last_event.id + 1, status: 'received.walk_in_test.moved' };
    const moved = { ...order, user_id: other, events: [...order.events, event], last_event: event };
    lab.sandbox.webhooks.send('labtest.order.updated', moved, { userId: other });
    await lab.sandbox.webhooks.settled();
    expect(await updates.next()).toBeNull();

    const resumed = await subscribe({
      url: lab.url,
      token,
      query: orderUpdates,
      variables: { orderId, after: snapshot.cursor },
    });
    expect(await resumed.next()).toBeNull();
  });

  test('is refused a cursor of another order', async () => {
    await using lab = await startLab({ eventLog: 'sqlite' });
    const [one, two] = lab.sandbox.orders();
    const first = await subscribe({
      url: lab.url,
      token: gatewayKey,
      query: orderUpdates,
      variables: { orderId: one?.orderId },
    });
    const { cursor: after } = await nextUpdate(first);
    await first.close();
    const second = await subscribe({
      url: lab.url,
      token: gatewayKey,
      query: orderUpdates,
      variables: { orderId: two?.orderId, after },
    });
    const answer = await second.next().catch((error: unknown) => error);
    expect(JSON.stringify(answer)).toContain('BAD_CURSOR');
    await second.close();
  });
});

test('a server of the team receives events of every type, an unknown one with its payload', async () => {
  await using lab = await startLab({ eventLog: 'sqlite' });
  const [, subscribe] = transports[0] ?? [];
  const user = lab.sandbox.users()[0];
  const events = await subscribe?.({
    url: lab.url,
    token: gatewayKey,
    query: `subscription { events { __typename type userId cursor
      ... on UnknownEvent { payload } ... on OrderEventReceived { order { id } event { status { raw } } } } }`,
  });
  const { orderId } = freshOrder(lab);
  lab.sandbox.webhooks.send('daily.data.glucose.created', { value: 1 }, { userId: user?.userId ?? '' });
  await lab.sandbox.webhooks.settled();
  await step(lab, orderId);

  expect((await events?.next())?.data.events).toMatchObject({
    __typename: 'UnknownEvent',
    type: 'daily.data.glucose.created',
    userId: user?.userId,
    payload: { value: 1 },
  });
  expect((await events?.next())?.data.events).toMatchObject({
    __typename: 'OrderEventReceived',
    type: 'labtest.order.updated',
    order: { id: orderId },
    event: { status: { raw: 'received.walk_in_test.requisition_created' } },
  });
  await events?.close();
});

test('a viewer token cannot follow the events of the team', async () => {
  await using lab = await startLab({ eventLog: 'sqlite' });
  const [, subscribe] = transports[1] ?? [];
  const token = await lab.tokenFor(lab.sandbox.users()[0]?.userId ?? '');
  const events = await subscribe?.({ url: lab.url, token, query: 'subscription { events { type } }' });
  const answer = await events?.next().catch((error: unknown) => error);
  expect(JSON.stringify(answer)).toContain('FORBIDDEN');
  await events?.close();
});

test("the team's stream begins at a cursor that was asked for before its first event, and shows each event as it was sent", async () => {
  await using lab = await startLab({ eventLog: 'sqlite' });
  const types = ['moon.phase.created'];
  const ask = 'query ($types: [String!]) { eventCursor(types: $types) }';
  const [first, second] = [
    (await lab.query(ask, { variables: { types } })).data.eventCursor,
    (await lab.query(ask)).data.eventCursor,
  ];
  const { userId } = freshOrder(lab);
  lab.sandbox.webhooks.send('moon.phase.created', { phase: 'full' }, { userId });
  await lab.sandbox.webhooks.settled();
  expect((await lab.query(ask, { variables: { types } })).data.eventCursor).not.toBe(first);

  const query = `subscription ($after: EventCursor, $types: [String!]) {
    events(after: $after, types: $types) { type payload }
  }`;
  const updates = await subscribeOverSse({
    url: lab.url,
    token: gatewayKey,
    query,
    variables: { after: first, types },
  });
  expect((await updates.next())?.data.events).toEqual({
    type: 'moon.phase.created',
    payload: { phase: 'full' },
  });
  await updates.close();

  // It belongs to the stream with these arguments.
  const of = { url: lab.url, token: gatewayKey, query, variables: { after: second, types } };
  const refused = await (await subscribeOverSse(of)).next();
  expect(refused?.errors?.[0]?.extensions.code).toBe('BAD_CURSOR');
});
