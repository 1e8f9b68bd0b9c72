import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { makeFolder } from '../support/folder.ts';
import { createGatedService } from '../support/gated-service.ts';
import { gatewayKey, type Lab, readAnew, serviceKey, startLab } from '../support/lab.ts';
import {
  countAnswers,
  countMore,
  findCached,
  memory,
  orderOf,
  queriesForOne,
  send,
} from '../support/whole-answers.ts';
import { accessesIn, key, pseudonymOf } from './audit/support.ts';

const nested = '{ users(first: 3) { nodes { id orders(first: 2) { nodes { id } } } } }';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab({ env: { ...memory, RATE_LIMIT_POINTS: '0', READ_CACHE_SECONDS: '60' } });
});
afterAll(() => lab[Symbol.asyncDispose]());
beforeEach(() => invalidateAll(lab));

/** An event without a user invalidates everything that depends on events. */
async function invalidateAll({ sandbox }: Lab): Promise<void> {
  sandbox.webhooks.send('labtest.match_review.created', {}, { userId: '' });
  await sandbox.webhooks.settled();
  sandbox.clearCalls();
}

/** Has the service report a newer version of an order than it lists. */
async function reportAhead(
  { sandbox }: Lab,
  { orderId, userId }: { readonly orderId: string; readonly userId: string },
  version: number,
): Promise<void> {
  const headers = { 'x-service-api-key': serviceKey };
  const order = await (
    await sandbox.fetch(new Request(`http://service/v3/order/${orderId}`, { headers }))
  ).json();
  const newest = { ...order.events.at(-1), id: version };
  const payload = { ...order, last_event: newest, events: [...order.events, newest] };
  sandbox.webhooks.send('labtest.order.updated', payload, { userId, orderId });
}

async function metricOf({ gateway, url }: Lab, line: string): Promise<number> {
  const text = await (await gateway.fetch(new Request(`${url}/metrics`))).text();
  return Number(
    text
      .split('\n')
      .find((each) => each.startsWith(`${line} `))
      ?.split(' ')
      .at(-1) ?? 0,
  );
}

const tokenWith = (rights: Readonly<Record<string, unknown>>) => lab.tokenFor(orderOf(lab).userId, rights);

function userOtherThan(userId: string): string {
  const other = lab.sandbox.orders().find((order) => order.userId !== userId);
  if (other === undefined) throw new Error('All orders are of one user.');
  return other.userId;
}

describe('a query that was answered a moment ago', () => {
  test('is given the same bytes, and nothing is run or asked', async () => {
    const first = await send(lab, nested);
    lab.sandbox.clearCalls();
    expect(await countMore(lab, async () => expect(await send(lab, nested)).toEqual(first))).toEqual({
      ...{ hit: 1, joined: 0, miss: 0, full: 0 },
    });
    expect(lab.sandbox.calls).toEqual([]);
  });

  test.each([
    ['another origin', { headers: { origin: 'https://app.example.com' } }],
    ['another media type', { headers: { accept: 'application/graphql-response+json' } }],
    ['other variables', { variables: { a: 1 } }],
  ])('is run again for %s', async (_name, other) => {
    const token = await lab.tokenFor(orderOf(lab).userId);
    const query = `{ order(id: "${orderOf(lab).orderId}") { id } }`;
    await send(lab, query, { token });
    const ask = () => send(lab, query, { ...other, token });
    expect(await countMore(lab, ask)).toMatchObject({ hit: 0, miss: 1 });
  });

  test.each([
    ['the server of the team', async () => gatewayKey],
    ['a token with other scopes', () => tokenWith({ scopes: ['read:orders'] })],
    ['a token for this order only', () => tokenWith({ orderIds: [orderOf(lab).orderId] })],
    ['a token of another user', () => lab.tokenFor(userOtherThan(orderOf(lab).userId))],
  ])('is run again for %s', async (_name, makeToken) => {
    const query = `{ order(id: "${orderOf(lab).orderId}") { id } }`;
    await send(lab, query, { token: await tokenWith({}) });
    const token = await makeToken();
    expect(await countMore(lab, () => send(lab, query, { token }))).toMatchObject({ hit: 0, miss: 1 });
  });

  test('is given the same bytes with another token of equal rights', async () => {
    const query = `{ order(id: "${orderOf(lab).orderId}") { id } viewer { userId scopes } }`;
    const tokens = await Promise.all([tokenWith({}), tokenWith({})]);
    expect(tokens[1]).not.toBe(tokens[0]);
    const first = await send(lab, query, { token: tokens[0] });
    const ask = async () => expect(await send(lab, query, { token: tokens[1] })).toEqual(first);
    expect(await countMore(lab, ask)).toMatchObject({ hit: 1, miss: 0 });
  });

  test('is run again when a webhook has reported an object it shows, and not for another object', async () => {
    const [one, other] = [orderOf(lab, 0), orderOf(lab, 1)];
    const query = `{ order(id: "${one.orderId}") { id } }`;
    const report = async ({ orderId, userId }: typeof one) => {
      const payload = { id: orderId, user_id: userId, events: [{ id: 1, status: 'a.b.c' }] };
      lab.sandbox.webhooks.send('labtest.order.updated', payload, { userId, orderId });
      await lab.sandbox.webhooks.settled();
    };
    await send(lab, query);
    await report(other);
    expect(await countMore(lab, () => send(lab, query))).toMatchObject({ hit: 1 });
    await report(one);
    expect(await countMore(lab, () => send(lab, query))).toMatchObject({ hit: 0, miss: 1 });
  });

  test('is run again when its user was written about, by whomever', async () => {
    const { userId } = orderOf(lab);
    const query = `{ user(id: "${userId}") { clientUserId } }`;
    await send(lab, query);
    const to = `renamed-${crypto.randomUUID()}`;
    const rename = `mutation { updateUser(input: { id: "${userId}", clientUserId: "${to}" }) { __typename } }`;
    await lab.query(rename);
    expect((await send(lab, query)).text).toContain(to);
  });

  test('is run each time where caching is off', async () => {
    await using forgetful = await startLab({ env: { ...memory, ...readAnew } });
    expect(await findCached(forgetful, [nested, '{ __typename }'])).toEqual([]);
  });

  test('is run each time there, also while other operations overlap with both', async () => {
    await using service = createGatedService();
    await using forgetful = await startLab({ env: { ...memory, ...readAnew }, serve: service.serve });
    const [begun, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    service.through(async (call) => {
      if (!call.startsWith('/v3/lab_test')) return;
      begun.resolve();
      await opened.promise;
    });
    const around = send(forgetful, '{ labTests(first: 1) { nodes { id } } }');
    await begun.promise;
    expect(await findCached(forgetful, [nested])).toEqual([]);
    opened.resolve();
    await around;
  });

  test('is given the same bytes also while webhooks are ahead of the lists of the service', async () => {
    await using ahead = await startLab({
      env: { ...memory, RATE_LIMIT_POINTS: '0', READ_CACHE_SECONDS: '60' },
    });
    const orders = ahead.sandbox.orders();
    const reportAll = async (version: number) => {
      for (const order of orders) await reportAhead(ahead, order, version);
      await ahead.sandbox.webhooks.settled();
    };
    const query = '{ users(first: 20) { nodes { orders(first: 100) { nodes { id lastEvent { id } } } } } }';
    const shown = async () =>
      new Set(
        [...(await send(ahead, query)).text.matchAll(/"lastEvent":\{"id":"(\d+)"/g)].map(([, id]) => id),
      );
    for (const version of [900_000_001, 900_000_002]) {
      await reportAll(version);
      ahead.sandbox.clearCalls();
      const count = await countMore(ahead, async () => {
        for (let turn = 0; turn < 5; turn += 1) expect(await shown()).toEqual(new Set([String(version)]));
      });
      expect(count).toMatchObject({ hit: 4, miss: 1 });
    }
  });

  test('is run again after READ_CACHE_SECONDS, also when it asked the service nothing', async () => {
    await using fresh = await startLab({ env: memory });
    const ask = () => countMore(fresh, () => send(fresh, '{ __typename }'));
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      await ask();
      vi.advanceTimersByTime(9999);
      expect(await ask()).toMatchObject({ hit: 1 });
      vi.advanceTimersByTime(1);
      expect(await ask()).toMatchObject({ hit: 0 });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('with READ_CACHE_SECONDS=0', () => {
  const query = '{ users(first: 20) { nodes { id orders { nodes { id } } } } }';

  test('equal nested queries one after another ask the service as often as if each were the first', async () => {
    await using lab = await startLab({ env: { ...memory, ...readAnew, RATE_LIMIT_POINTS: '0' } });
    await send(lab, query);
    const callsOfOne = lab.sandbox.calls.length;
    expect(callsOfOne).toBe(1 + Math.min(20, lab.sandbox.users().length));
    for (let turn = 1; turn < 30; turn += 1) await send(lab, query);
    expect(lab.sandbox.calls).toHaveLength(30 * callsOfOne);
  });

  test('32 equal queries at once join the one in flight, and the next asks again', async () => {
    await using service = createGatedService();
    await using lab = await startLab({ env: { ...memory, ...readAnew }, serve: service.serve });
    const calls: string[] = [];
    const opened = Promise.withResolvers<void>();
    service.through((call) => {
      calls.push(call);
      return opened.promise;
    });
    const asked = Array.from({ length: 32 }, () => send(lab, query));
    await expect.poll(async () => (await countAnswers(lab)).joined).toBe(31);
    opened.resolve();
    const texts = (await Promise.all(asked)).map(({ text }) => text);
    expect(new Set(texts).size).toBe(1);
    const callsOfOne = calls.length;
    expect(callsOfOne).toBe(1 + Math.min(20, lab.sandbox.users().length));
    await send(lab, query);
    expect(calls).toHaveLength(2 * callsOfOne);
  });
});

describe('a caller who gets a cached answer', () => {
  test('is refused at once when the token is revoked or expired', async () => {
    const { userId, orderId } = orderOf(lab);
    const query = `{ order(id: "${orderId}") { id } }`;
    const [revoked, ended] = await Promise.all([
      lab.tokenFor(userId, { ttlSeconds: 600 }),
      lab.tokenFor(userId, { ttlSeconds: 60 }),
    ]);
    for (const token of [revoked, ended, revoked, ended]) await send(lab, query, { token });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    try {
      expect((await send(lab, query, { token: ended })).status).toBe(401);
      expect((await send(lab, query, { token: revoked })).status).toBe(200);
      await lab.query(`mutation { revokeViewerTokens(input: { userId: "${userId}" }) { revokedAt } }`);
      expect((await send(lab, query, { token: revoked })).status).toBe(401);
    } finally {
      vi.useRealTimers();
    }
  });

  test('pays a point for each', async () => {
    await using poor = await startLab({ env: { ...memory, RATE_LIMIT_POINTS: '5' } });
    const statuses: number[] = [];
    for (let turn = 0; turn < 6; turn += 1) statuses.push((await send(poor, '{ __typename }')).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });

  test('is counted, and so is what the graph does not know in the answer', async () => {
    const path = `/v3/order/${orderOf(lab).orderId}`;
    const headers = { 'x-service-api-key': serviceKey };
    const order = await (await lab.sandbox.fetch(new Request(`http://service${path}`, { headers }))).json();
    const body = JSON.stringify({ ...order, origin: 'of_the_future' });
    lab.sandbox.faults.add({ path, times: 1, effect: { kind: 'answer', status: 200, body } });
    const operations = 'labgraph_operations_total{outcome="ok"}';
    const unknown = 'unknown_enum_total{field="Order.origin",value="of_the_future"}';
    const before = await metricOf(lab, operations);
    for (let turn = 0; turn < 3; turn += 1) await send(lab, `{ order(id: "${order.id}") { origin } }`);
    expect(await metricOf(lab, operations)).toBe(before + 3);
    expect(await metricOf(lab, unknown)).toBe(3);
  });

  test('is in the audit trail each time, with all users whose data it was', async () => {
    using folder = makeFolder();
    const env = { AUDIT_TRAIL: `file:${folder.path}`, AUDIT_TRAIL_KEY: key.toString('base64') };
    const audited = await startLab({ env: { ...memory, ...env } });
    const { orderId, userId } = orderOf(audited);
    const token = await audited.tokenFor(userId, { scopes: ['read:orders', 'read:profile'] });
    const query = `{ order(id: "${orderId}") { user { id } } }`;
    const count = await countMore(audited, async () => {
      for (let turn = 0; turn < 3; turn += 1) await send(audited, query, { token });
    });
    await audited[Symbol.asyncDispose]();
    expect(count).toMatchObject({ hit: 2, miss: 1 });
    const own = accessesIn(folder.path).filter(({ kind }) => kind.startsWith('read '));
    const each = own.slice(0, own.length / 3);
    const kinds = ['read order.get ok', 'read user.get ok'];
    expect(each.map(({ kind, outcome }) => `${kind} ${outcome}`).toSorted()).toEqual(kinds);
    expect(new Set(each.map(({ caller }) => caller))).toEqual(new Set([`user-${pseudonymOf(userId)}`]));
    expect(own).toEqual([...each, ...each, ...each]);
  });
});

test('callers with equal rights share an answer, and each is in the audit trail and the metrics under its own name', async () => {
  using folder = makeFolder();
  const keys = ['server-of-the-shop-key', 'server-of-the-clinic-key'];
  const env = { AUDIT_TRAIL: `file:${folder.path}`, AUDIT_TRAIL_KEY: key.toString('base64') };
  const shared = await startLab({ env: { ...memory, ...env, GATEWAY_API_KEYS: keys.join(',') } });
  const query = `{ order(id: "${orderOf(shared).orderId}") { user { id } } }`;
  const count = await countMore(shared, async () => {
    const [one, other] = await Promise.all(keys.map((token) => send(shared, query, { token })));
    expect(other?.text).toBe(one?.text);
    expect(one?.text).not.toContain('errors');
  });
  await shared[Symbol.asyncDispose]();
  expect(count).toMatchObject({ joined: 1, miss: 1 });
  const own = accessesIn(folder.path).filter(({ kind }) => kind.startsWith('read '));
  const names = [...new Set(own.map(({ caller }) => caller))];
  expect(names).toHaveLength(2);
  const readBy = (name: string | undefined) =>
    own.filter(({ caller }) => caller === name).map(({ kind, outcome, user }) => [kind, outcome, user]);
  expect(readBy(names[0])).toHaveLength(2);
  expect(readBy(names[0]).toSorted()).toEqual(readBy(names[1]).toSorted());
});

/** Queries whose answers come from cached reads, or from no reads at all. */
function queriesForAll(on: Lab): readonly string[] {
  const { orderId, userId } = orderOf(on);
  return [
    '{ __typename }',
    '{ viewer { kind scopes } }',
    nested,
    `{ order(id: "${orderId}") { id status { label } user { id } labTest { markers(first: 2) { nodes { name } } } } }`,
    `{ user(id: "${userId}") { connections { source { slug } } orders(first: 100) { totalCount } } }`,
    '{ labs { id } labTests(first: 2) { nodes { id } } labAccounts { id } }',
  ];
}

describe('the answer is given to no other request', () => {
  test('where it depends on more than cached reads', async () => {
    const queries = queriesForOne(lab);
    expect(
      await findCached(
        lab,
        queries.map(([, query]) => query),
      ),
    ).toEqual([]);
    const faultless = await Promise.all(
      queries.map(async ([name, query]) => [name, (await send(lab, query)).text]),
    );
    // Or it was for another reason.
    expect(faultless.filter(([, text]) => text?.includes('"errors"')).map(([name]) => name)).toEqual([
      ...['an error', 'a fault in the question'],
    ]);
  });

  test('but is where it was not', async () => {
    const queries = queriesForAll(lab);
    expect(await findCached(lab, queries)).toEqual(queries);
  });

  test('where its caller asks what it cost', async () => {
    const headers = { 'x-labgraph-trace': 'upstream' };
    const traced = async () => JSON.parse((await send(lab, nested, { headers })).text).extensions.upstream;
    expect([await traced(), await traced()]).toMatchObject([{ cached: 0 }, { calls: 0, cached: 4 }]);
  });
});

const folder = fileURLToPath(new URL('../../gateway/', import.meta.url));

/** The files of resolvers that contain it. */
function filesWith(text: RegExp): readonly string[] {
  const files = ['graph', 'domain'].flatMap((room) =>
    readdirSync(join(folder, room), { recursive: true, encoding: 'utf8' }).map((file) => join(room, file)),
  );
  return files
    .filter((file) => file.endsWith('.ts') && text.test(readFileSync(join(folder, file), 'utf8')))
    .toSorted();
}

test('no resolver takes anything from the credential but whose it is: another one with equal rights gets the answer', () => {
  expect(filesWith(/rights\.caller|\bcaller\b[^}\n]*\} = [\w.]*rights/)).toEqual([
    'graph/pagination/cursors.ts',
  ]);
});

test('nothing that a query shows goes by the clock or by chance, but what is listed here with the reason', () => {
  expect(filesWith(/Date\.now|new Date\(\)|performance\.|random|setTimeout/)).toEqual(
    [
      // Of mutations and streams, whose answers are their own.
      'domain/order/place/actions-rules.ts',
      'domain/order/place/actions.ts',
      'domain/order/register/actions.ts',
      'domain/order/update/actions.ts',
      'domain/management/gateway-webhook/actions.ts',
      'domain/service-event/actions.ts',
      'domain/user/actions.ts',
      'domain/user/actions-demographics.ts',
      // How old a message may be: the answer expires with it (events/log.ts).
      'domain/order/read/actions.ts',
      // Which days are over: asked for slots, which are good for one, and by mutations.
      'graph/arguments.ts',
    ].toSorted(),
  );
});
