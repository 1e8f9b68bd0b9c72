import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeFolder } from '../../support/folder.ts';
import { gatewayKey, type Lab, startLab } from '../../support/lab.ts';
import { pageOrigin, postTicket, takeTicket } from '../../support/launch.ts';
import { callerKey, manage } from '../../support/management.ts';
import { subscribeOverSse, subscribeOverWebSocket } from '../../support/subscribe.ts';
import { accessesIn, examine, filesOf, key, pseudonymOf } from './support.ts';

const folder = makeFolder();
let lab: Lab;

beforeAll(async () => {
  lab = await startLab({
    managementCaller: callerKey,
    env: {
      EVENT_LOG: 'memory:',
      GATEWAY_API_KEYS: `billing=${gatewayKey}`,
      AUDIT_TRAIL: `file:${folder.path}`,
      AUDIT_TRAIL_KEY: key.toString('base64'),
    },
  });
});
afterAll(async () => {
  await lab[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** What was accessed since the last time. The trail is in order: once a mark of our own is written, all before it is. */
async function takeAccesses() {
  marks += 1;
  await lab.tokenFor(markOf(marks));
  const [before, now] = [pseudonymOf(markOf(marks - 1)), pseudonymOf(markOf(marks))];
  const find = () => accessesIn(folder.path).findIndex(({ user }) => user === now);
  await expect.poll(find, { interval: 10 }).toBeGreaterThan(-1);
  const all = accessesIn(folder.path);
  return all.slice(all.findIndex(({ user }) => user === before) + 1, find());
}
let marks = 0;
const markOf = (count: number) => `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;

const keyDigest = createHash('sha256').update(gatewayKey).digest('hex');
const team = { caller: `billing-${keyDigest.slice(0, 8)}` };
const ok = (kind: string, userId: string) => ({ ...team, kind, user: pseudonymOf(userId), outcome: 'ok' });
const order = () => lab.sandbox.orders()[0] ?? fail();
const another = () => lab.sandbox.orders().find(({ userId }) => userId !== order().userId) ?? fail();
const fail = (): never => {
  throw new Error('The world has no such order.');
};

test('a query over many users is one line for each user and kind, however much it nests', async () => {
  await lab.query(`{ users(first: 20) { nodes { id demographics { firstName }
    orders(first: 20) { nodes { id status { label } } } } } }`);
  const accesses = await takeAccesses();
  const users = new Set(accesses.map(({ user }) => user));
  expect(users.size).toBe(Math.min(lab.sandbox.users().length, 20));
  expect(new Set(accesses.map(({ kind }) => kind))).toEqual(
    new Set(['read user.list', 'read user.demographics', 'read order.list']),
  );
  expect(accesses).toHaveLength(users.size * 3);
  expect(new Set(accesses.map((access) => JSON.stringify(access))).size).toBe(accesses.length);
});

test('of a management key that is not there the trail says that none was deleted', async () => {
  await manage(
    lab,
    'mutation ($input: DeleteManagementKeyInput!) { deleteManagementKey(input: $input) { __typename } }',
    { input: { id: crypto.randomUUID() } },
  );
  expect(await takeAccesses()).toMatchObject([
    { kind: 'write management.management-key.delete', outcome: 'not-found' },
  ]);
});

test('reads that share one answer of the service are each an access', async () => {
  const { orderId, userId } = order();
  await Promise.all(Array.from({ length: 10 }, () => lab.query(`{ order(id: "${orderId}") { id } }`)));
  expect(await takeAccesses()).toEqual(Array.from({ length: 10 }, () => ok('read order.get', userId)));
});

test('of a viewer the trail says which user and which token, and what was refused is there as well', async () => {
  const { userId } = order();
  const token = await lab.tokenFor(userId);
  await takeAccesses();
  const ask = (query: string) => lab.query(query, { token });
  await ask(`{ order(id: "${order().orderId}") { id } }`);
  await ask(`{ order(id: "${another().orderId}") { id } }`);
  await ask(`{ order(id: "${crypto.randomUUID()}") { id } }`);
  await ask(`{ user(id: "${userId}") { demographics { firstName } } }`);
  await ask(`mutation { cancelOrder(id: "${order().orderId}") { __typename } }`);
  await ask(`mutation { createPortalUrl(input: { userId: "${another().userId}" }) { __typename } }`);
  const caller = { caller: `user-${pseudonymOf(userId)}`, token: expect.stringMatching(/^[0-9a-f]{16}$/) };
  const own = pseudonymOf(userId);
  const accesses = await takeAccesses();
  expect(accesses).toEqual(accesses.map(() => expect.objectContaining(caller)));
  expect(accesses.map(({ kind, user, outcome }) => [kind, user, outcome])).toEqual([
    ['read order.get', own, 'ok'],
    ['read order.get', pseudonymOf(another().userId), 'refused'],
    ['read order.list', own, 'ok'],
    ['read order.get', null, 'not-found'],
    ['read order.list', own, 'ok'],
    ['read user.get', own, 'ok'],
    ['scope read:profile', own, 'refused'],
    ['scope write:orders', own, 'refused'],
    ['write portal.create-url', pseudonymOf(another().userId), 'refused'],
  ]);
});

test('what fails says how, and a write that is repeated under its key is an access again', async () => {
  const { userId } = order();
  lab.sandbox.faults.add({ path: '/v2/user', effect: { kind: 'featureNotEnabled' } });
  await lab.query(`{ user(id: "${userId}") { demographics { firstName } } }`);
  lab.sandbox.faults.clear();
  expect(await takeAccesses()).toEqual([{ ...ok('read user.get', userId), outcome: 'UPSTREAM_FORBIDDEN' }]);

  const kit = lab.sandbox.labTests().find(({ method }) => method === 'testkit');
  const place = () =>
    lab.query(`mutation { createTestkitOrder(input: { userId: "${userId}", labTestId: "${kit?.labTestId}",
      idempotencyKey: "once", shippingDetails: { receiverName: "R", firstLine: "1 A Street", city: "Phoenix",
      state: "AZ", zip: "85004", country: "US", phoneNumber: "+16025550143" } }) { __typename } }`);
  expect((await place()).data.createTestkitOrder.__typename).toBe('OrderCreated');
  expect(await takeAccesses()).toEqual([ok('write order.create-testkit', userId)]);
  await place();
  expect(await takeAccesses()).toEqual([ok('write order.create-testkit', userId)]);
});

test('streams are accesses of those whom they show', async () => {
  const { orderId, userId } =
    lab.sandbox.orders().find(({ status }) => status.endsWith('.ordered')) ?? fail();
  const updates = `subscription { orderUpdates(orderId: "${orderId}") { kind } }`;
  const streams = await Promise.all([
    subscribeOverSse({ url: lab.url, token: gatewayKey, query: updates }),
    subscribeOverWebSocket({ url: lab.url, token: gatewayKey, query: updates }),
    subscribeOverSse({ url: lab.url, token: gatewayKey, query: 'subscription { events { type } }' }),
  ]);
  await Promise.all(streams.slice(0, 2).map((stream) => stream.next()));
  await lab.query(`mutation { simulateOrder(id: "${orderId}") { __typename } }`);
  await Promise.all(streams.map((stream) => stream.next()));
  await Promise.all(streams.map((stream) => stream.close()));
  const accesses = await takeAccesses();
  expect(accesses).toEqual(accesses.map(({ kind }) => ok(kind, userId)));
  expect(
    accesses
      .map(({ kind }) => kind)
      .filter((kind) => kind.startsWith('stream'))
      .toSorted(),
  ).toEqual(['stream order.updates', 'stream order.updates', 'stream service-event.stream']);
});

test('documents, launches and tokens are accesses of who asked for the ticket', async () => {
  const { orderId, userId } = order();
  const asked = `mutation { createDocumentTicket(input: { orderId: "${orderId}", kind: RESULT }) {
    ... on DocumentTicket { url } } }`;
  const { url } = (await lab.query(asked)).data.createDocumentTicket;
  await (await fetch(`${lab.url}${url}`)).arrayBuffer();
  const ticket = await takeTicket(lab, { userId, origin: pageOrigin });
  await postTicket(lab, ticket);
  await lab.query(`mutation { revokeViewerTokens(input: { userId: "${userId}" }) { revokedAt } }`);
  const kinds = (await takeAccesses()).map(({ caller, kind, user, outcome }) => {
    expect([caller, user, outcome]).toEqual([team.caller, pseudonymOf(userId), 'ok']);
    return kind;
  });
  expect(kinds).toEqual(
    expect.arrayContaining(['file result.pdf', 'write portal.create-url', 'write viewer-token.revoke']),
  );
});

test('nobody reads the catalogue, and what the gateway asks for itself is nobody’s access', async () => {
  await lab.query(
    '{ markers(first: 1) { nodes { id } } labTests(first: 1) { nodes { id } } viewer { kind } }',
  );
  await lab.gateway.fetch(new Request(`${lab.url}/ready`));
  expect(await takeAccesses()).toEqual([]);
});

test('the gateway reports the state of the trail, and closes with all of it written and valid', async () => {
  const ready = await (await lab.gateway.fetch(new Request(`${lab.url}/ready`))).json();
  expect(ready).toEqual({ status: 'ready', eventLog: true, service: true, auditTrail: true, problems: [] });
  const metrics = await (await lab.gateway.fetch(new Request(`${lab.url}/metrics`))).text();
  expect(metrics).toContain('labgraph_audit_trail_writable 1');
  expect(metrics).toMatch(/labgraph_audit_records_total\{outcome="written"\} \d+/);
  await lab.query(`{ order(id: "${order().orderId}") { id } }`);
  await lab.gateway.close();
  expect(accessesIn(folder.path).at(-1)).toEqual(ok('read order.get', order().userId));
  expect(await examine(folder.path)).toMatchObject({ faults: [], remarks: [], lost: 0 });
});

test('a gateway whose event log cannot be opened leaves no file, however often it is started again', async () => {
  using empty = makeFolder();
  const env = {
    EVENT_LOG: 'redis://127.0.0.1:1',
    AUDIT_TRAIL: `file:${empty.path}`,
    AUDIT_TRAIL_KEY: key.toString('base64'),
  };
  await expect(startLab({ env })).rejects.toMatchObject({ code: 'EVENT_LOG_UNAVAILABLE' });
  expect(filesOf(empty.path)).toEqual([]);
});
