import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { malformedBodies } from '../siege/malformed-bodies.ts';
import { hostileQueries } from '../support/hostile-queries.ts';
import { startLab } from '../support/lab.ts';
import { pageOrigin } from '../support/launch.ts';
import { pseudonymOf } from './audit/support.ts';
import { faultsWith } from './canary/faults.ts';
import { body, heads, readableBodies, readsAbout, usualBodies } from './direct-path/corpus.ts';
import {
  expectSame,
  mint,
  readAccesses,
  readCounts,
  send,
  startTwoLanes,
  type TwoLanes,
} from './direct-path/two-gateways.ts';

/** The same requests through both lanes, over sockets: there is no difference to tell them by. */
let lanes: TwoLanes;

beforeAll(async () => {
  lanes = await startTwoLanes();
});

afterAll(async () => {
  await lanes[Symbol.asyncDispose]();
});

const someone = () => {
  const [order] = lanes.lab.sandbox.orders();
  if (order === undefined) throw new Error('The world has no orders.');
  return order;
};

test.each(Object.entries(heads))('a request with %s is answered alike', async (_name, headers) => {
  for (const each of usualBodies) await expectSame(lanes, { headers, body: each });
});

test.each(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])('%s is answered alike', async (method) => {
  const headers = { origin: pageOrigin, 'access-control-request-method': 'POST' };
  for (const path of ['/graphql', '/graphql?query={__typename}', '/graphql/', '/graphql?a=b'])
    await expectSame(lanes, { method, path, headers });
});

test.each(['/graphql?a=b', '/graphql?query={a:__typename}', '/graphql/', '//graphql', '/graphql#a'])(
  'a POST to %s is answered alike',
  async (path) => {
    await expectSame(lanes, { path, body: usualBodies[0] ?? '' });
  },
);

test('what is malformed is answered alike', async () => {
  for (const { bytes } of malformedBodies) await expectSame(lanes, { body: bytes });
});

test.each(hostileQueries)('$name: answered alike', async ({ query, variables = {} }) => {
  await expectSame(lanes, { body: body(query, { variables }) });
});

test.each(Object.entries(readableBodies))('%s: answered alike', async (_name, each) => {
  for (const accept of ['application/json', 'application/graphql-response+json'])
    await expectSame(lanes, { body: each, headers: { accept } });
});

const audits = serverAudits({
  url: () => `${lanes.fast.url}/graphql`,
  fetchFn: async (url: string, { method = 'GET', headers, body: asked }: RequestInit = {}) => {
    const { pathname, search } = new URL(url);
    const sent = { method, path: `${pathname}${search}`, body: typeof asked === 'string' ? asked : '' };
    const given = { 'content-type': [], ...Object.fromEntries(new Headers(headers)) };
    const told = await expectSame(lanes, { ...sent, headers: given });
    return new Response(told.text, { status: told.status ?? 0, headers: new Headers(Object(told.headers)) });
  },
});

test.each(audits.map((audit) => [audit.name, audit] as const))('%s, in both lanes', async (_name, audit) => {
  const result = await audit.fn();
  expect(result.status === 'ok' ? 'ok' : `${result.status}: ${result.reason}`).toBe('ok');
});

test.each([
  ['a server of the team', null],
  ['its user', () => ({ userId: someone().userId })],
  ['a viewer of one order', () => ({ userId: someone().userId, orderIds: [someone().orderId] })],
  ['another user', () => ({ userId: lanes.lab.sandbox.users().at(-1)?.userId })],
  ['a page that the token is not for', () => ({ userId: someone().userId, origins: [pageOrigin] })],
])('%s is answered alike whatever is read, traced and from a page or not', async (_who, describeToken) => {
  const headers =
    describeToken === null ? {} : { authorization: `Bearer ${await mint(lanes, describeToken())}` };
  for (const each of readsAbout(someone())) {
    await expectSame(lanes, { headers, body: each });
    const more = { origin: pageOrigin, 'x-labgraph-trace': 'upstream' };
    await expectSame(lanes, { headers: { ...headers, ...more }, body: each });
  }
});

test('the faults of the service are answered alike', async () => {
  const { lab } = lanes;
  for (const [, answer] of faultsWith('words', lab.serviceUrl)) {
    lab.spoil({ at: /^GET /, isDone: false, answer, times: Number.POSITIVE_INFINITY });
    // Asked for nowhere else, so it is kept by neither.
    await expectSame(lanes, { body: body(`{ order(id: "${someone().orderId}") { results { notes } } }`) });
    lab.mend();
  }
});

test('a request takes the same points in either lane, wherever its answer is made', async () => {
  const sent = [
    '{',
    body('{ unknown }'),
    body('{ users(first: 1) { nodes { id } } }'),
    body('{ __typename }'),
  ];
  const told = ['on', 'off'].map(async (FAST_LANE) => {
    await using lab = await startLab({ env: { EVENT_LOG: 'memory:', RATE_LIMIT_POINTS: '6', FAST_LANE } });
    const statuses: (number | undefined)[] = [];
    for (const each of [...sent, ...sent]) statuses.push((await send(lab.url, { body: each })).status);
    return statuses;
  });
  const [fast, usual] = await Promise.all(told);
  expect(fast).toEqual([400, 200, 200, 200, 400, 429, 429, 429]);
  expect(usual).toEqual(fast);
});

test('after all that both have counted the same, logged the same and told the audit trail the same', async () => {
  const last = crypto.randomUUID();
  const mark = body(`mutation { createViewerToken(input: { userId: "${last}" }) { expiresAt } }`);
  for (const lane of [lanes.fast, lanes.usual]) await send(lane.url, { body: mark });
  const [fast, usual] = await Promise.all(
    [lanes.fast, lanes.usual].map(async (lane) => ({
      counts: await readCounts(lane),
      accesses: await readAccesses(lane, pseudonymOf(last)),
      logged: lane.logged
        .map((line) => ({ ...JSON.parse(line), time: 0, requestId: '' }))
        .filter(({ event }) => event !== 'audit.head'),
    })),
  );
  expect(fast?.counts).toContainEqual(
    expect.stringMatching(/^labgraph_operations_total\{outcome="ok"\} \d+$/),
  );
  expect(fast?.accesses.length).toBeGreaterThan(50);
  expect(fast).toEqual(usual);
});
