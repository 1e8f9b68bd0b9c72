import { once } from 'node:events';
import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { at, openSandbox } from './support.ts';

interface Push {
  readonly token: string;
  readonly path: string;
  readonly body: {
    readonly message: {
      readonly data: string;
      readonly attributes: Readonly<Record<string, string>>;
      readonly messageId: string;
      readonly publishTime: string;
      readonly orderingKey?: string;
    };
    readonly subscription: string;
  };
}

const service = openSandbox();
const { sandbox, ask } = service;
const pushes: Push[] = [];
const answers: number[] = [];
const server = createServer(async (request, response) => {
  const text = Buffer.concat(await request.toArray()).toString();
  const token = (request.headers.authorization ?? '').replace('Bearer ', '');
  pushes.push({ token, path: request.url ?? '', body: JSON.parse(text) });
  response.writeHead(answers.shift() ?? 204).end();
});
const audience = 'https://gateway.example.com';
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : null;
  const subscription = 'projects/p/subscriptions/s';
  const query = new URLSearchParams({ subscription, audience, ordering: 'true' });
  sandbox.webhooks.register(`pubsub+http://127.0.0.1:${port}/intake/pubsub?${query}`);
});
afterAll(async () => {
  await sandbox.close();
  server.close();
});

async function verify(token: string) {
  const { body } = await ask<JSONWebKeySet>('GET', '/sandbox/oidc/jwks.json');
  const options = { audience, issuer: 'https://accounts.google.com', algorithms: ['RS256'] };
  return jwtVerify(token, createLocalJWKSet(body), options);
}

test('An event is pushed in the envelope of Pub/Sub, with a token that the published key verifies', async () => {
  const { userId } = at(sandbox.users(), 2);
  sandbox.webhooks.send('daily.data.steps.created', { steps: 1 }, { userId });
  await sandbox.webhooks.settled();
  const { token, path, body } = at(pushes, 0);
  expect(path).toBe('/intake/pubsub');
  expect(body).toEqual({
    message: {
      data: expect.any(String),
      attributes: {
        'event-type': 'daily.data.steps.created',
        'blob-type': 'json',
        'idempotency-key': expect.stringMatching(/^[0-9a-f]{32}$/),
      },
      messageId: '100000001',
      publishTime: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/),
      orderingKey: userId,
    },
    subscription: 'projects/p/subscriptions/s',
  });
  expect(JSON.parse(Buffer.from(body.message.data, 'base64').toString())).toEqual({
    event_type: 'daily.data.steps.created',
    data: { steps: 1 },
    team_id: sandbox.teamId,
    user_id: userId,
    client_user_id: 'member-0003',
  });
  const email = 'push@example.iam.gserviceaccount.com';
  const { payload } = await verify(token);
  expect(payload).toMatchObject({ email, email_verified: true, sub: email, azp: email });
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3600);
});

test('A large event is compressed; a push that is not acknowledged comes again, the same', async () => {
  const order = at(sandbox.orders(), 37);
  pushes.length = 0;
  answers.push(503, 206);
  await ask('POST', `/v3/order/${order.orderId}/test`);
  await sandbox.webhooks.settled();
  expect(pushes.map(({ body }) => body)).toEqual(Array.from({ length: 3 }, () => at(pushes, 0).body));
  const { data, attributes } = at(pushes, 0).body.message;
  expect(attributes).toMatchObject({ 'event-type': 'labtest.order.updated', 'blob-codec': 'gzip' });
  const event = JSON.parse(gunzipSync(Buffer.from(data, 'base64')).toString());
  expect(event).toMatchObject({ user_id: order.userId, data: { id: order.orderId } });
});

test('With the knob wrongSignature the published key does not verify the token', async () => {
  sandbox.webhooks.knobs.wrongSignature = true;
  sandbox.webhooks.send('daily.data.steps.created', {}, { userId: at(sandbox.users(), 0).userId });
  await sandbox.webhooks.settled();
  await expect(verify(at(pushes, -1).token)).rejects.toThrow('no applicable key found');
});

test('A broker is not a webhook of the management interface', async () => {
  const path = `/management/v1/org/${sandbox.orgId}/team/${sandbox.teamId}/sandbox/webhook`;
  const headers = { 'x-management-key': sandbox.managementKey };
  const answer = await sandbox.fetch(new Request(`http://sandbox.test${path}`, { headers }));
  expect(await answer.json()).toEqual({ data: [], next_cursor: null });
});
