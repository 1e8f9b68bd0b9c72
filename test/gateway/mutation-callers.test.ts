import { describe, expect, test } from 'vitest';
import { json, reset, silence } from '../support/misbehaving-service.ts';
import { labTestOf, patient } from '../support/ordering.ts';
import { type SpoiltLab, startSpoiltLab } from '../support/spoilt-lab.ts';

const createOrder = /^POST \/v3\/order$/;
const ofOrders = { scopes: ['read:orders', 'write:orders'] };

function userAt(lab: SpoiltLab, index: number): string {
  const user = lab.sandbox.users()[index];
  if (user === undefined) throw new Error('The world has too few users.');
  return user.userId;
}

function inputFor(lab: SpoiltLab, userId: string) {
  return {
    userId,
    orderSet: { labTestIds: [labTestOf(lab, 'at_home_phlebotomy')] },
    idempotencyKey: 'the-same-key',
    ...patient,
  };
}

async function place(lab: SpoiltLab, userId: string, token?: string) {
  const answer = await lab.query(
    `mutation ($input: CreateOrderInput!) { result: createOrder(input: $input) {
      __typename ... on OrderCreated { order { id userId patient { firstName } } } } }`,
    { variables: { input: inputFor(lab, userId) }, ...(token === undefined ? {} : { token }) },
  );
  return { result: answer.data?.result, error: answer.errors?.[0]?.extensions };
}

const placedBy = (lab: SpoiltLab) => lab.sent.filter(({ call }) => createOrder.test(call)).length;

describe('one idempotency key', () => {
  test('of two viewers and a server makes an order for each, and shows none to the others', async () => {
    await using lab = await startSpoiltLab();
    const [mine, theirs] = [userAt(lab, 0), userAt(lab, 1)];
    const [me, them] = await Promise.all([lab.tokenFor(mine, ofOrders), lab.tokenFor(theirs, ofOrders)]);
    const results = await Promise.all([place(lab, mine, me), place(lab, theirs, them), place(lab, mine)]);
    expect(results.map((each) => each.result.order.userId)).toEqual([mine, theirs, mine]);
    expect(new Set(results.map((each) => each.result.order.id)).size).toBe(3);
    expect(await place(lab, theirs, me)).toMatchObject({ result: { __typename: 'NotFound' } });
    expect(placedBy(lab)).toBe(3);
  });

  test('of one user under two tokens is one key', async () => {
    await using lab = await startSpoiltLab();
    const userId = userAt(lab, 0);
    const [first, second] = [await lab.tokenFor(userId, ofOrders), await lab.tokenFor(userId, ofOrders)];
    const results = [await place(lab, userId, first), await place(lab, userId, second)];
    expect(results[0]?.result.order.id).toBe(results[1]?.result.order.id);
    expect(placedBy(lab)).toBe(1);
  });
});

/** An order of somebody else, as the service has it. */
async function orderOfAnother(lab: SpoiltLab, userId: string): Promise<unknown> {
  const other = lab.sandbox.orders().find((order) => order.userId !== userId);
  return await lab.peek(`/v3/order/${other?.orderId}`);
}

describe("an answer with another user's order", () => {
  test.each([
    ['a viewer', true],
    ['a server of the team', false],
  ])('is not shown to %s, who gets its own order', async (_, isViewer) => {
    await using lab = await startSpoiltLab();
    const userId = userAt(lab, 0);
    const token = isViewer ? await lab.tokenFor(userId, ofOrders) : undefined;
    const order = await orderOfAnother(lab, userId);
    lab.spoil({ at: createOrder, isDone: true, answer: json({ order, status: 'success', message: '' }) });
    const results = [await place(lab, userId, token), await place(lab, userId, token)];
    expect(results.map((each) => each.result?.order.userId)).toEqual([userId, userId]);
    expect(placedBy(lab)).toBe(1);
  });

  test('is an open fault where nothing was placed, and never placed again under the key', async () => {
    await using lab = await startSpoiltLab();
    const userId = userAt(lab, 0);
    const token = await lab.tokenFor(userId, ofOrders);
    const order = await orderOfAnother(lab, userId);
    lab.spoil({ at: createOrder, isDone: false, answer: json({ order, status: 'success', message: '' }) });
    const open = { result: null, error: { code: 'UPSTREAM_UNREADABLE', mayHaveBeenDone: true } };
    expect(await place(lab, userId, token)).toEqual(open);
    expect(await place(lab, userId, token)).toEqual(open);
    expect(placedBy(lab)).toBe(1);
  });

  test('is not shown to who cancels', async () => {
    await using lab = await startSpoiltLab();
    const kit = lab.sandbox.orders().find(({ status }) => status.endsWith('testkit.awaiting_registration'));
    if (kit === undefined) throw new Error('The world has no such kit.');
    const order = await orderOfAnother(lab, kit.userId);
    const token = await lab.tokenFor(kit.userId, ofOrders);
    lab.spoil({ at: /cancel$/, isDone: false, answer: json({ order, status: 'success', message: '' }) });
    const answer = await lab.query(`mutation { cancelOrder(id: "${kit.orderId}") { __typename } }`, {
      token,
    });
    expect(answer.errors?.[0].extensions).toEqual({ code: 'UPSTREAM_UNREADABLE', mayHaveBeenDone: true });
  });
});

test.concurrent('an answer that does not come within 15 s is a timeout, and the order is placed once', async () => {
  await using lab = await startSpoiltLab();
  const userId = userAt(lab, 0);
  lab.spoil({ at: createOrder, isDone: true, answer: silence });
  const results = await Promise.all([place(lab, userId), place(lab, userId)]);
  const later = await place(lab, userId);
  expect(new Set([...results, later].map((each) => each.result?.order.id)).size).toBe(1);
  expect(placedBy(lab)).toBe(1);
});

test.concurrent('silence about nothing done stays open, and the key waits', async () => {
  await using lab = await startSpoiltLab();
  const userId = userAt(lab, 0);
  lab.spoil({ at: createOrder, isDone: false, answer: silence });
  const silent = await place(lab, userId);
  const later = await place(lab, userId);
  expect(silent.error).toEqual({ code: 'UPSTREAM_TIMEOUT', mayHaveBeenDone: true });
  expect(later.error).toMatchObject({ code: 'IDEMPOTENCY_UNSETTLED', mayHaveBeenDone: true });
  expect(placedBy(lab)).toBe(1);
});

test('a fault while looking for a lost order leaves it open, and the repeat finds it', async () => {
  await using lab = await startSpoiltLab();
  const userId = userAt(lab, 0);
  lab.spoil({ at: createOrder, isDone: true, answer: reset });
  lab.spoil({ at: /^GET \/orders/, isDone: false, answer: reset, times: 3 });
  const lost = await place(lab, userId);
  const found = await place(lab, userId);
  expect(lost.error).toEqual({ code: 'UPSTREAM_UNAVAILABLE', mayHaveBeenDone: true });
  expect(found.result.__typename).toBe('OrderCreated');
  expect(placedBy(lab)).toBe(1);
});
