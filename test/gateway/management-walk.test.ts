import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import {
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
} from 'graphql';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { managementSchema } from '../../gateway/domain/management-schema.ts';
import { makeFolder } from '../support/folder.ts';
import { gatewayKey, type Lab, serviceKey, startLab } from '../support/lab.ts';
import {
  type Answer,
  callerKey,
  manage,
  managementKey,
  org,
  startManagementLab,
  startManagementService,
  teamId,
} from '../support/management.ts';

const graphs = {
  '/graphql': '{ viewer { kind } }',
  '/management/graphql': '{ organization { id } }',
} as const;

interface Attempt {
  readonly url: string;
  readonly query: string;
  readonly authorization: string | null;
}

function headersOf({ authorization }: Attempt, more: Readonly<Record<string, string>> = {}) {
  return { ...more, ...(authorization === null ? {} : { authorization }) };
}

async function post(attempt: Attempt, accept: string): Promise<string> {
  const { body } = await request(attempt.url, {
    method: 'POST',
    headers: headersOf(attempt, { 'content-type': 'application/json', accept }),
    body: JSON.stringify({ query: attempt.query }),
  });
  return await body.text();
}

async function get(attempt: Attempt): Promise<string> {
  const { body } = await request(`${attempt.url}?query=${encodeURIComponent(attempt.query)}`, {
    headers: headersOf(attempt),
  });
  return await body.text();
}

/** Everything that a socket receives until it has a result or is closed. */
async function overSocket({ url, query, authorization }: Attempt): Promise<string> {
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
      socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query } }));
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
  socket: overSocket,
};

async function isOpen(lab: Lab, path: keyof typeof graphs, key: string | null, transport: string) {
  const authorization = key === null ? null : `Bearer ${key}`;
  const attempt = { url: `${lab.url}${path}`, query: graphs[path], authorization };
  return /"data":\{"(viewer|organization)":\{/.test((await transports[transport]?.(attempt)) ?? '');
}

test('each graph opens to its own credentials only, over every transport', async () => {
  await using lab = await startLab({ managementCaller: callerKey });
  const credentials = {
    none: null,
    gatewayKey,
    viewer: await lab.tokenFor(lab.sandbox.users()[0]?.userId ?? ''),
    management: callerKey,
    managementOfService: lab.sandbox.managementKey,
    teamOfService: serviceKey,
  };
  const open: string[] = [];
  for (const path of ['/graphql', '/management/graphql'] as const)
    for (const [name, key] of Object.entries(credentials))
      for (const transport of Object.keys(transports))
        if (await isOpen(lab, path, key, transport)) open.push(`${path} ${name} ${transport}`);

  const overHttp = ['post', 'get', 'sse', 'multipart'];
  expect(open).toEqual([
    ...[...overHttp, 'socket'].map((transport) => `/graphql gatewayKey ${transport}`),
    ...[...overHttp, 'socket'].map((transport) => `/graphql viewer ${transport}`),
    ...overHttp.map((transport) => `/management/graphql management ${transport}`),
  ]);
});

/** The least value that an input type takes. */
function sampleOf(type: GraphQLInputType): unknown {
  if (isNonNullType(type)) return sampleOf(type.ofType);
  if (isListType(type)) return [sampleOf(type.ofType)];
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (isInputObjectType(type)) {
    const required = Object.values(type.getFields()).filter(isRequiredInputField);
    return Object.fromEntries(required.map((field) => [field.name, sampleOf(field.type)]));
  }
  const samples: Readonly<Record<string, unknown>> = { ID: teamId, Boolean: true, Int: 1 };
  return samples[type.name] ?? 'text';
}

const mutations = Object.values(managementSchema.getMutationType()?.getFields() ?? {}).map((field) => {
  const type = field.args.find(({ name }) => name === 'input')?.type;
  if (type === undefined) throw new Error(`${field.name} has no input.`);
  return {
    name: field.name,
    query: `mutation ($input: ${String(type)}) { ${field.name}(input: $input) { __typename } }`,
    input: sampleOf(type),
  };
});

describe('every mutation', () => {
  const outcomes: readonly (readonly [answer: Answer, typename: string])[] = [
    [[403, { detail: 'This feature is not included in your plan.' }], 'FeatureNotEnabled'],
    [[402, { detail: 'This feature is not included in your plan.' }], 'FeatureNotEnabled'],
    [
      [422, { detail: [{ loc: ['body', 'x'], msg: 'no', type: 'value_error', input: 'x' }] }],
      'InputRejected',
    ],
    [[404, { detail: 'Not found' }], 'NotFound'],
  ];

  test('has each refusal of the service as data, and says after a lost answer that it may have been done', async () => {
    await using service = await startManagementService();
    const env = { PUBLIC_URL: 'https://labs.example' };
    await using lab = await startManagementLab(service.url, { env });
    expect(mutations.length).toBe(25);
    const own = { id: 'ep_own', url: 'https://labs.example/webhooks' };
    for (const environment of ['sandbox', 'production']) {
      const page = { data: [own], next_cursor: null };
      service.answers.set(`GET ${org}/team/${teamId}/${environment}/webhook`, [200, page]);
    }
    for (const [answer, typename] of outcomes) {
      service.answers.set('*', answer);
      const shown: unknown[] = [];
      for (const { name, query, input } of mutations) {
        // The team is read first where the region is needed; only its own routes are refused.
        const { data, errors } = await manage(lab, query, { input: Object(input) });
        shown.push([name, errors, data?.[name]?.__typename]);
      }
      const refusedAtOnce = mutations.map(({ name }) => [name, undefined, typename]);
      expect(shown).toEqual(refusedAtOnce);
    }
    service.answers.set('*', 'lost');
    for (const { name, query, input } of mutations) {
      // One only reads, and two read first (gateway-webhook.test.ts loses their changes).
      if (name === 'revealWebhookSecret' || name.includes('GatewayWebhook')) continue;
      const before = service.seen.filter(({ call }) => !call.startsWith('GET')).length;
      const { errors } = await manage(lab, query, { input: Object(input) });
      const sent = service.seen.filter(({ call }) => !call.startsWith('GET')).length - before;
      expect([name, sent, errors?.[0]?.extensions]).toEqual([
        name,
        1,
        { code: 'UPSTREAM_UNAVAILABLE', mayHaveBeenDone: true },
      ]);
    }
  });
});

test('no secret is in a log line, a metric, an audit line or an error', async () => {
  const folder = makeFolder();
  const shownOnce = 'mg_canary-shown-once';
  const given = 'canary-client-secret';
  await using service = await startManagementService();
  const key = { id: teamId, label: 'x', role: 'org_admin', created_at: '2026-01-01T00:00:00Z' };
  service.answers.set(`POST ${org}/management_key`, [200, { ...key, key: shownOnce }]);
  // The service repeats what it refuses.
  const repeated = { loc: ['body', 'client_secret'], msg: `bad ${given}`, type: 'x', input: given };
  service.answers.set('*', [422, { detail: [repeated] }]);
  const secretInputs = [
    ['createWebhook', { url: `https://u:${given}@hooks.example`, secret: given }],
    ['rotateWebhookSecret', { id: 'ep_1', secret: given }],
    ['setWebhookHeaders', { id: 'ep_1', headers: [{ name: 'authorization', value: given }] }],
    ['setEventPipeline', { rabbitmq: { uri: `amqps://u:${given}@mq.example`, exchange: 'x' } }],
  ] as const;
  const seen: string[] = [];
  {
    const env = {
      AUDIT_TRAIL: `file:${folder.path}`,
      AUDIT_TRAIL_KEY: randomBytes(32).toString('base64'),
    };
    await using lab = await startManagementLab(service.url, { env });
    const made = await manage(
      lab,
      'mutation ($input: CreateManagementKeyInput!) { createManagementKey(input: $input) { ... on ManagementKeyCreated { key } } }',
      { input: { label: 'x', role: 'ORG_ADMIN' } },
    );
    expect(made.data.createManagementKey).toEqual({ key: shownOnce });
    const refused = await manage(
      lab,
      'mutation ($input: SetCustomCredentialsInput!) { setCustomCredentials(input: $input) { __typename ... on InputRejected { message issues { path message } } } }',
      { input: { teamId, environment: 'SANDBOX', provider: 'fitbit', clientSecret: given } },
    );
    expect(refused.data.setCustomCredentials.__typename).toBe('InputRejected');
    for (const [name, input] of secretInputs) {
      const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`;
      const query = `mutation ($input: ${type}!) { ${name}(input: $input) { __typename ... on InputRejected { message issues { path message } } } }`;
      const place = { teamId, environment: 'SANDBOX' };
      const answer = await manage(lab, query, { input: { ...place, ...input } });
      expect([name, answer.data?.[name]?.__typename]).toEqual([name, 'InputRejected']);
      seen.push(JSON.stringify(answer));
    }
    const { body } = await request(`${lab.url}/metrics`);
    seen.push(JSON.stringify(refused), await body.text());
    await lab.gateway.close();
    seen.push(...lab.logged);
  }
  const trail = readdirSync(folder.path).map((file) => readFileSync(folder.file(file), 'utf8'));
  expect(trail.join('')).toMatch(/management:ops-[0-9a-f]{8}/);
  expect(trail.join('')).toContain('write management.management-key.create');
  for (const secret of [shownOnce, given, managementKey, callerKey])
    expect([secret, [...seen, ...trail].join('\n').includes(secret)]).toEqual([secret, false]);
  folder[Symbol.dispose]();
});
