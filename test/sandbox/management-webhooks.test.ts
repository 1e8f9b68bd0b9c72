import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openManaged } from './management-support.ts';
import { at, openReceiver, type Received, type Receiver, webhookSecret } from './support.ts';

// One sandbox for the file; each test has a receiver of its own and removes its webhooks.
const managed = openManaged();
const { sandbox, manage } = managed;
const webhooks = `/team/${sandbox.teamId}/sandbox/webhook`;
let receiver: Receiver;
beforeEach(async () => {
  receiver = await openReceiver();
});
afterEach(async () => {
  vi.useRealTimers();
  const { body } = await manage('GET', webhooks);
  for (const { id } of body.data) await manage('DELETE', `${webhooks}/${id}`);
  await receiver[Symbol.asyncDispose]();
});
afterAll(() => managed[Symbol.asyncDispose]());

const secretOf = (letter: string) => `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`;

async function createWebhook(more: object = {}) {
  const { body } = await manage('POST', webhooks, { body: { url: receiver.url, ...more } });
  return body;
}

async function send(eventType: string): Promise<void> {
  const { userId } = at(sandbox.users(), 0);
  sandbox.webhooks.send(eventType, {}, { userId });
  await sandbox.webhooks.settled();
}

const typesOf = (received: readonly Received[]) => received.map(({ body }) => body.event_type);

/** Which of the secrets have signed the message. */
function signersOf({ id, headers, text }: Received, secrets: readonly string[]): readonly string[] {
  return secrets.filter((secret) => {
    const verified = () =>
      new Webhook(secret).verify(text, {
        'webhook-id': id,
        'webhook-timestamp': String(headers['svix-timestamp']),
        'webhook-signature': String(headers['svix-signature']),
      });
    try {
      verified();
      return true;
    } catch {
      return false;
    }
  });
}

test('A webhook is created, listed, read, changed and deleted; events go to it meanwhile', async () => {
  const created = await createWebhook();
  const timestamp = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+\+00:00$/);
  expect(created).toEqual({
    id: expect.stringMatching(/^ep_[0-9a-f]{32}$/),
    description: '',
    rate_limit: null,
    url: receiver.url,
    disabled: false,
    filter_types: null,
    created_at: timestamp,
    updated_at: timestamp,
  });
  const one = `${webhooks}/${created.id}`;
  expect((await manage('GET', one)).body).toEqual(created);
  expect((await manage('GET', webhooks)).body).toEqual({ data: [created], next_cursor: null });
  await send('labtest.order.created');
  const patch = { description: 'Only updates', filter_types: ['labtest.order.updated'], rate_limit: 5 };
  const patched = await manage('PATCH', one, { body: patch });
  expect(patched.body).toEqual({ ...created, ...patch, updated_at: timestamp });
  await send('labtest.order.created');
  await send('labtest.order.updated');
  await manage('PATCH', one, { body: { disabled: true } });
  await send('labtest.order.updated');
  await manage('PATCH', one, { body: { disabled: false, filter_types: null, rate_limit: null } });
  await send('daily.data.sleep.created');
  expect((await manage('DELETE', one)).status).toBe(204);
  await send('labtest.order.updated');
  expect(typesOf(receiver.received)).toEqual([
    'labtest.order.created',
    'labtest.order.updated',
    'daily.data.sleep.created',
  ]);
  expect((await manage('GET', one)).status).toBe(404);
});

test('The address that the process has registered is a webhook too', async () => {
  sandbox.webhooks.register(receiver.url);
  const { body } = await manage('GET', webhooks);
  expect(body.data).toMatchObject([{ url: receiver.url, filter_types: null }]);
  const secret = await manage('GET', `${webhooks}/${body.data[0].id}/secret`);
  expect(secret.body).toEqual({ key: webhookSecret });
  await send('labtest.order.created');
  expect(signersOf(at(receiver.received, 0), [webhookSecret])).toEqual([webhookSecret]);
});

test('Webhooks of another environment or team hear nothing', async () => {
  const { body: team } = await manage('POST', '/team', { body: { name: 'Other', region: 'us' } });
  const other = `/team/${team.id}/sandbox/webhook`;
  const production = `/team/${sandbox.teamId}/production/webhook`;
  for (const path of [other, production]) await manage('POST', path, { body: { url: receiver.url } });
  await send('labtest.order.created');
  expect(receiver.received).toEqual([]);
  expect((await manage('GET', webhooks)).body.data).toEqual([]);
  const { body } = await manage('GET', production);
  expect((await manage('GET', `${webhooks}/${body.data[0].id}`)).status).toBe(404);
  expect((await manage('GET', `/team/${sandbox.teamId}/moon/webhook`)).status).toBe(422);
});

test('Custom headers are sent; those that hold a secret are named and not shown', async () => {
  const { id } = await createWebhook();
  const path = `${webhooks}/${id}/headers`;
  expect((await manage('GET', path)).body).toEqual({ headers: {}, sensitive: [] });
  const headers = { 'X-Tenant': 'west', Authorization: 'Bearer canary' };
  expect((await manage('PUT', path, { body: { headers } })).status).toBe(204);
  const shown = await manage('GET', path);
  expect(shown.body).toEqual({ headers: { 'X-Tenant': 'west' }, sensitive: ['Authorization'] });
  await send('labtest.order.created');
  await manage('PUT', path, { body: { headers: {} } });
  await send('labtest.order.created');
  expect(receiver.received.map(({ headers: sent }) => [sent['x-tenant'], sent.authorization])).toEqual([
    ['west', 'Bearer canary'],
    [undefined, undefined],
  ]);
  for (const wrong of [{ 'svix-id': 'x' }, { 'content-type': 'x' }, { 'a b': 'x' }, { a: 'x\r\ny' }]) {
    expect((await manage('PUT', path, { body: { headers: wrong } })).status).toBe(422);
  }
});

test('After a rotation the old and the new secret sign for a day, then only the new one', async () => {
  const [first, second] = [secretOf('a'), secretOf('b')];
  const { id } = await createWebhook({ secret: first });
  const path = `${webhooks}/${id}/secret`;
  expect((await manage('GET', path)).body).toEqual({ key: first });
  await send('labtest.order.created');
  expect((await manage('POST', `${path}/rotate`, { body: { key: second } })).status).toBe(204);
  expect((await manage('GET', path)).body).toEqual({ key: second });
  await send('labtest.order.created');
  expect((await manage('POST', `${path}/rotate`, { body: {} })).status).toBe(204);
  const third = (await manage('GET', path)).body.key;
  expect(third).toMatch(/^whsec_[\w+/]{32}$/);
  await send('labtest.order.created');
  const secrets = [third, second, first];
  expect(receiver.received.map((message) => signersOf(message, secrets))).toEqual([
    [first],
    [second, first],
    secrets,
  ]);
  expect(receiver.received.map(({ headers }) => String(headers['svix-signature']).split(' ').length)).toEqual(
    [1, 2, 3],
  );

  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 25 * 60 * 60 * 1000 });
  await send('labtest.order.created');
  expect(signersOf(at(receiver.received, 3), secrets)).toEqual([third]);
  const malformed = await manage('POST', `${path}/rotate`, { body: { key: 'whsec_short' } });
  expect(malformed.status).toBe(422);
});

test('Lists of webhooks go on with their cursor', async () => {
  const ids = [(await createWebhook()).id, (await createWebhook()).id, (await createWebhook()).id];
  const first = await manage('GET', `${webhooks}?limit=2`);
  const second = await manage('GET', `${webhooks}?limit=2&next_cursor=${first.body.next_cursor}`);
  const shown = [...first.body.data, ...second.body.data].map((webhook: { id: string }) => webhook.id);
  expect([shown, second.body.next_cursor]).toEqual([ids, null]);
});

test.each([
  ['without an address', {}],
  ['with an address of another kind', { url: 'ftp://example.com/' }],
  ['with an empty filter', { url: 'https://example.com/', filter_types: [] }],
  ['with a short secret', { url: 'https://example.com/', secret: 'whsec_AAAA' }],
])('A webhook %s is refused', async (_, body) => {
  expect(await manage('POST', webhooks, { body })).toMatchObject({
    status: 422,
    body: {
      detail: [{ type: expect.any(String), loc: ['body', expect.any(String)], msg: expect.any(String) }],
    },
  });
});

test('The delivery metric counts the attempts that were made', async () => {
  const path = `/team/${sandbox.teamId}/sandbox/event_delivery_metric`;
  const sumsOf = async (query: string) => {
    const { body } = await manage('GET', path + query);
    expect(body).toMatchObject({ status: 'success', data: { resultType: 'matrix' } });
    return body.data.result.map(
      (series: { metric: object; values: [number, string][] }) =>
        [
          series.metric,
          series.values.length,
          series.values.reduce((sum, [, count]) => sum + Number(count), 0),
        ] as const,
    );
  };
  const [[, , delivered], [, , failed]] = await sumsOf('');
  await createWebhook();
  receiver.answers.push(500);
  await send('labtest.order.created');
  for (const query of ['', '?interval=5m', '?interval=15m', '?interval=1d']) {
    expect(await sumsOf(query)).toEqual([
      [{ destination: 'svix', status: 'delivered' }, 48, delivered + 1],
      [{ destination: 'svix', status: 'failed' }, 48, failed + 1],
    ]);
  }
  expect((await manage('GET', `${path}?interval=2h`)).status).toBe(422);
  const elsewhere = await manage('GET', path.replace('/sandbox/', '/production/'));
  expect(elsewhere.body.data.result).toEqual([]);
});

test('Every operation of webhooks was answered', () => {
  expect(managed.neverSucceeded(/webhook|metric/)).toEqual([]);
});
