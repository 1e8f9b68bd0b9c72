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
  startTwoGateways,
  type TwoGateways,
} from './direct-path/two-gateways.ts';

/** A gateway with the direct path and one without answer the same requests alike, over sockets. */
let gateways: TwoGateways;

beforeAll(async () => {
  gateways = await startTwoGateways();
});

afterAll(async () => {
  await gateways[Symbol.asyncDispose]();
});

const someone = () => {
  const [order] = gateways.lab.sandbox.orders();
  if (order === undefined) throw new Error('The world has no orders.');
  return order;
};

test.each(Object.entries(heads))('a request with %s is answered alike', async (_name, headers) => {
  for (const each of usualBodies) await expectSame(gateways, { headers, body: each });
});

test.each(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])('%s is answered alike', async (method) => {
  const headers = { origin: pageOrigin, 'access-control-request-method': 'POST' };
  for (const path of ['/graphql', '/graphql?query={__typename}', '/graphql/', '/graphql?a=b'])
    await expectSame(gateways, { method, path, headers });
});

test.each(['/graphql?a=b', '/graphql?query={a:__typename}', '/graphql/', '//graphql', '/graphql#a'])(
  'a POST to %s is answered alike',
  async (path) => {
    await expectSame(gateways, { path, body: usualBodies[0] ?? '' });
  },
);

test('a malformed body is answered alike', async () => {
  for (const { bytes } of malformedBodies) await expectSame(gateways, { body: bytes });
});

test.each(hostileQueries)('$name: answered alike', async ({ query, variables = {} }) => {
  await expectSame(gateways, { body: body(query, { variables }) });
});

test.each(Object.entries(readableBodies))('%s: answered alike', async (_name, each) => {
  for (const accept of ['application/json', 'application/graphql-response+json'])
    await expectSame(gateways, { body: each, headers: { accept } });
});

const audits = serverAudits({
  url: () => `${gateways.direct.url}/graphql`,
  fetchFn: async (url: string, { method = 'GET', headers, body: asked }: RequestInit = {}) => {
    const { pathname, search } = new URL(url);
    const sent = { method, path: `${pathname}${search}`, body: typeof asked === 'string' ? asked : '' };
    const given = { 'content-type': [], ...Object.fromEntries(new Headers(headers)) };
    const received = await expectSame(gateways, { ...sent, headers: given });
    return new Response(received.text, {
      status: received.status ?? 0,
      headers: new Headers(Object(received.headers)),
    });
  },
});

test.each(audits.map((audit) => [audit.name, audit] as const))(
  '%s, with and without the direct path',
  async (_name, audit) => {
    const result = await audit.fn();
    expect(result.status === 'ok' ? 'ok' : `${result.status}: ${result.reason}`).toBe('ok');
  },
);

test.each([
  ['a server of the team', null],
  ['its user', () => ({ userId: someone().userId })],
  ['a viewer of one order', () => ({ userId: someone().userId, orderIds: [someone().orderId] })],
  ['another user', () => ({ userId: gateways.lab.sandbox.users().at(-1)?.userId })],
  ['a page that the token is not for', () => ({ userId: someone().userId, origins: [pageOrigin] })],
])(
  '%s is answered alike for every read, with and without a trace or an origin',
  async (_who, describeToken) => {
    const headers =
      describeToken === null ? {} : { authorization: `Bearer ${await mint(gateways, describeToken())}` };
    for (const each of readsAbout(someone())) {
      await expectSame(gateways, { headers, body: each });
      const more = { origin: pageOrigin, 'x-labgraph-trace': 'upstream' };
      await expectSame(gateways, { headers: { ...headers, ...more }, body: each });
    }
  },
);

test('the faults of the service are answered alike', async () => {
  const { lab } = gateways;
  for (const [, answer] of faultsWith('words', lab.serviceUrl)) {
    lab.spoil({ at: /^GET /, isDone: false, answer, times: Number.POSITIVE_INFINITY });
    // Asked for nowhere else, so neither has it cached.
    await expectSame(gateways, { body: body(`{ order(id: "${someone().orderId}") { results { notes } } }`) });
    lab.mend();
  }
});

test('a request costs the same rate-limit points with and without the direct path', async () => {
  const sent = [
    '{',
    body('{ unknown }'),
    body('{ users(first: 1) { nodes { id } } }'),
    body('{ __typename }'),
  ];
  const answers = ['on', 'off'].map(async (DIRECT_PATH) => {
    await using lab = await startLab({ env: { EVENT_LOG: 'memory:', RATE_LIMIT_POINTS: '6', DIRECT_PATH } });
    const statuses: (number | undefined)[] = [];
    for (const each of [...sent, ...sent]) statuses.push((await send(lab.url, { body: each })).status);
    return statuses;
  });
  const [direct, usual] = await Promise.all(answers);
  expect(direct).toEqual([400, 200, 200, 200, 400, 429, 429, 429]);
  expect(usual).toEqual(direct);
});

test('after all these requests both have the same counts, the same log and the same audit trail', async () => {
  const last = crypto.randomUUID();
  const mark = body(`mutation { createViewerToken(input: { userId: "${last}" }) { expiresAt } }`);
  for (const gateway of [gateways.direct, gateways.usual]) await send(gateway.url, { body: mark });
  const [direct, usual] = await Promise.all(
    [gateways.direct, gateways.usual].map(async (gateway) => ({
      counts: await readCounts(gateway),
      accesses: await readAccesses(gateway, pseudonymOf(last)),
      logged: gateway.logged
        .map((line) => ({ ...JSON.parse(line), time: 0, requestId: '' }))
        .filter(({ event }) => event !== 'audit.head'),
    })),
  );
  expect(direct?.counts).toContainEqual(
    expect.stringMatching(/^labgraph_operations_total\{outcome="ok"\} \d+$/),
  );
  expect(direct?.accesses.length).toBeGreaterThan(50);
  expect(direct).toEqual(usual);
});
