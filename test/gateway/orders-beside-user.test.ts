import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createGatedService } from '../support/gated-service.ts';
import { type Lab, readAnew, startLab } from '../support/lab.ts';
import { nodeIdOf } from '../support/node-id.ts';

const anyRows = expect.any(Array);
const [userPath, ordersPath] = ['/v2/user/', '/orders'];
/** What a call asks for. */
const kindOf = (url: string) => [userPath, ordersPath].find((path) => url.startsWith(path)) ?? url;

describe.each([
  ['with default settings', {}],
  ['with READ_CACHE_SECONDS=0', readAnew],
])("A user's orders, %s", (_name, env) => {
  const service = createGatedService();
  let lab: Lab;
  let users: string[];
  let userId: string;
  let calls: string[];

  beforeAll(async () => {
    lab = await startLab({ env, serve: service.serve });
    users = lab.sandbox.users().map((user) => user.userId);
  });
  afterAll(async () => {
    await lab[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    // Nobody has asked for this user before.
    userId = users.pop() ?? '';
    calls = [];
  });

  /** The service answers nothing before both have been asked for. */
  const answerBoth = () => {
    const both = Promise.withResolvers<void>();
    service.through(async (url) => {
      calls.push(kindOf(url));
      if (calls.includes(userPath) && calls.includes(ordersPath)) both.resolve();
      await both.promise;
    });
  };
  /** The service answers for the user last, long after the orders. */
  const answerUserLast = () => {
    service.through(async (url) => {
      calls.push(kindOf(url));
      if (kindOf(url) === userPath) await new Promise((resolve) => setTimeout(resolve, 200));
    });
  };

  const page = 'fragment page on User { id ... on Node { ... on User { ... { orders { nodes { id } } } } } }';
  test.each([
    ['user', (id: string) => `{ user(id: "${id}") { id orders { nodes { id } } } }`],
    ['node', (id: string) => `{ node(nodeId: "${nodeIdOf('User', id)}") { ...page } } ${page}`],
    ['a fragment', (id: string) => `{ user(id: "${id}") { ...page } } ${page}`],
  ])('are read beside the user: %s', async (_by, ask) => {
    answerBoth();
    const { data, errors } = await lab.query(ask(userId));
    expect(errors).toBeUndefined();
    expect(Object.values(data)).toMatchObject([{ id: userId, orders: { nodes: anyRows } }]);
    expect(calls).toEqual([userPath, ordersPath]);
  });

  test('are read beside the viewer', async () => {
    answerBoth();
    const token = await lab.tokenFor(userId);
    const { data, errors } = await lab.query('{ viewer { user { id orders { nodes { id } } } } }', { token });
    expect(errors).toBeUndefined();
    expect(data.viewer.user).toMatchObject({ id: userId, orders: { nodes: anyRows } });
    expect(calls).toEqual([userPath, ordersPath]);
  });

  test('are read once, however late the user comes', async () => {
    answerUserLast();
    const { data, errors } = await lab.query(
      `query ($first: Int) { user(id: "${userId.toUpperCase()}") {
        orders(first: $first) { nodes { id } } again: orders(first: 3) { totalCount } more: orders(first: 4) { totalCount } } }`,
      { variables: { first: 3 } },
    );
    expect(errors).toBeUndefined();
    expect(data.user).toMatchObject({ orders: { nodes: anyRows }, again: {}, more: {} });
    expect(calls.toSorted()).toEqual([ordersPath, ordersPath, userPath]);
  });

  test('are not read where the query skips them', async () => {
    answerUserLast();
    await lab.query(
      `query ($no: Boolean!, $yes: Boolean!) { user(id: "${userId}") {
        orders @include(if: $no) { totalCount } ... @skip(if: $yes) { orders { totalCount } } } }`,
      { variables: { no: false, yes: true } },
    );
    expect(calls).toEqual([userPath]);
  });

  test("are not read for somebody else's user", async () => {
    answerUserLast();
    const token = await lab.tokenFor(userId);
    const other = users.pop();
    const { data } = await lab.query(`{ user(id: "${other}") { orders { totalCount } } }`, { token });
    expect(data).toEqual({ user: null });
    expect(calls).toEqual([]);
  });

  test('are the business of the executor where a variable does not fit their directive', async () => {
    const query = (id: string) =>
      `query ($no: Boolean = false) { user(id: "${id}") { id orders @skip(if: $no) { totalCount } } }`;
    const options = { variables: { no: null } };
    const none = await lab.query(query('00000000-0000-4000-8000-000000000000'), options);
    const faulty = await lab.query(query(userId), options);
    expect(none).toEqual({ status: 200, data: { user: null } });
    expect(faulty.errors).toMatchObject([{ path: ['user'], extensions: { code: 'BAD_USER_INPUT' } }]);
  });

  test('change nothing if there is no such user, and fail alone', async () => {
    const missing = '00000000-0000-4000-8000-000000000000';
    answerUserLast();
    const query = (id: string) => `{ user(id: "${id}") { id orders(after: "no cursor") { totalCount } } }`;
    expect(await lab.query(query(missing))).toEqual({ status: 200, data: { user: null } });
    expect(await lab.query(query(userId))).toMatchObject({
      data: { user: { id: userId, orders: null } },
      errors: [{ path: ['user', 'orders'], extensions: { code: 'BAD_CURSOR' } }],
    });
  });
});
