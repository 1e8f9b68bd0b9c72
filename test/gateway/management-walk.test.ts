import { randomBytes } from 'node:crypto';
import { type GraphQLSchema, getNamedType, isCompositeType, isRequiredArgument } from 'graphql';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { managementSchema } from '../../gateway/domain/management-schema.ts';
import { schema } from '../../gateway/domain/schema.ts';
import { gatewayKey, type Lab, serviceKey, startLab } from '../support/lab.ts';
import {
  type Answer,
  callerKey,
  manage,
  managementMutations,
  org,
  sampleOf,
  startManagementLab,
  startManagementService,
  teamId,
} from '../support/management.ts';
import { casesFor } from '../support/runs.ts';

const graphs = {
  '/graphql': { schema, probe: '{ viewer { kind } }' },
  '/management/graphql': { schema: managementSchema, probe: '{ organization { id } }' },
} as const;
type Path = keyof typeof graphs;
const paths = ['/graphql', '/management/graphql'] as const;

interface Attempt {
  readonly url: string;
  readonly query: string;
  readonly variables?: object;
  readonly authorization: string | null;
}

function headersOf({ authorization }: Attempt, more: Readonly<Record<string, string>> = {}) {
  return { ...more, ...(authorization === null ? {} : { authorization }) };
}

async function post(attempt: Attempt, accept: string): Promise<string> {
  const { url, query, variables } = attempt;
  const { body } = await request(url, {
    method: 'POST',
    headers: headersOf(attempt, { 'content-type': 'application/json', accept }),
    body: JSON.stringify({ query, variables }),
  });
  return await body.text();
}

async function get(attempt: Attempt): Promise<string> {
  const { url, query, variables = {} } = attempt;
  const search = new URLSearchParams({ query, variables: JSON.stringify(variables) });
  const { body } = await request(`${url}?${search}`, { headers: headersOf(attempt) });
  return await body.text();
}

/** As a form, the way files are sent. */
async function upload(attempt: Attempt): Promise<string> {
  const { url, query, variables } = attempt;
  const form = new FormData();
  form.append('operations', JSON.stringify({ query, variables }));
  form.append('map', '{}');
  const answer = await fetch(url, { method: 'POST', headers: headersOf(attempt), body: form });
  return await answer.text();
}

/** Everything that a socket receives until it has a result or is closed. */
async function overSocket({ url, query, variables, authorization }: Attempt): Promise<string> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), 'graphql-transport-ws');
  const received: string[] = [];
  socket.on('error', () => {});
  socket.on('open', () =>
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization } })),
  );
  socket.on('message', (data) => {
    const text = String(data);
    received.push(text);
    const { type } = JSON.parse(text);
    if (type === 'connection_ack')
      socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query, variables } }));
    else socket.close();
  });
  // Not `once` of node:events: it rejects with the error of a refused upgrade.
  await new Promise((resolve) => socket.on('close', resolve));
  return received.join('\n');
}

const transports: Readonly<Record<string, (attempt: Attempt) => Promise<string>>> = {
  post: (attempt) => post(attempt, 'application/json'),
  get,
  sse: (attempt) => post(attempt, 'text/event-stream'),
  multipart: (attempt) => post(attempt, 'multipart/mixed;subscriptionSpec="1.0"'),
  upload,
  socket: overSocket,
};

/** The credentials that there are, by name. */
async function credentialsOf(lab: Lab): Promise<Readonly<Record<string, string | null>>> {
  return {
    none: null,
    gatewayKey,
    viewer: await lab.tokenFor(lab.sandbox.users()[0]?.userId ?? '', {
      scopes: ['read:profile', 'write:lab-reports'],
    }),
    management: callerKey,
    managementOfService: lab.sandbox.managementKey,
    teamOfService: serviceKey,
  };
}

const bearer = (key: string | null) => (key === null ? null : `Bearer ${key}`);

test('each graph opens to its own credentials only, over every transport', async () => {
  await using lab = await startLab({ managementCaller: callerKey });
  const open: string[] = [];
  for (const path of paths)
    for (const [name, key] of Object.entries(await credentialsOf(lab)))
      for (const [transport, send] of Object.entries(transports)) {
        const attempt = { url: `${lab.url}${path}`, query: graphs[path].probe, authorization: bearer(key) };
        if (/"data":\{"(viewer|organization)":\{/.test(await send(attempt)))
          open.push(`${path} ${name} ${transport}`);
      }

  const overHttp = ['post', 'get', 'sse', 'multipart'];
  expect(open).toEqual([
    ...[...overHttp, 'upload', 'socket'].map((transport) => `/graphql gatewayKey ${transport}`),
    ...[...overHttp, 'upload', 'socket'].map((transport) => `/graphql viewer ${transport}`),
    ...overHttp.map((transport) => `/management/graphql management ${transport}`),
  ]);
});

/** An operation for each root field, with the least values that its arguments take. */
function operationsOf(of: GraphQLSchema) {
  const roots = [of.getQueryType(), of.getMutationType(), of.getSubscriptionType()].filter(
    (type) => type != null,
  );
  return roots.flatMap((type) =>
    Object.values(type.getFields()).map((field) => {
      const args = field.args.filter(isRequiredArgument);
      const declared = args.map((arg) => `$${arg.name}: ${String(arg.type)}`).join(', ');
      const passed = args.map(({ name }) => `${name}: $${name}`).join(', ');
      const wrap = (text: string) => (text === '' ? '' : `(${text})`);
      const selection = isCompositeType(getNamedType(field.type)) ? '{ __typename }' : '';
      return {
        query: `${type.name.toLowerCase()} ${wrap(declared)} { ${field.name}${wrap(passed)} ${selection} }`,
        variables: Object.fromEntries(args.map((arg) => [arg.name, sampleOf(arg.type)])),
      };
    }),
  );
}

const openTo: Readonly<Record<Path, readonly string[]>> = {
  '/graphql': ['gatewayKey', 'viewer'],
  '/management/graphql': ['management'],
};

test('no root field of either graph is reached with a credential of the other, or at the other', async () => {
  await using lab = await startLab({
    managementCaller: callerKey,
    env: { MAX_CONNECTIONS: '1000', RATE_LIMIT_POINTS: '0' },
  });
  const credentials = Object.entries(await credentialsOf(lab));
  const attempts = paths.flatMap((path) =>
    paths.flatMap((other) =>
      operationsOf(graphs[other].schema).flatMap((operation, row) =>
        credentials.flatMap(([name, key], column) => {
          // What is left out is allowed: each graph's own fields, for its own callers.
          if (path === other && openTo[path].includes(name)) return [];
          const attempt = { path, name, ...operation, authorization: bearer(key) };
          return casesFor(row + column, Object.keys(transports)).map((transport) => ({
            ...attempt,
            transport,
          }));
        }),
      ),
    ),
  );
  expect(attempts.length).toBeGreaterThan(800);
  lab.sandbox.clearCalls();
  const crossed: string[] = [];
  const waiting = [...attempts];
  const work = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { path, name, transport, ...operation } = next;
      const answer = (await transports[transport]?.({ ...operation, url: `${lab.url}${path}` })) ?? '';
      if (/"data":\{/.test(answer)) crossed.push(`${path} ${name} ${transport} ${operation.query}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  expect(crossed).toEqual([]);
  expect(lab.sandbox.calls).toEqual([]);
}, 300_000);

const mutations = managementMutations();

describe('every mutation', () => {
  /** Two change the webhook of the gateway, which is there and switched off. */
  const own = { id: 'ep_own', url: 'https://labs.example/webhooks', disabled: true };
  const key = `whsec_${randomBytes(32).toString('base64')}`;

  async function openService() {
    const service = await startManagementService();
    const lab = await startManagementLab(service.url, { env: { PUBLIC_URL: 'https://labs.example' } });
    for (const environment of ['sandbox', 'production']) {
      const path = `GET ${org}/team/${teamId}/${environment}/webhook`;
      service.answers.set(path, [200, { data: [own], next_cursor: null }]);
      service.answers.set(`${path}/ep_own/secret`, [200, { key }]);
    }
    return { service, lab };
  }

  const detail = 'This feature is not included in your plan.';
  const refusals: readonly (readonly [outcome: string, answer: Answer, typename: string])[] = [
    ['a plan without it, 403', [403, { detail }], 'FeatureNotEnabled'],
    ['a plan without it, 402', [402, { detail }], 'FeatureNotEnabled'],
    [
      'an input that is refused',
      [422, { detail: [{ loc: ['body', 'x'], msg: 'no', type: 'value_error', input: 'x' }] }],
      'InputRejected',
    ],
    ['a conflict', [409, { detail: 'It exists already.' }], 'InputRejected'],
    ['nothing of that name', [404, { detail: 'Not found' }], 'NotFound'],
  ];

  test.each(refusals)('has %s as data', async (_, answer, typename) => {
    const { service, lab } = await openService();
    await using _service = service;
    await using _lab = lab;
    expect(mutations.length).toBe(25);
    service.answers.set('*', answer);
    for (const { name, query, input } of mutations) {
      const { data, errors } = await manage(lab, query, { input: Object(input) });
      expect([name, errors, data?.[name]?.__typename]).toEqual([name, undefined, typename]);
    }
  });

  const faults: readonly (readonly [outcome: string, answer: Answer, code: string, mayBeDone: boolean])[] = [
    ['a lost answer', 'lost', 'UPSTREAM_UNAVAILABLE', true],
    ['a failure', [500, {}], 'UPSTREAM_UNAVAILABLE', true],
    ['an answer that is no outcome', [202, {}], 'UPSTREAM_UNREADABLE', true],
    ['too many calls', [429, {}], 'UPSTREAM_RATE_LIMITED', false],
    ['a key that is refused', [401, { detail: 'invalid token' }], 'UPSTREAM_UNAUTHORIZED', false],
  ];

  test.each(faults)('says after %s whether it may have been done, and is sent once', async (...row) => {
    const [, answer, code, mayHaveBeenDone] = row;
    const { service, lab } = await openService();
    await using _service = service;
    await using _lab = lab;
    service.answers.set('*', answer);
    for (const { name, query, input } of mutations) {
      // The one that only reads.
      if (name === 'revealWebhookSecret') continue;
      const before = service.seen.filter(({ call }) => !call.startsWith('GET')).length;
      const { errors } = await manage(lab, query, { input: Object(input) });
      const sent = service.seen.filter(({ call }) => !call.startsWith('GET')).length - before;
      expect([name, sent, errors?.[0]?.extensions]).toEqual([name, 1, { code, mayHaveBeenDone }]);
    }
  });
});
