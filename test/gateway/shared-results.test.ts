import { GraphQLError, parse, print } from 'graphql';
import { expect, test, vi } from 'vitest';
import { type Permission, Rights, type UserCaller } from '../../gateway/auth/rights.ts';
import { type ItemArgs, shareKey, shareResult } from '../../gateway/execution/shared-results.ts';
import { createGateway } from '../../gateway/gateway.ts';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';
import { type Subscribed, subscribeOverSse, subscribeOverWebSocket } from '../support/subscribe.ts';

const document = `subscription ($orderId: ID!, $after: EventCursor, $named: Boolean = true) {
  orderUpdates(orderId: $orderId, after: $after) {
    cursor kind order { id status { raw } patient @include(if: $named) { firstName } }
  }
}`;

function freshOrder(lab: Lab) {
  const order = lab.sandbox.orders().find(({ status }) => status === 'received.walk_in_test.ordered');
  if (order === undefined) throw new Error('The world has no fresh walk-in order.');
  return order;
}

async function step(lab: Lab, orderId: string): Promise<void> {
  await lab.query('mutation ($id: ID!) { simulateOrder(id: $id) { __typename } }', {
    variables: { id: orderId },
  });
  await lab.sandbox.webhooks.settled();
}

/** Streams at their snapshot: from here on changes arrive. */
async function openAll(streams: readonly Promise<Subscribed>[]): Promise<readonly Subscribed[]> {
  const opened = await Promise.all(streams);
  await Promise.all(opened.map((stream) => stream.next()));
  return opened;
}

async function closeAll(streams: readonly Subscribed[]): Promise<void> {
  await Promise.all(streams.map((stream) => stream.close()));
}

test('an item is executed once for all streams of one document, equal variables and equal rights', async () => {
  let checks = 0;
  class CountedRights extends Rights {
    override has(permission: Permission): boolean {
      if (permission === 'read:profile') checks += 1;
      return super.has(permission);
    }
  }
  const createRights = (...parts: ConstructorParameters<typeof Rights>) => new CountedRights(...parts);
  await using lab = await startLab({
    make: (parts) => createGateway({ ...parts, factories: { createRights } }),
  });
  const { orderId, userId } = freshOrder(lab);
  const streams = await openAll(
    [subscribeOverSse, subscribeOverWebSocket, subscribeOverSse, subscribeOverWebSocket].map(
      async (subscribe) => {
        const token = await lab.tokenFor(userId, { scopes: ['read:orders', 'read:profile'] });
        return await subscribe({ url: lab.url, token, query: document, variables: { orderId } });
      },
    ),
  );
  // With the first change each stream finds out what it shares.
  await step(lab, orderId);
  const first = await Promise.all(streams.map((stream) => stream.next()));
  checks = 0;
  await step(lab, orderId);
  const second = await Promise.all(streams.map((stream) => stream.next()));
  expect(checks).toBe(1);
  expect(second).toEqual(Array.from(streams, () => second[0]));
  expect(second[0]?.data.orderUpdates.cursor).not.toBe(first[0]?.data.orderUpdates.cursor);
  await closeAll(streams);
});

test('streams of one order share nothing where their rights or variables differ', async () => {
  await using lab = await startLab({ eventLog: 'sqlite' });
  const { orderId, userId } = freshOrder(lab);
  const profile = { scopes: ['read:orders', 'read:profile'] };
  const callers = {
    whole: { token: await lab.tokenFor(userId, profile) },
    unnamed: { token: await lab.tokenFor(userId, profile), named: false },
    narrow: { token: await lab.tokenFor(userId, { scopes: ['read:orders'] }) },
    limited: { token: await lab.tokenFor(userId, { scopes: ['read:orders'], orderIds: [orderId] }) },
    team: { token: gatewayKey },
  };
  const wanted = Object.values(callers).map((caller) => ({ named: true, ...caller }));
  const subscribe = ({ token, named }: { token: string; named: boolean }, after?: string) =>
    subscribeOverWebSocket({ url: lab.url, token, query: document, variables: { orderId, named, after } });
  const streams = await openAll(wanted.map((each) => subscribe(each)));
  await step(lab, orderId);
  const changes = await Promise.all(streams.map((stream) => stream.next()));
  const [whole, unnamed, narrow, limited, team] = changes.map((change) => change?.data.orderUpdates);

  const patient = { firstName: expect.any(String) };
  expect([whole.order, team.order]).toEqual(Array(2).fill(expect.objectContaining({ patient })));
  expect(unnamed.order).not.toHaveProperty('patient');
  expect([narrow.order.patient, limited.order.patient]).toEqual([null, null]);
  expect(changes.map((change) => change?.errors?.map(({ extensions }) => extensions.code))).toEqual([
    ...[undefined, undefined, ['FORBIDDEN'], ['FORBIDDEN'], undefined],
  ]);

  // Each holds a cursor of its own, which resumes its own stream.
  expect(team.cursor).not.toBe(whole.cursor);
  await closeAll(streams);
  await step(lab, orderId);
  const cursors = changes.map((change) => change?.data.orderUpdates.cursor);
  const resumed = await Promise.all(wanted.map((each, index) => subscribe(each, cursors[index])));
  const next = await Promise.all(resumed.map((stream) => stream.next()));
  expect(next.map((change) => change?.data.orderUpdates.kind)).toEqual(wanted.map(() => 'CHANGED'));
  await closeAll(resumed);
});

interface Asking {
  readonly text?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly rights?: Partial<UserCaller>;
}

const query = parse('subscription ($a: Int = 1, $b: Int) { orderUpdates(orderId: "1") { cursor } }');
const onAccess = () => {};

/** An item of one stream, with the parts of its context that this module may touch. */
function itemOf(item: object, { text, variables, rights }: Asking = {}): ItemArgs {
  const asked = text === undefined ? query : parse(text);
  const caller: UserCaller = {
    ...{ kind: 'USER', userId: 'u1', orderIds: null, scopes: ['read:orders'], origins: null, tokenId: null },
    ...{ issuedAt: new Date(), expiresAt: new Date(), ...rights },
  };
  const service = { rights: new Rights(caller, onAccess), pathOf: (path: string) => path };
  const contextValue = {
    service,
    work: {},
    isTraced: false,
    loaders: {},
    events: {},
    caller,
    onUnknown() {},
  };
  const [operation] = asked.definitions;
  // Only these members are read.
  return {
    ...{ document: asked, operation, rawVariableValues: variables, rootValue: item, contextValue },
  } as unknown as ItemArgs;
}

test.each<readonly [string, Asking]>([
  ['another document', { text: 'subscription { orderUpdates(orderId: "1") { cursor } }' }],
  ['the same text in another document', { text: print(query) }],
  ['another variable', { variables: { a: 2 } }],
  ['a variable that is null, and not left out', { variables: { a: null } }],
  ['the same value in another variable', { variables: { b: 2 } }],
  ['another user', { rights: { userId: 'u2' } }],
  ['rights to some orders only', { rights: { orderIds: ['1'] } }],
  ['other scopes', { rights: { scopes: ['read:orders', 'read:profile'] } }],
])('a stream with %s has a key of its own', (_what, asking) => {
  expect(shareKey(itemOf({}, asking))).not.toBe(shareKey(itemOf({})));
});

test('streams with the same variables in another order, and other tokens of the same rights, have one key', () => {
  const one = itemOf({}, { variables: { a: 2, b: 3 }, rights: { tokenId: 't1' } });
  const other = itemOf({}, { variables: { b: 3, a: 2 }, rights: { tokenId: 't2' } });
  expect(shareKey(one)).toBe(shareKey(other));
});

/** How often three streams execute an item, and whether they get one result. */
async function shareAmongThree(execute: (item: ItemArgs) => unknown) {
  const item = {};
  let executions = 0;
  const results = await Promise.all(
    Array.from({ length: 3 }, () =>
      shareResult(itemOf(item), 'key', async (args) => {
        executions += 1;
        await execute(args);
        return { data: { execution: executions } };
      }),
    ),
  );
  return { executions, isOne: results.every((result) => result === results[0]) };
}

test('a result is shared where the execution used the item and the rights only', async () => {
  const shared = await shareAmongThree(({ contextValue: { service, work, isTraced } }) => [
    ...[work, isTraced, service.rights.has('read:orders'), service.rights.owns({ userId: 'u1' })],
  ]);
  expect(shared).toEqual({ executions: 1, isOne: true });
});

test.each<readonly [string, (context: ItemArgs['contextValue']) => unknown]>([
  ['loaders', ({ loaders }) => loaders],
  ['the event log', ({ events }) => events],
  ['the caller', ({ caller }) => caller],
  ['the service', ({ service }) => service.pathOf('/orders')],
  ['the audit trail', ({ service }) => service.rights.mayShow({ userId: 'u1' }, 'read order.get')],
  [
    'the audit trail, with a refusal',
    ({ service }) => service.rights.owns({ userId: 'u2' }, 'read order.get'),
  ],
  ['the report of unknown values', ({ onUnknown }) => onUnknown('Order.origin', 'new')],
])('each stream executes an item by itself that uses %s', async (_what, use) => {
  const shared = await shareAmongThree(({ contextValue }) => use(contextValue));
  expect(shared).toEqual({ executions: 3, isOne: false });
});

test('errors are not shared, and neither is a result with errors', async () => {
  const item = {};
  const fail = vi.fn(async () => Promise.reject(new Error('no')));
  const failing = [1, 2].map(() => shareResult(itemOf(item), 'key', fail));
  expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(fail).toHaveBeenCalledTimes(2);
  const withErrors = vi.fn(async () => ({ data: null, errors: [new GraphQLError('no')] }));
  await Promise.all([1, 2].map(() => shareResult(itemOf(item), 'other key', withErrors)));
  expect(withErrors).toHaveBeenCalledTimes(2);
});

test('an item holds the results of a bounded number of keys', async () => {
  const item = {};
  const execute = vi.fn(async () => ({ data: {} }));
  const ask = (key: number) => shareResult(itemOf(item), `key ${key}`, execute);
  for (let key = 1; key <= 21; key += 1) await ask(key);
  execute.mockClear();
  await ask(20);
  expect(execute).toHaveBeenCalledTimes(0);
  await ask(21);
  expect(execute).toHaveBeenCalledTimes(1);
});
