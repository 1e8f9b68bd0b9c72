import { describe, expect, test } from 'vitest';
import { type Lab, serviceKey, startLab } from '../support/lab.ts';

const list = `query ($filter: OrderFilter, $first: Int, $after: String) {
  orders(first: $first, after: $after, filter: $filter) {
    totalCount pageInfo { hasNextPage endCursor } nodes { id method interpretationRaw status { step } }
  }
}`;

async function ask(lab: Lab, filter: object, page: object = { first: 100 }, token?: string) {
  const answer = await lab.query(list, {
    variables: { filter, ...page },
    ...(token === undefined ? {} : { token }),
  });
  return answer.data?.orders ?? answer;
}

const idsOf = (page: { nodes: readonly { id: string }[] }) => page.nodes.map(({ id }) => id);

describe('the order list', () => {
  test('lists only orders in the given steps, of every collection method', async () => {
    await using lab = await startLab();
    const page = await ask(lab, { statuses: ['COMPLETED', 'CORRECTED'] });
    expect(page.totalCount).toBe(11);
    const steps = page.nodes.map((order: { status: { step: string } }) => order.status.step);
    expect(new Set(steps)).toEqual(new Set(['COMPLETED', 'CORRECTED']));
    expect(lab.sandbox.calls.at(-1)).toContain('status=completed&status=corrected');
  });

  test('takes a step and a meaning that the graph does not know yet', async () => {
    await using lab = await startLab();
    const newer = { orders: [], total: 7, page: 1, size: 20 };
    lab.sandbox.faults.add({
      path: '/orders',
      times: 1,
      effect: { kind: 'answer', status: 200, body: JSON.stringify(newer) },
    });
    const byStep = await ask(lab, { statuses: ['LOST'], statusesRaw: ['lost', 'on_the_moon'] });
    const byMeaning = await ask(lab, { interpretationRaw: 'unknown' });
    expect([byStep.totalCount, byMeaning.totalCount]).toEqual([7, 0]);
    expect(lab.sandbox.calls[0]).toContain('status=lost&status=on_the_moon');
    expect(lab.sandbox.calls[1]).toContain('interpretation=unknown');
  });

  test('names the filter with a step that even the service does not know', async () => {
    await using lab = await startLab();
    const { errors } = await ask(lab, { stepsRaw: ['on_the_moon'] });
    expect(errors).toMatchObject([
      {
        message: 'The service does not accept the value of filter.stepsRaw.',
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ]);
  });

  test('lists only orders with the given collection methods and interpretations', async () => {
    await using lab = await startLab();
    const onSite = await ask(lab, { methods: ['ON_SITE_COLLECTION'] });
    const abnormal = await ask(lab, { interpretation: 'ABNORMAL', methods: ['TESTKIT', 'WALK_IN_TEST'] });
    expect(onSite.totalCount).toBe(8);
    expect(new Set(onSite.nodes.map((order: { method: string }) => order.method))).toEqual(
      new Set(['ON_SITE_COLLECTION']),
    );
    expect(abnormal.totalCount).toBe(3);
  });

  test('lists only orders created and changed within the given times, ends included', async () => {
    await using lab = await startLab();
    const [first, second] = lab.sandbox.orders();
    const created = await ask(lab, {
      createdAfter: '2025-06-02T13:00:00Z',
      createdBefore: '2025-06-06T13:00:00Z',
    });
    const updated = await ask(lab, { updatedAfter: '2025-11-05T13:00:00Z' });
    const none = await ask(lab, { updatedBefore: '2025-06-02T13:00:00Z' });
    expect(idsOf(created)).toEqual([second?.orderId, first?.orderId]);
    expect([updated.totalCount, none.totalCount]).toEqual([9, 0]);
  });

  test('finds orders by the name of the patient and by id', async () => {
    await using lab = await startLab();
    const order = lab.sandbox.orders()[20];
    expect((await ask(lab, { search: ' blake okereke ' })).totalCount).toBe(5);
    expect(idsOf(await ask(lab, { search: order?.orderId }))).toEqual([order?.orderId]);
  });

  test('an empty choice matches nothing and asks nobody', async () => {
    await using lab = await startLab();
    const pages = [await ask(lab, { statuses: [] }), await ask(lab, { methods: [] })];
    expect(pages.map(({ totalCount, nodes }) => [totalCount, nodes])).toEqual([
      [0, []],
      [0, []],
    ]);
    expect(lab.sandbox.calls).toEqual([]);
  });

  test('a cursor of one filter is refused by another', async () => {
    await using lab = await startLab();
    const { pageInfo } = await ask(lab, { statuses: ['COMPLETED'] }, { first: 2 });
    const next = await ask(lab, { statuses: ['COMPLETED'] }, { first: 100, after: pageInfo.endCursor });
    const other = await ask(lab, { statuses: ['ORDERED'] }, { first: 2, after: pageInfo.endCursor });
    expect(next.nodes).toHaveLength(8);
    expect(next.pageInfo.hasNextPage).toBe(false);
    expect(other.errors[0].extensions.code).toBe('BAD_CURSOR');
  });

  test('an order of which hardly anything is there stays in the list', async () => {
    await using lab = await startLab();
    const { orderId, userId } = lab.sandbox.orders()[0] ?? {};
    const body = JSON.stringify({
      orders: [{ id: orderId, user_id: userId, order_transaction: { id: 't' } }],
    });
    lab.sandbox.faults.add({ path: '/orders', effect: { kind: 'answer', status: 200, body } });
    const { data, errors } = await lab.query(
      `{ orders { nodes {
        id status { raw stage } events { id } icdCodes physician { npi } parent { id } transaction { orders { id } }
      } } }`,
    );
    expect(errors).toBeUndefined();
    expect(data.orders.nodes).toEqual([
      {
        id: orderId,
        status: { raw: '', stage: 'UNKNOWN' },
        events: [],
        icdCodes: [],
        physician: null,
        parent: null,
        transaction: { orders: [] },
      },
    ]);
  });

  test('a viewer finds only own orders, with any filter', async () => {
    await using lab = await startLab();
    const [mine, theirs] = lab.sandbox.users();
    const scopes = ['read:orders', 'read:profile'];
    const token = await lab.tokenFor(mine?.userId ?? '', { scopes });
    const own = lab.sandbox.orders().filter(({ userId }) => userId === mine?.userId);
    expect((await ask(lab, { search: 'blake okereke' }, {}, token)).nodes).toEqual([]);
    expect((await ask(lab, { search: theirs?.userId }, {}, token)).nodes).toEqual([]);
    const all = await ask(lab, { methods: ['TESTKIT', 'WALK_IN_TEST'] }, { first: 100 }, token);
    expect(idsOf(all).every((id) => own.some(({ orderId }) => orderId === id))).toBe(true);
  });
});

const transaction = `query ($id: ID!) { order(id: $id) {
  id parent { id }
  transaction { id status statusRaw orders { id origin originRaw step parentId order { id status { step } } parent { id } } }
} }`;

describe('a transaction', () => {
  /** A redraw and the order whose sample could not be used (places 10 and 11 of the sandbox's world). */
  function pickRedraw(lab: Lab) {
    const [parent, redraw] = lab.sandbox.orders().slice(10, 12);
    if (!parent || !redraw) throw new Error('The world has no redraw.');
    return { parent, redraw };
  }

  test('leads from a redraw to the order it follows, all in one call more', async () => {
    await using lab = await startLab();
    const { parent, redraw } = pickRedraw(lab);

    const { data } = await lab.query(transaction, { variables: { id: redraw.orderId } });

    expect(data.order).toMatchObject({
      id: redraw.orderId,
      parent: { id: parent.orderId },
      transaction: {
        status: 'ACTIVE',
        statusRaw: 'active',
        orders: [
          {
            origin: 'INITIAL',
            order: { id: parent.orderId, status: { step: 'REDRAW_AVAILABLE' } },
            parent: null,
          },
          { origin: 'REDRAW', order: { id: redraw.orderId }, parent: { id: parent.orderId } },
        ],
      },
    });
    expect(lab.sandbox.calls).toHaveLength(2);
  });

  test('leads to the followed order where the service writes the ids of the transaction in upper case', async () => {
    await using lab = await startLab();
    const { parent, redraw } = pickRedraw(lab);
    const headers = { 'x-service-api-key': serviceKey };
    const order = await (await fetch(`${lab.serviceUrl}/v3/order/${redraw.orderId}`, { headers })).json();
    const order_transaction = JSON.parse(
      JSON.stringify(order.order_transaction, (name, value) =>
        name === 'id' || name === 'parent_id' ? (value?.toUpperCase() ?? null) : value,
      ),
    );
    const body = JSON.stringify({ ...order, order_transaction });
    lab.sandbox.faults.add({
      path: `/v3/order/${redraw.orderId}`,
      effect: { kind: 'answer', status: 200, body },
    });

    const { data } = await lab.query(transaction, { variables: { id: redraw.orderId } });

    expect(data.order.parent).toEqual({ id: parent.orderId });
  });

  test('is found by its id in the list', async () => {
    await using lab = await startLab();
    const { parent, redraw } = pickRedraw(lab);
    const { data } = await lab.query(transaction, { variables: { id: redraw.orderId } });
    const page = await ask(lab, { transactionId: data.order.transaction.id });
    expect(idsOf(page)).toEqual([redraw.orderId, parent.orderId]);
  });

  test('shows a token for one order nothing of the others, not even that they are', async () => {
    await using lab = await startLab();
    const { redraw } = pickRedraw(lab);
    const token = await lab.tokenFor(redraw.userId, { orderIds: [redraw.orderId] });
    const { data } = await lab.query(transaction, { variables: { id: redraw.orderId }, token });
    expect(data.order.parent).toBeNull();
    expect(data.order.transaction.orders).toEqual([
      expect.objectContaining({ id: redraw.orderId, parentId: null, parent: null }),
    ]);
  });

  test('of an unknown kind stays readable', async () => {
    await using lab = await startLab();
    const { redraw } = pickRedraw(lab);
    const path = `${lab.serviceUrl}/v3/order/${redraw.orderId}`;
    const sent = await fetch(path, { headers: { 'x-service-api-key': 'canary-service-key-4f1d9a' } });
    const order = await sent.json();
    const odd = {
      ...order,
      billing_type: 'barter',
      physician: 'Dr. No',
      icd_codes: [7, 'E78.5'],
      order_transaction: {
        id: order.order_transaction.id,
        status: 'paused',
        orders: [{ id: redraw.orderId }, 3],
      },
    };
    lab.sandbox.faults.add({
      path: '/v3/order/',
      effect: { kind: 'answer', status: 200, body: JSON.stringify(odd) },
    });
    const { data, errors } = await lab.query(
      `{ order(id: "${redraw.orderId}") {
        physician { npi } billingType billingTypeRaw icdCodes
        transaction { status statusRaw orders { id step order { id } parent { id } } }
      } }`,
    );
    expect(errors).toBeUndefined();
    expect(data.order).toEqual({
      physician: null,
      billingType: null,
      billingTypeRaw: 'barter',
      icdCodes: ['E78.5'],
      transaction: {
        status: null,
        statusRaw: 'paused',
        orders: [{ id: redraw.orderId, step: null, order: { id: redraw.orderId }, parent: null }],
      },
    });
  });
});
