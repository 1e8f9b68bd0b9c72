import { once } from 'node:events';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { openEventStream } from '../support/event-stream.ts';
import { gatewayKey, startLab, webhookSecret } from '../support/lab.ts';
import { silence } from '../support/misbehaving-service.ts';
import { sendRaw } from '../support/raw-http.ts';
import { recordSpans } from '../support/spans.ts';
import { startSpoiltLab } from '../support/spoilt-lab.ts';
import { orderEvent, signedHeaders } from './webhooks/support.ts';

const auditKey = Buffer.alloc(32, 'a').toString('base64');
const authorization = `Bearer ${gatewayKey}`;
const json = { 'content-type': 'application/json' };
const uuid = /^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/;

/** Requests of every kind that the gateway answers or refuses, with the status of each. */
const requests: readonly (readonly [
  number,
  string,
  RequestInit & { readonly headers?: Record<string, string> },
])[] = [
  [
    200,
    '/graphql',
    { method: 'POST', headers: { ...json, authorization }, body: '{"query":"{ viewer { kind } }"}' },
  ],
  [200, '/graphql?query={viewer{kind}}', { headers: { authorization } }],
  [
    200,
    '/graphql',
    {
      method: 'POST',
      headers: { ...json, authorization, accept: 'text/event-stream' },
      body: '{"query":"{ viewer { kind } }"}',
    },
  ],
  [
    400,
    '/graphql',
    {
      method: 'POST',
      headers: { ...json, authorization, accept: 'application/graphql-response+json' },
      body: '{"query":"{"}',
    },
  ],
  [400, '/graphql', { method: 'POST', headers: { ...json, authorization }, body: 'not json' }],
  [401, '/graphql', { method: 'POST', headers: json, body: '{}' }],
  [
    400,
    '/graphql',
    {
      method: 'POST',
      headers: { authorization, 'content-type': 'multipart/form-data; boundary=x' },
      body: 'x',
    },
  ],
  [415, '/graphql', { method: 'POST', headers: { authorization, 'content-type': 'text/plain' }, body: 'x' }],
  [404, '/documents/unknown', {}],
  [401, '/webhooks', { method: 'POST', body: '{}' }],
  [200, '/health', {}],
  [404, '/nowhere', {}],
];

test('every answer has the id that its request brought, or a new one', async () => {
  await using lab = await startLab();
  for (const [status, path, init] of requests) {
    const headers = { ...init.headers, 'x-request-id': 'a/b c:7' };
    const named = await fetch(`${lab.url}${path}`, { ...init, headers });
    const unnamed = await fetch(`${lab.url}${path}`, init);
    const answered = {
      path,
      statuses: [named.status, unnamed.status],
      id: named.headers.get('x-request-id'),
    };
    expect(answered).toEqual({ path, statuses: [status, status], id: 'a/b c:7' });
    expect(unnamed.headers.get('x-request-id')).toMatch(uuid);
    await named.body?.cancel();
    await unnamed.body?.cancel();
  }
  for (const sent of ['x'.repeat(129), 'caf\u00e9']) {
    const answer = await fetch(`${lab.url}/health`, { headers: { 'x-request-id': sent } });
    expect(answer.headers.get('x-request-id')).toMatch(uuid);
  }
  const request = new Request(`${lab.url}/health`, { headers: { 'x-request-id': 'in-process' } });
  expect((await lab.gateway.fetch(request)).headers.get('x-request-id')).toBe('in-process');
});

test('so have refusals on the bare connection and the answer to an upgrade', async () => {
  await using lab = await startLab();
  const id = 'X-Request-Id: bare-1\r\n';
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
  const heads = [
    `GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n${id}\r\n`,
    `GET /elsewhere HTTP/1.1\r\nHost: gateway\r\n${upgrade}${id}\r\n`,
    `GET /graphql HTTP/1.1\r\nHost: gateway\r\nOrigin: https://elsewhere.example\r\n${upgrade}${id}\r\n`,
  ];
  const answers = await Promise.all(heads.map((head) => sendRaw(lab.url, Buffer.from(head))));
  expect(answers.map((answer) => answer.split('\r\n')[0])).toEqual([
    'HTTP/1.1 400 Bad Request',
    'HTTP/1.1 404 Not Found',
    'HTTP/1.1 403 Forbidden',
  ]);
  for (const answer of answers) expect(answer.toLowerCase()).toContain('x-request-id: bare-1\r\n');

  const socket = new WebSocket(`${lab.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
    headers: { 'x-request-id': 'socket-1' },
  });
  const [upgraded] = await once(socket, 'upgrade');
  expect(upgraded.headers['x-request-id']).toBe('socket-1');
  socket.terminate();
});

test('every log line of a request has its id, and INTERNAL shows the same id', async () => {
  await using lab = await startLab({
    env: { ACCESS_LOG: '1' },
    make: async (parts) => {
      const { createGateway } = await import('../../gateway/gateway.ts');
      const createLoaders = () => {
        throw new Error('A planted fault.');
      };
      return await createGateway({ ...parts, factories: { createLoaders } });
    },
  });
  const answer = await fetch(`${lab.url}/graphql`, {
    method: 'POST',
    headers: { ...json, authorization, 'x-request-id': 'broken-1' },
    body: '{"query":"{ viewer { kind } }"}',
  });
  const { errors } = (await answer.json()) as { errors: { extensions: object }[] };
  expect(errors[0]?.extensions).toEqual({ code: 'INTERNAL', requestId: 'broken-1' });
  const body = orderEvent({ team_id: lab.sandbox.teamId });
  const headers = {
    ...signedHeaders(body, { id: 'm', age: 0, secret: webhookSecret }),
    'x-request-id': 'hook-1',
  };
  await fetch(`${lab.url}/webhooks`, { method: 'POST', headers, body });

  const eventsOf = (id: string) =>
    lab.logged
      .map((line): { event: string; requestId?: string } => JSON.parse(line))
      .filter(({ requestId }) => requestId === id)
      .map(({ event }) => event);
  await expect.poll(() => eventsOf('broken-1')).toEqual(['graphql.failed', 'request.answered']);
  await expect
    .poll(() => eventsOf('hook-1'))
    .toEqual(expect.arrayContaining(['webhook.accepted', 'request.answered']));
});

test('the access log has a line for each answer, with the route and nothing personal', async () => {
  await using lab = await startLab({
    env: {
      ACCESS_LOG: '1',
      AUDIT_TRAIL: `file:${process.env.TMPDIR ?? '/tmp'}/audit-${crypto.randomUUID()}`,
      AUDIT_TRAIL_KEY: auditKey,
    },
  });
  const userId = lab.sandbox.users()[0]?.userId ?? '';
  const token = await lab.tokenFor(userId);
  await lab.query(`{ user(id: "${userId}") { id } }`, { token });
  await fetch(`${lab.url}/documents/a-ticket?name=somebody`, { headers: { 'x-request-id': 'd' } });
  const lines = () =>
    lab.logged
      .map((line): Record<string, unknown> => JSON.parse(line))
      .filter(({ event }) => event === 'request.answered');
  await expect.poll(() => lines().length).toBe(3);
  expect(lines()[2]).toEqual({
    ...{ level: 30, time: expect.any(String), event: 'request.answered', requestId: 'd' },
    ...{ method: 'GET', route: '/documents/:ticket', status: 404 },
    ...{ durationMs: expect.any(Number), bytes: expect.any(Number) },
  });
  expect(lines().map(({ caller }) => caller)).toEqual([
    expect.stringMatching(/^key-[\da-f]{8}$/),
    expect.stringMatching(/^user-[\da-f]{16}$/),
    undefined,
  ]);
  expect(lab.logged.join('')).not.toContain(userId);
  expect(lab.logged.join('')).not.toContain('somebody');
});

test('the line of a request whose client leaves has its id, and says whether it was answered', async () => {
  using recorded = recordSpans();
  await using lab = await startSpoiltLab({ env: { ACCESS_LOG: '1' } });
  const linesOf = (id: string) =>
    lab.logged
      .map((line): Record<string, unknown> => JSON.parse(line))
      .filter(({ event, requestId }) => event === 'request.answered' && requestId === id);
  const [{ orderId, userId } = { orderId: '', userId: '' }] = lab.sandbox.orders();
  const stream = await openEventStream({
    ...{ url: lab.url, token: await lab.tokenFor(userId), requestId: 'stream-1' },
    query: `subscription { orderUpdates(orderId: "${orderId}") { cursor } }`,
  });
  await stream.next();
  const sent = lab.sent.length;
  lab.spoil({ at: /^GET /, isDone: false, answer: silence });
  const client = new AbortController();
  const asked = fetch(`${lab.url}/graphql`, {
    method: 'POST',
    headers: { ...json, authorization, 'x-request-id': 'gone-1' },
    body: '{"query":"{ users(first: 1) { nodes { id } } }"}',
    signal: client.signal,
  });
  await expect.poll(() => lab.sent.length).toBe(sent + 1);

  client.abort();
  stream.leave();

  await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
  await expect.poll(() => linesOf('gone-1')).toMatchObject([{ status: 499, bytes: 0 }]);
  await expect.poll(() => linesOf('stream-1')).toMatchObject([{ status: 200 }]);
  const failed = recorded.spans().filter(({ name, status }) => name === 'POST /graphql' && status.code === 2);
  expect(failed.map(({ attributes }) => attributes)).toEqual([
    {
      'http.request.method': 'POST',
      'http.route': '/graphql',
      'url.scheme': 'http',
      'error.type': 'ABANDONED',
    },
  ]);
});
