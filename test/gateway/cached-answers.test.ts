import { randomBytes, randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Gateway } from '../../gateway/gateway.ts';
import { createLog } from '../../gateway/log.ts';
import {
  type HeldService,
  type HeldWorld,
  presentHeldOrder,
  startHeldService,
} from '../support/held-service.ts';
import { gatewayKey, graphqlRequest, readAnew, readTestConfig, webhookSecret } from '../support/lab.ts';
import { startRedis } from '../support/redis.ts';
import { runs } from '../support/runs.ts';
import { countAnswers, makeOverNetwork, onDirectPath } from '../support/whole-answers.ts';
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
    weight: 10,
    arbitrary: fc.record({ kind: fc.constant('ask' as const), question: fc.constantFrom(...questions), at }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('change' as const), order: fc.nat(2), user: fc.nat(1) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('deliver' as const), at }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('compute' as const), at }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('answer' as const), at }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('write' as const), user: fc.nat(1), at }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('calm' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** Gateways over one service and one log, asked over the network: the direct path caches whole answers. */
interface Gateways extends AsyncDisposable {
  readonly all: readonly Gateway[];
  /** How many queries were given the answer of an equal one. */
  readonly countEqual: () => Promise<number>;
}

async function startGateways(
  service: HeldService,
  eventLogs: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Gateways> {
  const key = randomBytes(32).toString('base64');
  const gateways = await Promise.all(
    eventLogs.map((eventLog) =>
      makeOverNetwork({
        config: readTestConfig({
          SERVICE_URL: service.url,
          EVENT_LOG: eventLog,
          EVENT_LOG_KEY: key,
          SERVICE_TEAM_ID: service.teamId,
          RATE_LIMIT_POINTS: '0',
          ...onDirectPath,
          ...env,
        }),
        log: createLog({ level: 'silent' }),
        serviceUrl: service.url,
      }),
    ),
  );
  return {
    all: gateways,
    countEqual: async () => {
      const counts = await Promise.all(
        gateways.map((gateway) => countAnswers({ gateway, url: 'http://gateway' })),
      );
      return counts.reduce((sum, { hit, joined }) => sum + hit + joined, 0);
    },
    [Symbol.asyncDispose]: async () => void (await Promise.all(gateways.map((one) => one.close()))),
  };
}

async function ask(
  gateway: Gateway | undefined,
  query: string,
  { variables = {}, token = gatewayKey }: { variables?: object; token?: string },
) {
  if (gateway === undefined) throw new Error('There is no gateway.');
  const response = await gateway.fetch(graphqlRequest('http://gateway', { query, variables }, token));
  const { data, errors } = await response.json();
  expect(errors).toBeUndefined();
  return data;
}

function pick<Item>(items: readonly Item[], place: number): Item | undefined {
  return items[place % Math.max(1, items.length)];
}

/** What has happened in one run, to two users and three orders of its own. */
interface Run {
  readonly service: HeldService;
  readonly gateways: readonly Gateway[];
  readonly users: readonly string[];
  readonly tokens: readonly string[];
  readonly orderIds: readonly string[];
  /** Where the run began in the history of the service. */
  readonly begun: number;
  readonly pending: { readonly body: string; readonly thing: string; readonly since: number }[];
  /** By order or user: the newest state of it that a webhook or a write has reported. */
  readonly known: Map<string, number>;
  readonly asked: Promise<void>[];
}

async function begin(service: HeldService, gateways: readonly Gateway[]): Promise<Run> {
  const users = [randomUUID(), randomUUID()];
  const tokenFor = async (id: string) =>
    (await ask(pick(gateways, 0), mint, { variables: { id } })).createViewerToken.token;
  return {
    service,
    gateways,
    users,
    tokens: await Promise.all(users.map(tokenFor)),
    orderIds: [randomUUID(), randomUUID(), randomUUID()],
    begun: service.history.length - 1,
    pending: [],
    known: new Map(),
    asked: [],
  };
}

function note({ known, begun }: Run, thing: string, since: number): void {
  known.set(thing, Math.max(since, known.get(thing) ?? begun));
}

type View = (world: HeldWorld, thing: string) => unknown;

const showOrder: View = ({ orders }, id) => {
  const order = orders.get(id);
  return order && `${order.userId} ${order.version}`;
};

function viewOf(userId: string): View {
  return (world, thing) => {
    if (thing === userId) return world.references.get(userId) ?? 'first';
    return world.orders.get(thing)?.userId === userId ? showOrder(world, thing) : undefined;
  };
}

/** Asks, and checks the answer: of each thing it shows the newest state known when the question began, or a later one. */
async function question(run: Run, of: Question, gateway: Gateway | undefined): Promise<void> {
  const knownBefore = new Map(run.known);
  const { view, shown } = await answer(run, of, gateway);
  for (const thing of [...run.orderIds, ...run.users]) {
    const states = run.service.history.slice(knownBefore.get(thing) ?? run.begun);
    expect(states.map((world) => view(world, thing))).toContainEqual(shown.get(thing));
  }
}

async function answer({ users, tokens, orderIds }: Run, of: Question, gateway: Gateway | undefined) {
  const toShown = (nodes: readonly { id: string; userId: string; lastEvent: { id: string } }[]) =>
    nodes.map(({ id, userId, lastEvent }) => [id, `${userId} ${lastEvent.id}`] as const);
  if (of === 'team of the orders') {
    const { orders } = await ask(gateway, ofTeam, { variables: { ids: orderIds } });
    return { view: showOrder, shown: new Map(toShown(orders.nodes)) };
  }
  const whose = of.endsWith('A') ? 0 : 1;
  const id = users[whose] ?? '';
  const token = of.startsWith('team') ? gatewayKey : (tokens[whose] ?? '');
  const { user } = await ask(gateway, ofUser, { variables: { id }, token });
  return { view: viewOf(id), shown: new Map([...toShown(user.orders.nodes), [id, user.clientUserId]]) };
}

/** Something happens to an order; its webhook comes later, or never. */
function change({ service, orderIds, users, pending }: Run, order: number, user: number): void {
  const changed = service.change(orderIds[order] ?? '', users[user] ?? '');
  const envelope = {
    event_type: 'labtest.order.updated',
    team_id: service.teamId,
    user_id: changed.userId,
    data: presentHeldOrder(changed, service.teamId),
  };
  pending.push({ body: JSON.stringify(envelope), thing: changed.id, since: changed.version });
}

async function deliver(run: Run, at: number): Promise<void> {
  const [message] = run.pending.splice(at % Math.max(1, run.pending.length), 1);
  if (message === undefined) return;
  const { body } = message;
  const headers = signedHeaders(body, { id: randomUUID(), secret: webhookSecret });
  const request = new Request('http://gateway/webhooks', { method: 'POST', headers, body });
  expect((await pick(run.gateways, at)?.fetch(request))?.status).toBe(202);
  note(run, message.thing, message.since);
}

async function write(run: Run, user: number, at: number): Promise<void> {
  const [id = '', to] = [run.users[user], randomUUID()];
  const { updateUser } = await ask(pick(run.gateways, at), rename, { variables: { id, to } });
  expect(updateUser.__typename).toBe('UserUpdated');
  const since = run.service.history.findIndex(({ references }) => references.get(id) === to);
  note(run, id, since);
}

async function take(run: Run, step: Step): Promise<void> {
  const { held } = run.service;
  if (step.kind === 'ask') run.asked.push(question(run, step.question, pick(run.gateways, step.at)));
  else if (step.kind === 'change') change(run, step.order, step.user);
  else if (step.kind === 'deliver') await deliver(run, step.at);
  else if (step.kind === 'write') run.asked.push(write(run, step.user, step.at));
  else if (step.kind === 'answer') pick(held, step.at)?.answer();
  else if (step.kind === 'calm') await finish(run);
  else {
    const open = held.filter((call) => !call.isComputed());
    pick(open, step.at)?.compute();
  }
}

/** Answers every open call to the service until every caller has an answer. */
async function finish({ service, asked }: Run): Promise<void> {
  let isOver = false;
  const all = Promise.all(asked).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    for (const call of [...service.held]) call.answer();
    await Promise.race([service.nextCall(), all]);
  }
  await all;
}

async function play(
  service: HeldService,
  gateways: readonly Gateway[],
  steps: readonly Step[],
): Promise<void> {
  const run = await begin(service, gateways);
  for (const step of steps) {
    await take(run, step);
    // What was asked or answered just now goes its way through the sockets of this process.
    for (let turn = 0; turn < 6; turn += 1) await nextTurn();
  }
  await finish(run);
}

const schedule = fc.array(step, { minLength: 10, maxLength: 50, size: 'max' });
const promise =
  'after a change is reported or written, every later answer shows it, in any order of changes, webhooks, writes, slow answers and callers';

test.each([
  ['at one gateway', {}],
  ['at one gateway that caches nothing and shares requests in flight', readAnew],
])(`%s: ${promise}`, async (_where, env) => {
  await using service = await startHeldService();
  await using gateways = await startGateways(service, ['memory:'], env);
  await fc.assert(
    fc.asyncProperty(schedule, (steps) => play(service, gateways.all, steps)),
    { numRuns: runs(40), endOnFailure: true },
  );
  // Or there was nothing that could have been too old.
  expect(await gateways.countEqual()).toBeGreaterThan(runs(4));
});

test(`at two gateways over one log: ${promise}`, async () => {
  await using redis = await startRedis();
  await using service = await startHeldService();
  const url = redis.newUrl();
  await using gateways = await startGateways(service, [url, url]);
  await fc.assert(
    fc.asyncProperty(schedule, (steps) => play(service, gateways.all, steps)),
    { numRuns: runs(40), endOnFailure: true },
  );
  expect(await gateways.countEqual()).toBeGreaterThan(runs(4));
});
