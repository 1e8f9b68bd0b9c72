import { request as ask } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { malformedBodies } from '../siege/malformed-bodies.ts';
import { hostileQueries } from '../support/hostile-queries.ts';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';

/** The same requests through both lanes: there is no difference to tell them by. */
let fast: Lab;
let usual: Lab;
const origin = 'https://app.example.com';

beforeAll(async () => {
  const env = { EVENT_LOG: 'memory:', ALLOWED_ORIGINS: origin, RATE_LIMIT_POINTS: '0' };
  [fast, usual] = await Promise.all([startLab({ env }), startLab({ env: { ...env, FAST_LANE: 'off' } })]);
});

afterAll(async () => {
  await fast[Symbol.asyncDispose]();
  await usual[Symbol.asyncDispose]();
});

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
}

/** Of the connection and not of the answer. */
const ofConnection = ['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding'];

function send(lab: Lab, { method = 'POST', headers = {}, body = '' }: Sent): Promise<unknown> {
  const all = { authorization: `Bearer ${gatewayKey}`, 'content-type': 'application/json', ...headers };
  return new Promise((resolve, reject) => {
    const length = method === 'POST' ? { 'content-length': String(Buffer.byteLength(body)) } : {};
    const sent = Object.fromEntries(
      Object.entries({ ...all, ...length }).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : [...value],
      ]),
    );
    const asked = ask(`${lab.url}/graphql`, { method, headers: sent }, async (answer) => {
      const told = Object.entries(answer.headers).filter(([name]) => !ofConnection.includes(name));
      const text = Buffer.concat(await answer.toArray()).toString();
      resolve({ status: answer.statusCode, headers: Object.fromEntries(told.sort()), text });
    });
    asked.once('error', reject);
    asked.end(body);
  });
}

async function expectSame(sent: Sent): Promise<void> {
  const [first, second] = [await send(fast, sent), await send(usual, sent)];
  expect(first).toEqual(second);
}

const query = (text: string, more: object = {}) => JSON.stringify({ query: text, ...more });
const small = query('{ viewer { kind } }');

const heads: readonly (readonly [string, Readonly<Record<string, string | readonly string[]>>])[] = [
  ...[
    '',
    '*/*',
    'application/json',
    'application/graphql-response+json',
    'application/*',
    'text/html',
    '*/json',
    'application/graphql-response+json, application/json;q=0.9',
    'text/event-stream',
    'multipart/mixed',
    'text/event-stream, application/json',
    'application/json; charset=latin1',
    'APPLICATION/JSON',
  ].map((accept) => [`accept ${accept}`, { accept }] as const),
  ...[
    'application/json; charset=utf-8',
    'application/JSON',
    'application/graphql',
    'text/plain',
    'application/json;a=b',
    'application/x-www-form-urlencoded',
    'application/json, text/plain',
  ].map((type) => [`content-type ${type}`, { 'content-type': type }] as const),
  ...['', 'Bearer wrong', 'Basic x', `bearer ${gatewayKey}`].map(
    (authorization) => [`authorization ${authorization}`, { authorization }] as const,
  ),
  ['an allowed origin', { origin }],
  ['another origin', { origin: 'https://evil.example' }],
  ['two accepts', { accept: ['text/html', 'application/json'] }],
  ['a body that says it is compressed', { 'content-encoding': 'gzip' }],
];

test.each(heads)('%s is answered alike', async (_name, headers) => {
  for (const body of [small, query('{ unknown }'), query('{ order(id: "x") { id } }'), '{'])
    await expectSame({ headers, body });
});

test.each(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])('%s is answered alike', async (method) => {
  await expectSame({ method, headers: { origin, 'access-control-request-method': 'POST' } });
});

test('what is malformed is answered alike', async () => {
  for (const { bytes } of malformedBodies) await expectSame({ body: bytes });
});

test.each(hostileQueries)('$name is answered alike', async ({ query: text, variables = {} }) => {
  await expectSame({ body: query(text, { variables }) });
});

test.each([
  [
    'operations by name',
    query('query A { viewer { kind } } query B { a: viewer { kind } }', { operationName: 'B' }),
  ],
  ['a name of none', query('query A { viewer { kind } }', { operationName: 'C' })],
  ['no name', query('query A { viewer { kind } } query B { viewer { kind } }')],
  ['extensions', query('{ __typename }', { extensions: { a: 1 } })],
  ['variables that do not fit', query('query ($id: ID!) { order(id: $id) { id } }', { variables: {} })],
  ['too much', JSON.stringify({ query: ' '.repeat(100_001) })],
  ['a batch', `[${small}]`],
  ['a mutation', query('mutation { revokeViewerTokens(input: {}) { __typename } }')],
])('%s: answered alike', async (_name, body) => {
  await expectSame({ body });
});

test('a request takes one point in either lane, wherever its answer is made', async () => {
  const env = { EVENT_LOG: 'memory:', RATE_LIMIT_POINTS: '3' };
  for (const FAST_LANE of ['on', 'off']) {
    await using lab = await startLab({ env: { ...env, FAST_LANE } });
    const statuses = [];
    for (let count = 0; count < 4; count += 1) statuses.push(await send(lab, { body: '{' }));
    expect(statuses.map((told) => Object(told).status)).toEqual([400, 400, 400, 429]);
  }
});
