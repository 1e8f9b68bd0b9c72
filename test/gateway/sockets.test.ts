import { once } from 'node:events';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { gatewayKey, startLab } from '../support/lab.ts';
import { openSocket } from '../support/socket.ts';

test.each<readonly [string, Record<string, unknown>, string]>([
  ['query ($id: ID!) { order(id: $id) { id } }', {}, 'BAD_USER_INPUT'],
  ['query ($first: Int!) { users(first: $first) { nodes { id } } }', { first: 'many' }, 'BAD_USER_INPUT'],
  ['query ($skip: Boolean!) { viewer { kind @skip(if: $skip) } }', {}, 'BAD_USER_INPUT'],
  [
    'mutation ($input: CreateViewerTokenInput!) { createViewerToken(input: $input) { token } }',
    { input: {} },
    'BAD_USER_INPUT',
  ],
  ['subscription ($id: ID!) { orderUpdates(orderId: $id) { cursor } }', {}, 'BAD_USER_INPUT'],
  ['subscription ($after: EventCursor) { events(after: $after) { cursor } }', { after: 5 }, 'BAD_USER_INPUT'],
  ['{ nowhere }', {}, 'GRAPHQL_VALIDATION_FAILED'],
  ['{ unclosed', {}, 'GRAPHQL_PARSE_FAILED'],
  ['query A { viewer { kind } } query B { viewer { kind } }', {}, 'BAD_REQUEST'],
  [
    `{ ${Array.from({ length: 60 }, (_, index) => `a${index}: viewer { kind }`).join(' ')} }`,
    {},
    'QUERY_TOO_COSTLY',
  ],
])(
  '%s with %j ends that operation with an error and leaves the socket open',
  async (query, variables, code) => {
    await using lab = await startLab();
    const socket = openSocket(lab);
    const result = await socket.ask(query, variables);
    expect(result.errors?.[0]?.extensions).toEqual({ code });
    expect((await socket.ask('{ viewer { kind } }')).data).toEqual({ viewer: { kind: 'TEAM' } });
    await socket.client.dispose();
  },
);

test('the same fault has the same code over HTTP, whichever transport met it first', async () => {
  await using lab = await startLab();
  const socket = openSocket(lab);
  await socket.ask('{ unclosed');
  expect((await lab.query('{ unclosed')).errors?.[0]?.extensions).toEqual({ code: 'GRAPHQL_PARSE_FAILED' });
  await socket.client.dispose();
});

test.each([
  ['be named with capitals, like a header', 'Authorization', gatewayKey],
  ['end with the newline of its file, like a header', 'authorization', `${gatewayKey}\n`],
])('the credential of a socket may %s', async (_what, header, key) => {
  await using lab = await startLab();
  const { ask, client, closed } = openSocket(lab, key, header);
  const answer = await Promise.race([ask('{ viewer { kind } }'), closed]);
  expect(answer).toEqual({ data: { viewer: { kind: 'TEAM' } } });
  await client.dispose();
});

test.each([
  ['no credential', gatewayKey, 'token', 'Send "Authorization: Bearer'],
  ['a wrong key', 'wrong', 'authorization', 'The bearer token is no gateway key and no viewer token.'],
  ['a token that is not valid', 'a.b.c', 'authorization', 'The viewer token is not valid or has expired.'],
])('a socket with %s closes with 4403 and says why, as over HTTP', async (_what, token, header, reason) => {
  await using lab = await startLab();
  const { client } = openSocket(lab, token, header);
  const closed = await new Promise((resolve) => client.on('closed', resolve));
  expect(closed).toMatchObject({ code: 4403, reason: expect.stringContaining(reason) });
});

test('clients that are no browsers may send the credential with the upgrade; that of connectionParams counts first', async () => {
  await using lab = await startLab();
  const answerTo = async (header: string, payload?: object) => {
    const url = `${lab.url.replace('http', 'ws')}/graphql`;
    const socket = new WebSocket(url, 'graphql-transport-ws', { headers: { authorization: header } });
    await once(socket, 'open');
    const answer = Promise.race([
      once(socket, 'message').then(([message]) => JSON.parse(String(message)).type),
      once(socket, 'close').then(([code]) => code),
    ]);
    socket.send(JSON.stringify({ type: 'connection_init', payload }));
    const given = await answer;
    socket.terminate();
    return given;
  };
  const right = `Bearer ${gatewayKey}`;

  expect(await answerTo(right)).toBe('connection_ack');
  expect(await answerTo(right, { a: 1 })).toBe('connection_ack');
  expect(await answerTo('Basic YTpi', { authorization: right })).toBe('connection_ack');
  expect(await answerTo(right, { authorization: 'Bearer wrong' })).toBe(4403);
  expect(await answerTo('Basic YTpi')).toBe(4403);
});

test('a socket closes with 4403 when its token ends, and not before', async () => {
  await using lab = await startLab();
  const token = await lab.tokenFor(lab.sandbox.users()[0]?.userId ?? '', { ttlSeconds: 1 });
  const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  expect(await openSocket(lab, token).closed).toBe(4403);
  expect(Date.now()).toBeGreaterThanOrEqual((exp - 1) * 1000);
});

test('a client that never answers the close does not hold up a gateway that stops', async () => {
  await using lab = await startLab();
  const socket = new WebSocket(`${lab.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  await once(socket, 'open');
  socket.pause();
  const stopped = lab.gateway.close().then(() => 'stopped');
  // The library itself would wait for thirty seconds; this test for five.
  expect(await stopped).toBe('stopped');
  socket.terminate();
});

test('a stopping gateway closes sockets with 1012 and ends streams over SSE', async () => {
  const lab = await startLab();
  const socket = openSocket(lab);
  await socket.ask('{ viewer { kind } }');
  await lab[Symbol.asyncDispose]();
  expect(await socket.closed).toBe(1012);
});

test('variables of a GET that are no JSON are a bad request and no fault of the gateway', async () => {
  await using lab = await startLab();
  const response = await fetch(`${lab.url}/graphql?query=%7Bviewer%7Bkind%7D%7D&variables=%7Bx`, {
    headers: { authorization: `Bearer ${gatewayKey}` },
  });
  expect(response.status).toBe(400);
  expect((await response.json()).errors[0].extensions).toEqual({ code: 'BAD_REQUEST' });
});

test('empty parameters of a GET count as left out', async () => {
  await using lab = await startLab();
  const response = await fetch(
    `${lab.url}/graphql?query=%7Bviewer%7Bkind%7D%7D&variables=&operationName=&extensions=`,
    { headers: { authorization: `Bearer ${gatewayKey}` } },
  );
  expect(await response.json()).toEqual({ data: { viewer: { kind: 'TEAM' } } });
});

test('a webhook of another team is a dead letter even before the first request to the service', async () => {
  await using lab = await startLab();
  const events = openSocket(lab).ask('subscription { events { type teamId } }');
  const user = lab.sandbox.users()[0]?.userId ?? '';
  const { Webhook } = await import('standardwebhooks');
  const { webhookSecret } = await import('../support/lab.ts');
  const body = JSON.stringify({
    event_type: 'foreign',
    data: {},
    team_id: crypto.randomUUID(),
    user_id: user,
  });
  const now = new Date();
  const answer = await fetch(`${lab.url}/webhooks`, {
    method: 'POST',
    body,
    headers: {
      'svix-id': 'msg_foreign',
      'svix-timestamp': String(Math.floor(now.getTime() / 1000)),
      'svix-signature': new Webhook(webhookSecret).sign('msg_foreign', now, body),
    },
  });
  expect(answer.status).toBe(202);
  lab.sandbox.webhooks.send('own.event', {}, { userId: user });
  expect((await events).data).toEqual({ events: { type: 'own.event', teamId: lab.sandbox.teamId } });
});
