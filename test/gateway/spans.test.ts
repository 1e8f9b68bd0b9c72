import { SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { errorCodes } from '../../gateway/errors.ts';
import { startIdentityProvider } from '../support/identity-provider.ts';
import { gatewayKey, type Lab, serviceKey, webhookSecret } from '../support/lab.ts';
import {
  callerKey,
  manage,
  managementKey,
  startManagementLab,
  startManagementService,
  teamId,
} from '../support/management.ts';
import { recordSpans } from '../support/spans.ts';
import { transports } from '../support/subscribe.ts';
import { orderEvent, signedHeaders } from './webhooks/support.ts';

const canary = 'canary-value-7d';
const audience = 'https://gateway.example.com/intake/pubsub';
const email = 'push@example.iam.gserviceaccount.com';

/** Headers of a client that puts values into everything that tracing may read. */
const hostile = {
  'x-request-id': canary,
  tracestate: `vendor=${canary}`,
  baggage: `patient=${canary}`,
  traceparent: `00-${canary}-00f067aa0ba902b7-01`,
  'user-agent': canary,
};

const types = ['query', 'mutation', 'subscription'];
const isCode = (value: unknown) => String(value) in errorCodes;
const isNumber = (value: unknown) => typeof value === 'number';
const isOneOf = (values: readonly unknown[]) => (value: unknown) => values.includes(value);
const has = (form: RegExp) => (value: unknown) => typeof value === 'string' && form.test(value);

/** The values that each attribute may have. All of them are the gateway's own. */
const allowed: Readonly<Record<string, (value: unknown) => boolean>> = {
  'http.request.method': isOneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  'http.route': has(/^(?:other|\/|(?:\/:?[a-z.]+)+)$/),
  'url.scheme': isOneOf(['http']),
  'http.response.status_code': isNumber,
  'graphql.operation.type': isOneOf(types),
  'server.address': isOneOf(['127.0.0.1']),
  'server.port': isNumber,
  'labgraph.service.operation': has(/^[a-zA-Z]+(?:[.-][a-zA-Z]+)*$/),
  'labgraph.error.codes': (value) => Array.isArray(value) && value.every(isCode),
  'error.type': (value) => isCode(value) || has(/^5\d\d$/)(value),
  'messaging.system': isOneOf(['labgraph']),
  'messaging.operation.type': isOneOf(['send']),
  'messaging.operation.name': isOneOf(['append']),
  'messaging.destination.name': isOneOf(['events']),
};

/** Every way in, with the ids of a user and an order and values in each place where a client can put text. */
const visits: Readonly<Record<string, (visited: Visited) => Promise<unknown>>> = {
  'a query': (at) => ask(at, { query: aboutUser, variables: { id: at.userId } }),
  'a query over GET': ({ lab, userId }) => {
    const search = new URLSearchParams({ query: aboutUser, variables: JSON.stringify({ id: userId }) });
    return read(`${lab.url}/graphql?${search}`, { headers: withKey });
  },
  'a query that is refused': (at) => ask(at, { query: `{ order(id: "${canary}") { id } }` }),
  'a document that does not fit': (at) => ask(at, { query: `query ${named} { ${named} }` }),
  'a mutation': (at) =>
    ask(at, {
      query: `mutation ${named}($id: ID!) { updateOrder(input: { id: $id, notes: "${canary}" }) { __typename } }`,
      variables: { id: at.orderId },
    }),
  'an upload': async ({ lab, userId }) => {
    const body = new FormData();
    const variables = { input: { userId, idempotencyKey: canary, files: [null] } };
    body.append('operations', JSON.stringify({ query: upload, variables }));
    body.append('map', JSON.stringify({ 0: ['variables.input.files.0'] }));
    body.append('0', new File(['%PDF-1.4 a report'], `${canary}.pdf`, { type: 'application/pdf' }));
    const headers = { ...hostile, authorization: `Bearer ${gatewayKey}` };
    await read(`${lab.url}/graphql`, { method: 'POST', headers, body });
  },
  'paths with values': async ({ lab, userId }) => {
    for (const path of [`documents/${canary}`, `widget/${canary}.js`, `${canary}/${userId}?q=${canary}`])
      await read(`${lab.url}/${path}`, { headers: hostile });
  },
  'a launch': ({ lab }) =>
    read(`${lab.url}/launch`, {
      method: 'POST',
      headers: hostile,
      body: new URLSearchParams({ ticket: canary }),
    }),
  'the management graph': async ({ lab }) => {
    await manage(lab, `query ${named} { team(teamId: "${teamId}") { id name } }`);
    await manage(lab, `{ team(teamId: "${canary}") { id } }`);
  },
  'a message of Pub/Sub': async ({ lab, token, userId }) => {
    const event = orderEvent({ team_id: lab.sandbox.teamId, user_id: userId, client_user_id: canary });
    const attributes = { 'event-type': 'some.event', 'blob-type': 'json', 'idempotency-key': canary };
    const message = { data: Buffer.from(event).toString('base64'), attributes, messageId: canary };
    const body = JSON.stringify({ message, subscription: canary });
    const headers = { ...hostile, authorization: `Bearer ${token}` };
    expect((await read(`${lab.url}/intake/pubsub`, { method: 'POST', headers, body })).status).toBe(204);
  },
  webhooks: async ({ lab, orderId, userId }) => {
    const event = { id: orderId, user_id: userId, team_id: lab.sandbox.teamId, status: canary, events: [] };
    const body = orderEvent({ team_id: lab.sandbox.teamId, user_id: userId, data: event });
    const signed = signedHeaders(body, { id: canary, secret: webhookSecret });
    const url = `${lab.url}/webhooks`;
    expect((await read(url, { method: 'POST', headers: { ...hostile, ...signed }, body })).status).toBe(202);
    expect((await read(url, { method: 'POST', headers: hostile, body })).status).toBe(401);
  },
};

const named = canary.replaceAll('-', '_');
const aboutUser = `query ${named}($id: ID!) { user(id: $id) { clientUserId demographics { email } orders { nodes { id } } } }`;
const upload = 'mutation ($input: CreateLabReportInput!) { createLabReport(input: $input) { __typename } }';
const withKey = { ...hostile, authorization: `Bearer ${gatewayKey}`, accept: 'application/json' };

interface Visited {
  readonly lab: Lab;
  readonly userId: string;
  readonly orderId: string;
  /** With which Pub/Sub pushes. */
  readonly token: string;
}

async function read(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual' });
  await response.arrayBuffer();
  return response;
}

function ask({ lab }: Visited, body: object): Promise<Response> {
  const headers = { ...withKey, 'content-type': 'application/json' };
  return read(`${lab.url}/graphql`, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** A stream over each transport, with an item. */
async function follow({ lab, userId, orderId }: Visited): Promise<void> {
  const text = `subscription ${named} { userOrderUpdates(userId: "${userId}") { cursor order { id notes } } }`;
  for (const [, subscribe] of transports) {
    const stream = await subscribe({ url: lab.url, token: gatewayKey, query: text });
    await stream.next();
    await stream.close();
  }
  const refused = `subscription { orderUpdates(orderId: "${orderId}") { ${named} } }`;
  for (const [, subscribe] of transports) {
    const stream = await subscribe({ url: lab.url, token: gatewayKey, query: refused });
    await stream.next().catch(() => undefined);
    await stream.close();
  }
}

async function signPush(issuer: Awaited<ReturnType<typeof startIdentityProvider>>): Promise<string> {
  const claims = { iss: 'https://accounts.google.com', aud: audience, email, email_verified: true };
  return await new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256', kid: 'RS256' })
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(issuer.keyOf('RS256').privateKey);
}

test('the spans of every transport have only names and values of the gateway itself', async () => {
  using recorded = recordSpans();
  await using google = await startIdentityProvider();
  await using management = await startManagementService();
  {
    await using lab = await startManagementLab(management.url, {
      env: {
        INTAKE_PUBSUB_AUDIENCE: audience,
        INTAKE_PUBSUB_SERVICE_ACCOUNT: email,
        INTAKE_PUBSUB_JWKS_URL: google.keysUrl,
      },
    });
    const [order] = lab.sandbox.orders();
    const { userId = '', orderId = '' } = order ?? {};
    const visited = { lab, userId, orderId, token: await signPush(google) };
    for (const visit of Object.values(visits)) await visit(visited);
    await follow(visited);
    await lab.gateway.close();
    const attributes = recorded.spans().flatMap((span) => Object.entries(span.attributes));
    expect(attributes.filter(([key, value]) => !allowed[key]?.(value))).toEqual([]);
    const text = recorded.text();
    const people = lab.sandbox.users().flatMap((user) => [user.userId, user.clientUserId]);
    const orders = lab.sandbox.orders().map((each) => each.orderId);
    const secrets = [gatewayKey, serviceKey, callerKey, managementKey, visited.token, webhookSecret];
    const hidden = [canary, named, teamId, ...people, ...orders, ...secrets];
    expect(hidden.filter((each) => text.includes(each))).toEqual([]);
  }
  const spans = recorded.spans();
  expect([...new Set(spans.map(({ name }) => name))].toSorted()).toEqual(expectedNames);
  const streams = spans
    .filter(({ name }) => name === 'item')
    .map(({ parentSpanContext }) => parentSpanContext?.spanId);
  expect(new Set(streams).size).toBe(transports.length);
});

/** Each visit has left a span. */
const expectedNames = [
  ...['GET /documents/:ticket', 'GET /graphql', 'GET /widget/:file', 'GET management.team.get'],
  ...['GET order.list', 'GET other', 'GET user.demographics', 'GET user.get', 'POST /graphql'],
  ...['POST /intake/pubsub', 'POST /launch', 'POST /management/graphql', 'POST /webhooks'],
  ...['POST lab-report.create', 'append events', 'item', 'mutation', 'query', 'subscription'],
];
