import { expect, test } from 'vitest';
import { gatewayKey, startLab } from '../support/lab.ts';
import { type LaggingService, startLaggingService } from '../support/lagging-service.ts';
import { patient, physician } from '../support/ordering.ts';
import { transports } from '../support/subscribe.ts';

const simulate = 'mutation ($id: ID!) { simulateOrder(id: $id) { __typename } }';

/** A gateway whose service answers reads from a copy that can be held back. */
async function startLagging() {
  let service: LaggingService | undefined;
  const lab = await startLab({
    serve: async (sandbox) => {
      const { url } = await sandbox.listen({ host: '127.0.0.1', port: 0 });
      service = await startLaggingService(url);
      return service.url;
    },
  });
  if (service === undefined) throw new Error('The service was not started.');
  return { lab, service };
}

async function readEverywhere(lab: Awaited<ReturnType<typeof startLab>>, orderId: string, userId: string) {
  const answer = await lab.query(`{
    order(id: "${orderId}") { lastEvent { id } }
    user(id: "${userId}") { orders(first: 100) { nodes { id lastEvent { id } } } }
    orders(first: 100, filter: { orderIds: ["${orderId}"] }) { nodes { id lastEvent { id } } }
  }`);
  expect(answer.errors).toBeUndefined();
  const inList = (nodes: readonly { id: string; lastEvent: { id: string } }[]) =>
    nodes.find(({ id }) => id === orderId)?.lastEvent.id;
  const { order, user, orders } = answer.data;
  return [order.lastEvent.id, inList(user.orders.nodes), inList(orders.nodes)];
}

test.each(transports)(
  'A query after a change seen over %s is never older, from any replica the service reads',
  async (_name, subscribe) => {
    const { lab, service } = await startLagging();
    await using _ = lab;
    const order = lab.sandbox.orders().find(({ status }) => status === 'received.walk_in_test.ordered');
    const { orderId = '', userId = '' } = order ?? {};
    const before = await readEverywhere(lab, orderId, userId);
    service.hold();
    const updates = await subscribe({
      url: lab.url,
      token: gatewayKey,
      query:
        'subscription ($id: ID!) { orderUpdates(orderId: $id) { kind event { id } order { lastEvent { id } } } }',
      variables: { id: orderId },
    });
    await updates.next();

    await lab.query(simulate, { variables: { id: orderId } });
    const seen = (await updates.next())?.data.orderUpdates;

    expect(seen.kind).toBe('CHANGED');
    expect(Number(seen.event.id)).toBeGreaterThan(Number(before[0]));
    expect(await readEverywhere(lab, orderId, userId)).toEqual(Array(3).fill(seen.event.id));
    const again = await subscribe({
      url: lab.url,
      token: gatewayKey,
      query: 'subscription ($id: ID!) { orderUpdates(orderId: $id) { kind order { lastEvent { id } } } }',
      variables: { id: orderId },
    });
    expect((await again.next())?.data.orderUpdates).toEqual({
      kind: 'SNAPSHOT',
      order: { lastEvent: { id: seen.event.id } },
    });
    await Promise.all([updates.close(), again.close(), service.close()]);
  },
);

test('An order that has moved to another user is out of sight at once, even where the service still shows it', async () => {
  const { lab, service } = await startLagging();
  await using _ = lab;
  const kit = lab.sandbox.orders().find(({ status }) => status.endsWith('testkit.with_customer'));
  const other = lab.sandbox.users().find(({ userId }) => userId !== kit?.userId);
  const { orderId = '', userId = '' } = kit ?? {};
  const token = await lab.tokenFor(userId);
  const ask = async () =>
    (await lab.query(`{ order(id: "${orderId}") { id sampleId } }`, { token })).data.order;
  const { sampleId } = await ask();
  service.hold();

  const answer = await lab.query(
    'mutation ($input: RegisterTestkitInput!) { registerTestkit(input: $input) { __typename } }',
    { variables: { input: { ...patient, physician, sampleId, userId: other?.userId } } },
  );
  await lab.sandbox.webhooks.settled();

  expect(answer.data.registerTestkit.__typename).toBe('TestkitRegistered');
  expect(await ask()).toBeNull();
  await service.close();
});
