import { randomBytes, randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createGateway, type Gateway } from '../../gateway/gateway.ts';
import { createLog } from '../../gateway/log.ts';
import {
  type HeldService,
  type HeldWorld,
  presentHeldOrder,
  startHeldService,
} from '../support/held-service.ts';
import { gatewayKey, graphqlRequest, readTestConfig, webhookSecret } from '../support/lab.ts';
import { startRedis } from '../support/redis.ts';
import { signedHeaders } from './webhooks/support.ts';

/** What callers ask: by whom, of whom. */
const questions = ['team of A', 'team of B', 'A of A', 'B of B', 'team of the orders'] as const;
type Question = (typeof questions)[number];
const ofUser =
  'query ($id: ID!) { user(id: $id) { clientUserId orders(first: 100) { nodes { id userId lastEvent { id } } } } }';
const ofTeam =
  'query ($ids: [ID!]) { orders(first: 100, filter: { orderIds: $ids }) { nodes { id userId lastEvent { id } } } }';
const rename =
  'mutation ($id: ID!, $to: String!) { updateUser(input: { id: $id, clientUserId: $to }) { __typename } }';
const mint = 'mutation ($id: ID!) { createViewerToken(input: { userId: $id }) { token } }';

const at = fc.nat(7);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('ask' as const), question: fc.constantFrom(...questions), at }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('change' as const), order: fc.nat(2), user: fc.nat(1) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('tell' as const), at }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('compute' as const), at }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('answer' as const), at }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('write' as const), user: fc.nat(1), at }) },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** Gateways over one service and one log. */
async function startGateways(
  service: HeldService,
  eventLogs: readonly string[],
): Promise<readonly Gateway[]> {
  const key = randomBytes(32).toString('base64');
  return await Promise.all(
    eventLogs.map((eventLog) =>
      createGateway({
        config: readTestConfig({
          SERVICE_URL: service.url,
          EVENT_LOG: eventLog,
          EVENT_LOG_KEY: key,
          SERVICE_TEAM_ID: service.teamId,
          RATE_LIMIT_POINTS: '0',
        }),
        log: createLog({ level: 'silent' }),
        serviceUrl: service.url,
      }),
    ),
  );
}

async function ask(
  gateway: Gateway,
  query: string,
  { variables = {}, token = gatewayKey }: { variables?: object; token?: string },
) {
  const response = await gateway.fetch(graphqlRequest('http://gateway', { query, variables }, token));
  const { data, errors } = await response.json();
  expect(errors).toBeUndefined();
  return data;
}

function pick<Item>(items: readonly Item[], place: number): Item | undefined {
  return items[place % Math.max(1, items.length)];
}

/** One run: two users of its own and three orders, a schedule, and every answer compared with what was told before. */
async function run(
  service: HeldService,
  gateways: readonly Gateway[],
  steps: readonly Step[],
): Promise<void> {
  const gatewayAt = (place: number) => pick(gateways, place) ?? expect.fail('There is no gateway.');
  const users = [randomUUID(), randomUUID()] as const;
  const [a, b] = users;
  const orderIds = [randomUUID(), randomUUID(), randomUUID()];
  const tokens = await Promise.all(
    users.map(async (id) => (await ask(gatewayAt(0), mint, { variables: { id } })).createViewerToken.token),
  );
  const begun = service.history.length - 1;
  const untold: { readonly body: string; readonly thing: string; readonly since: number }[] = [];
  /** By order or user: the newest state of it that somebody was told. */
  const told = new Map<string, number>();
  const note = (thing: string, since: number) => told.set(thing, Math.max(since, told.get(thing) ?? begun));
  const asked: Promise<void>[] = [];
  let isOver = false;

  /** Each thing of the answer is as it was when it was told of last before the question, or later. */
  const check = (
    view: (world: HeldWorld, thing: string) => unknown,
    shown: ReadonlyMap<string, unknown>,
    toldThen: ReadonlyMap<string, number>,
  ) => {
    for (const thing of [...orderIds, ...users]) {
      const states = service.history.slice(toldThen.get(thing) ?? begun).map((world) => view(world, thing));
      expect(states).toContainEqual(shown.get(thing));
    }
  };
  const question = async (of: Question, gateway: Gateway) => {
    const toldThen = new Map(told);
    const shown = new Map<string, unknown>();
    const showOrders = (nodes: readonly { id: string; userId: string; lastEvent: { id: string } }[]) => {
      for (const { id, userId, lastEvent } of nodes) shown.set(id, `${userId} ${lastEvent.id}`);
    };
    const present = ({ orders }: HeldWorld, id: string) => {
      const order = orders.get(id);
      return order && `${order.userId} ${order.version}`;
    };
    if (of === 'team of the orders') {
      showOrders((await ask(gateway, ofTeam, { variables: { ids: orderIds } })).orders.nodes);
      return check(present, shown, toldThen);
    }
    const id = of.endsWith('A') ? a : b;
    const token = of.startsWith('team') ? gatewayKey : tokens[of === 'A of A' ? 0 : 1];
    const { user } = await ask(gateway, ofUser, { variables: { id }, token });
    showOrders(user.orders.nodes);
    shown.set(id, user.clientUserId);
    const view = (world: HeldWorld, thing: string) => {
      if (thing === id) return world.references.get(id) ?? 'first';
      return world.orders.get(thing)?.userId === id ? present(world, thing) : undefined;
    };
    check(view, shown, toldThen);
  };
  const tell = async (place: number) => {
    const [message] = untold.splice(place % Math.max(1, untold.length), 1);
    if (message === undefined) return;
    const headers = signedHeaders(message.body, { id: randomUUID(), secret: webhookSecret });
    const url = 'http://gateway/webhooks';
    const { status } = await gatewayAt(place).fetch(
      new Request(url, { method: 'POST', headers, body: message.body }),
    );
    expect(status).toBe(202);
    note(message.thing, message.since);
  };
  const take = {
    ask: async (of: Question, place: number) => {
      asked.push(question(of, gatewayAt(place)));
    },
    change: (order: number, user: number) => {
      const changed = service.change(orderIds[order] ?? '', users[user] ?? '');
      const data = presentHeldOrder(changed, service.teamId);
      const envelope = {
        event_type: 'labtest.order.updated',
        team_id: service.teamId,
        user_id: changed.userId,
        data,
      };
      untold.push({ body: JSON.stringify(envelope), thing: changed.id, since: changed.version });
    },
    write: (user: number, place: number) => {
      const [id = '', to] = [users[user], randomUUID()];
      const written = ask(gatewayAt(place), rename, { variables: { id, to } });
      const noted = written.then(({ updateUser }) => {
        expect(updateUser.__typename).toBe('UserUpdated');
        note(
          id,
          service.history.findIndex(({ references }) => references.get(id) === to),
        );
      });
      asked.push(noted);
    },
  };
  for (const event of steps) {
    if (event.kind === 'ask') await take.ask(event.question, event.at);
    else if (event.kind === 'change') take.change(event.order, event.user);
    else if (event.kind === 'tell') await tell(event.at);
    else if (event.kind === 'write') take.write(event.user, event.at);
    else if (event.kind === 'compute')
      pick(
        service.held.filter((read) => !read.isComputed()),
        event.at,
      )?.compute();
    else pick(service.held, event.at)?.answer();
    // What was asked or answered just now goes its way through the sockets of this process.
    for (let turn = 0; turn < 6; turn += 1) await nextTurn();
  }
  const all = Promise.all(asked).finally(() => {
    isOver = true;
  });
  const answerRest = async () => {
    while (!isOver) {
      for (const read of [...service.held]) read.answer();
      await Promise.race([service.nextCall(), all]);
    }
  };
  await Promise.all([all, answerRest()]);
}

const schedule = fc.array(step, { minLength: 10, maxLength: 50, size: 'max' });
const promise =
  'after a change was told or written no answer to anybody is older, in any order of changes, webhooks, writes, slow answers and callers';

test(`at one gateway: ${promise}`, async () => {
  await using service = await startHeldService();
  const gateways = await startGateways(service, ['memory:']);
  await using _ = {
    [Symbol.asyncDispose]: async () => void (await Promise.all(gateways.map((one) => one.close()))),
  };
  await fc.assert(
    fc.asyncProperty(schedule, (steps) => run(service, gateways, steps)),
    { numRuns: 60, endOnFailure: true },
  );
}, 30_000);

test(`at two gateways over one log: ${promise}`, async () => {
  await using redis = await startRedis();
  await using service = await startHeldService();
  const url = redis.newUrl();
  const gateways = await startGateways(service, [url, url]);
  await using _ = {
    [Symbol.asyncDispose]: async () => void (await Promise.all(gateways.map((one) => one.close()))),
  };
  await fc.assert(
    fc.asyncProperty(schedule, (steps) => run(service, gateways, steps)),
    { numRuns: 40, endOnFailure: true },
  );
}, 30_000);
