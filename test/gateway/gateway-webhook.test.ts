import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createGateway, type Gateway } from '../../gateway/gateway.ts';
import { createLog } from '../../gateway/log.ts';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { makeFolder } from '../support/folder.ts';
import { gatewayKey, readTestConfig, serviceKey, webhookSecret } from '../support/lab.ts';
import { findFreePort } from '../support/listening.ts';
import {
  callerKey,
  manage,
  org,
  startManagementLab,
  startManagementService,
  teamId,
} from '../support/management.ts';
import { createWebhookPost } from '../support/post-webhook.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { subscribeOverSse } from '../support/subscribe.ts';

/** No webhook of the sandbox is signed with it. */
const otherSecret = `whsec_${randomBytes(32).toString('base64')}`;
const hourMs = 3_600_000;
const eventLogKey = randomBytes(32).toString('base64');

/** A sandbox without webhooks, and gateways over one event log that know none of its secrets. */
class Bench {
  readonly folder = makeFolder();
  readonly logged: string[] = [];
  readonly sandbox: Sandbox;
  readonly #serviceUrl: string;
  readonly #open: Gateway[] = [];

  static async start(): Promise<Bench> {
    const sandbox = createSandbox({ apiKey: serviceKey, webhookSecret, speed: 1000 });
    const { url } = await sandbox.listen({ host: '127.0.0.1', port: 0 });
    return new Bench(sandbox, url);
  }

  private constructor(sandbox: Sandbox, serviceUrl: string) {
    this.sandbox = sandbox;
    this.#serviceUrl = serviceUrl;
  }

  get place() {
    return { teamId: this.sandbox.teamId, environment: 'SANDBOX' };
  }

  async startGateway(port: number, env: Readonly<Record<string, string>> = {}) {
    const { folder, sandbox } = this;
    const config = readTestConfig({
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      WEBHOOK_SECRETS: otherSecret,
      SERVICE_URL: this.#serviceUrl,
      SERVICE_MANAGEMENT_URL: sandbox.managementUrl,
      SERVICE_MANAGEMENT_KEY: sandbox.managementKey,
      SERVICE_ORG_ID: sandbox.orgId,
      MANAGEMENT_API_KEYS: `ops=${callerKey}`,
      EVENT_LOG: `sqlite:${folder.file('events.db')}`,
      EVENT_LOG_KEY: eventLogKey,
      AUDIT_TRAIL: `file:${folder.file('audit')}`,
      AUDIT_TRAIL_KEY: eventLogKey,
      ...env,
    });
    const log = createLog({ level: 'debug', destination: { write: (line) => void this.logged.push(line) } });
    const gateway = await createGateway({ config, log, serviceUrl: this.#serviceUrl });
    this.#open.push(gateway);
    const { url } = await gateway.listen();
    return { gateway, url };
  }

  async [Symbol.asyncDispose]() {
    for (const gateway of this.#open) await gateway.close();
    await this.sandbox.close();
    this.folder[Symbol.dispose]();
  }
}

const shown = {
  registerGatewayWebhook: '... on GatewayWebhookRegistered { isNew testEvent webhook { id url isDisabled } }',
  rotateGatewayWebhookSecret: '... on GatewayWebhookSecretRotated { testEvent webhook { id } }',
  revealWebhookSecret: '... on WebhookSecretRevealed { secret }',
  deleteWebhook: '... on WebhookDeleted { id }',
  createTeam: '... on TeamCreated { team { id } }',
  deleteTeam: '... on TeamDeleted { teamId }',
} as const;

async function change(at: { readonly url: string }, name: keyof typeof shown, input: object) {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`;
  const query = `mutation ($input: ${type}!) { ${name}(input: $input) { __typename
    ${shown[name]}
    ... on UserError { code message }
  } }`;
  const { data, errors } = await manage(at, query, { input });
  expect(errors).toBeUndefined();
  return data[name];
}

const register = (at: { readonly url: string }, place: object) => change(at, 'registerGatewayWebhook', place);
const rotate = (at: { readonly url: string }, place: object) =>
  change(at, 'rotateGatewayWebhookSecret', place);

async function listWebhooks(at: { readonly url: string }, { teamId: id }: { readonly teamId: string }) {
  const query = `{ team(teamId: "${id}") { webhooks(environment: SANDBOX) { nodes { id url } } } }`;
  return (await manage(at, query)).data.team.webhooks.nodes;
}

/** Sends events and returns those that were not delivered with the first attempt. */
async function deliver(sandbox: Sandbox, count: number, between: () => Promise<unknown> = async () => {}) {
  const userId = sandbox.users()[0]?.userId ?? '';
  const before = sandbox.webhooks.sent.length;
  for (let sent = 0; sent < count; sent += 1) {
    sandbox.webhooks.send('moon.phase.created', { sent }, { userId });
    await between();
  }
  await sandbox.webhooks.settled();
  const own = sandbox.webhooks.sent.slice(before);
  expect(own).toHaveLength(count);
  return own.filter(({ attempts, outcome }) => attempts !== 1 || outcome !== 'delivered');
}

/** How many of the events above come to a subscriber of the team, `count` at most. */
async function receiveMoons(url: string, count: number): Promise<number> {
  const query = 'subscription { events(types: ["moon.phase.created"]) { type } }';
  const events = await subscribeOverSse({ url, token: gatewayKey, query });
  let received = 0;
  while (received < count && (await events.next())?.data.events.type === 'moon.phase.created') received += 1;
  await events.close();
  return received;
}

async function tryToRegister(at: { readonly url: string }, place: object): Promise<string | undefined> {
  const query = `mutation ($input: RegisterGatewayWebhookInput!) { registerGatewayWebhook(input: $input) { __typename } }`;
  return (await manage(at, query, { input: place })).errors?.[0]?.extensions.code;
}

/** The status of the gateway's answer to an event that is signed with this secret. */
async function postEvent(
  url: string,
  { teamId, secret }: { readonly teamId: string; readonly secret: string },
) {
  const post = createWebhookPost({ address: () => url, agent: new Agent(), timeoutMs: 20_000 });
  const body = JSON.stringify({ event_type: 'moon.phase.created', data: {}, team_id: teamId });
  return await post({ id: `msg_${randomUUID()}`, body }, secret);
}

describe('a gateway that knows no secret of the service', () => {
  test('is set up with one call: events flow, once more after a restart, and the secret is nowhere in clear', async () => {
    await using bench = await Bench.start();
    const { sandbox, place, folder } = bench;
    const port = await findFreePort();
    const first = await bench.startGateway(port);
    expect(await listWebhooks(first, place)).toEqual([]);

    const answers = await Promise.all([register(first, place), register(first, place)]);
    expect(answers).toMatchObject([
      { isNew: true, testEvent: 'ARRIVED', webhook: { url: `${first.url}/webhooks`, isDisabled: false } },
      { isNew: false, testEvent: 'ARRIVED' },
    ]);
    const webhooks = await listWebhooks(first, place);
    expect(webhooks).toHaveLength(1);

    const order = sandbox.orders().find(({ status }) => status === 'received.walk_in_test.ordered');
    const updates = await subscribeOverSse({
      url: first.url,
      token: gatewayKey,
      query: 'subscription ($id: ID!) { orderUpdates(orderId: $id) { kind event { status { raw } } } }',
      variables: { id: order?.orderId },
    });
    expect((await updates.next())?.data.orderUpdates.kind).toBe('SNAPSHOT');
    await fetch(`${first.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gatewayKey}` },
      body: JSON.stringify({
        query: 'mutation ($id: ID!) { simulateOrder(id: $id) { __typename } }',
        variables: { id: order?.orderId },
      }),
    });
    expect((await updates.next())?.data.orderUpdates.event.status.raw).toMatch(/walk_in_test/);
    await updates.close();
    await sandbox.webhooks.settled();

    const { secret } = await change(first, 'revealWebhookSecret', { ...place, id: webhooks[0].id });
    expect(secret).toMatch(/^whsec_/);
    const metrics = await (await fetch(`${first.url}/metrics`)).text();
    await first.gateway.close();
    await bench.startGateway(port);
    expect(await deliver(sandbox, 20)).toEqual([]);

    const files = readdirSync(folder.path, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => readFileSync(`${each.parentPath}/${each.name}`, 'latin1'));
    const trail = readdirSync(folder.file('audit')).map((file) =>
      readFileSync(folder.file(`audit/${file}`), 'utf8'),
    );
    expect(trail.join('')).toContain('write management.webhook.create');
    expect([...files, ...bench.logged, metrics].filter((text) => text.includes(secret.slice(6)))).toEqual([]);
  });

  test('gets new secrets while 50 webhooks a second come: none is refused, none is lost', async () => {
    await using bench = await Bench.start();
    const { sandbox, place } = bench;
    const gateway = await bench.startGateway(await findFreePort());
    await register(gateway, place);
    const count = 150;
    const arrived = receiveMoons(gateway.url, count);
    const sending = new AbortController();
    const delivered = deliver(sandbox, count, () => wait(20)).finally(() => sending.abort());
    const rotated: unknown[] = [];
    while (!sending.signal.aborted) {
      rotated.push(await rotate(gateway, place));
      await wait(300);
    }
    expect(await delivered).toEqual([]);
    expect(await arrived).toBe(count);
    expect(rotated.length).toBeGreaterThan(1);
    expect(rotated.filter((each) => Object(each).testEvent !== 'ARRIVED')).toEqual([]);
    expect(await listWebhooks(gateway, place)).toHaveLength(1);
  });

  test('forgets the secret of its webhook when that is deleted, and no sooner', async () => {
    await using bench = await Bench.start();
    const { sandbox, place } = bench;
    const gateway = await bench.startGateway(await findFreePort());
    const { webhook } = await register(gateway, place);
    const { secret } = await change(gateway, 'revealWebhookSecret', { ...place, id: webhook.id });
    const other = { ...place, id: 'ep_none' };
    expect(await change(gateway, 'deleteWebhook', other)).toMatchObject({ code: 'NOT_FOUND' });
    const send = () => postEvent(gateway.url, { teamId: sandbox.teamId, secret });
    expect(await send()).toBe(202);
    expect(await change(gateway, 'deleteWebhook', { ...place, id: webhook.id })).toMatchObject({
      id: webhook.id,
    });
    expect(await send()).toBe(401);
  });

  test('forgets the secrets of a team that is deleted', async () => {
    await using bench = await Bench.start();
    const { sandbox } = bench;
    const gateway = await bench.startGateway(await findFreePort());
    const made = await change(gateway, 'createTeam', { name: 'Short', region: 'US' });
    const at = { teamId: made.team.id, environment: 'PRODUCTION' };
    const { webhook } = await register(gateway, at);
    const { secret } = await change(gateway, 'revealWebhookSecret', { ...at, id: webhook.id });
    const send = () => postEvent(gateway.url, { teamId: sandbox.teamId, secret });
    expect(await send()).toBe(202);
    expect(await change(gateway, 'deleteTeam', { teamId: made.team.id })).toMatchObject({
      teamId: at.teamId,
    });
    expect(await send()).toBe(401);
  });

  test('lets ten changes of its webhook wait, and no more', async () => {
    await using bench = await Bench.start();
    const { place } = bench;
    const gateway = await bench.startGateway(await findFreePort());
    const answers = await Promise.all(Array.from({ length: 12 }, () => tryToRegister(gateway, place)));
    expect(answers.filter((code) => code === 'RATE_LIMITED')).toHaveLength(2);
    expect(answers.filter((code) => code === undefined)).toHaveLength(10);
  });

  test('says what is missing: its address, a webhook, a team, an address that reaches it', async () => {
    await using bench = await Bench.start();
    const { place } = bench;
    const silent = await bench.startGateway(await findFreePort(), { PUBLIC_URL: '' });
    const refusal = { __typename: 'GatewayAddressUnknown', code: 'GATEWAY_ADDRESS_UNKNOWN' };
    expect(await register(silent, place)).toMatchObject(refusal);
    expect(await rotate(silent, place)).toMatchObject(refusal);
    await silent.gateway.close();

    const astray = await bench.startGateway(await findFreePort(), { PUBLIC_URL: 'http://127.0.0.1:9/' });
    expect(await rotate(astray, place)).toMatchObject({ message: 'There is no such webhook.' });
    expect(await register(astray, { ...place, teamId })).toMatchObject({ message: 'There is no such team.' });
    expect(await register(astray, place)).toMatchObject({ isNew: true, testEvent: 'NOT_ARRIVED' });
  });
});

test('A change whose answer was lost may have been made; the next call finds it', async () => {
  await using service = await startManagementService();
  await using lab = await startManagementLab(service.url, { env: { PUBLIC_URL: 'http://127.0.0.1:9' } });
  const all = `${org}/team/${teamId}/sandbox/webhook`;
  const own = { id: 'ep_own', url: 'http://127.0.0.1:9/webhooks' };
  const place = { teamId, environment: 'SANDBOX' };
  const secret = `whsec_${Buffer.from('a secret of the webhook of its own').toString('base64')}`;
  const run = async (name: string) => {
    const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`;
    const { errors } = await manage(
      lab,
      `mutation ($input: ${type}!) { ${name}(input: $input) { __typename } }`,
      { input: place },
    );
    return errors?.[0]?.extensions;
  };
  const lost = { code: 'UPSTREAM_UNAVAILABLE', mayHaveBeenDone: true };
  service.answers.set(`GET ${all}`, [200, { data: [], next_cursor: null }]);
  service.answers.set(`POST ${all}`, 'lost');
  expect(await run('registerGatewayWebhook')).toEqual(lost);

  service.answers.set(`GET ${all}`, [200, { data: [own], next_cursor: null }]);
  service.answers.set(`GET ${all}/ep_own/secret`, [200, { key: secret }]);
  service.answers.set(`POST ${all}/ep_own/secret/rotate`, 'lost');
  expect(await run('rotateGatewayWebhookSecret')).toEqual(lost);
  const posts = service.seen.filter(({ call }) => call === `POST ${all}`).length;
  expect(await run('registerGatewayWebhook')).toBeUndefined();
  expect(service.seen.filter(({ call }) => call === `POST ${all}`)).toHaveLength(posts);

  const remove = async (id: string) =>
    await manage(
      lab,
      'mutation ($input: DeleteWebhookInput!) { deleteWebhook(input: $input) { __typename } }',
      {
        input: { ...place, id },
      },
    );
  const send = () => postEvent(lab.url, { teamId, secret });
  service.answers.set(`DELETE ${all}/ep_copy`, [200, { success: true }]);
  expect((await remove('ep_copy')).errors).toBeUndefined();
  expect(await send()).toBe(202);
  service.answers.set(`DELETE ${all}/ep_own`, 'lost');
  expect((await remove('ep_own')).errors?.[0]?.extensions).toEqual(lost);
  service.answers.set(`GET ${all}`, [200, { data: [], next_cursor: null }]);
  service.answers.set(`DELETE ${all}/ep_own`, [404, { detail: 'Not found' }]);
  expect((await remove('ep_own')).errors).toBeUndefined();
  expect(await send()).toBe(401);
});

describe('with a service that answers unkindly', () => {
  const all = `${org}/team/${teamId}/sandbox/webhook`;
  const own = { id: 'ep_own', url: 'http://127.0.0.1:9/webhooks' };
  const place = { teamId, environment: 'SANDBOX' };
  const env = { PUBLIC_URL: 'http://127.0.0.1:9' };
  const none = [200, { data: [], next_cursor: null }] as const;
  const one = [200, { data: [own], next_cursor: null }] as const;

  test('no refused change leaves a secret behind', async () => {
    await using service = await startManagementService();
    await using lab = await startManagementLab(service.url, { env });
    const refused = [403, { detail: 'This feature is not included in your plan.' }] as const;
    service.answers.set(`GET ${all}`, none);
    service.answers.set(`POST ${all}`, refused);
    for (let call = 0; call < 60; call += 1)
      expect(await register(lab, place)).toMatchObject({ code: 'FEATURE_NOT_ENABLED' });
    service.answers.set(`POST ${all}`, [404, { detail: 'Not found' }]);
    expect(await register(lab, place)).toMatchObject({ code: 'NOT_FOUND' });
    service.answers.set(`GET ${all}`, one);
    service.answers.set(`GET ${all}/ep_own/secret`, [200, { key: otherSecret }]);
    service.answers.set(`POST ${all}/ep_own/secret/rotate`, refused);
    for (let call = 0; call < 60; call += 1)
      expect(await rotate(lab, place)).toMatchObject({ code: 'FEATURE_NOT_ENABLED' });

    service.answers.set(`POST ${all}/ep_own/secret/rotate`, [204]);
    expect(await rotate(lab, place)).toMatchObject({ testEvent: 'NOT_ARRIVED', webhook: { id: 'ep_own' } });
  });

  test('a webhook whose secret anybody could guess is not adopted', async () => {
    await using service = await startManagementService();
    await using lab = await startManagementLab(service.url, { env });
    service.answers.set(`GET ${all}`, one);
    for (const key of ['whsec_', 'whsec_c2hvcnQ=', 'a secret in words of its own']) {
      service.answers.set(`GET ${all}/ep_own/secret`, [200, { key }]);
      expect(await tryToRegister(lab, place)).toBe('UPSTREAM_UNREADABLE');
      expect(await postEvent(lab.url, { teamId, secret: 'whsec_' })).toBe(401);
    }
  });

  test('what fails after the change says that the change may have been made', async () => {
    await using service = await startManagementService();
    await using lab = await startManagementLab(service.url, { env });
    let isMade = false;
    service.answers.set(`GET ${all}`, () => (isMade ? 'lost' : none));
    service.answers.set(`POST ${all}`, () => {
      isMade = true;
      return [200, own];
    });
    const { errors } = await manage(
      lab,
      'mutation ($input: RegisterGatewayWebhookInput!) { registerGatewayWebhook(input: $input) { __typename } }',
      { input: place },
    );
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE', mayHaveBeenDone: true } }]);
  });
});

describe('several gateways over Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis[Symbol.asyncDispose]());

  test('make one webhook between them, and accept a secret that one of them was given', async () => {
    await using bench = await Bench.start();
    const [port, otherPort] = [await findFreePort(), await findFreePort()];
    const env = { EVENT_LOG: redis.newUrl(), AUDIT_TRAIL: 'off', PUBLIC_URL: `http://127.0.0.1:${port}` };
    // The address leads to the second one; the first one gets the mutation.
    const receiving = await bench.startGateway(port, env);
    const registering = await bench.startGateway(otherPort, env);
    expect(receiving.url).toBe(`http://127.0.0.1:${port}`);
    const both = await Promise.all([receiving, registering].map((each) => register(each, bench.place)));
    expect(both).toMatchObject([{ testEvent: 'ARRIVED' }, { testEvent: 'ARRIVED' }]);
    expect(await listWebhooks(receiving, bench.place)).toHaveLength(1);
    expect(await rotate(registering, bench.place)).toMatchObject({ testEvent: 'ARRIVED' });
    expect(await deliver(bench.sandbox, 20)).toEqual([]);
  });

  test('accept what the service signs with, a day after two secrets were given to it at once', async () => {
    await using service = await startManagementService();
    const env = { PUBLIC_URL: 'http://127.0.0.1:9', EVENT_LOG: redis.newUrl() };
    await using first = await startManagementLab(service.url, { env });
    await using second = await startManagementLab(service.url, { env });
    const all = `${org}/team/${teamId}/sandbox/webhook`;
    const secrets = [otherSecret];
    let shown = otherSecret;
    const bothCame = Promise.withResolvers<void>();
    service.answers.set(`GET ${all}`, [200, { data: [{ id: 'ep_own', url: `${env.PUBLIC_URL}/webhooks` }] }]);
    service.answers.set(`GET ${all}/ep_own/secret`, () => [200, { key: shown }]);
    service.answers.set(`POST ${all}/ep_own/secret/rotate`, async ({ body }) => {
      secrets.push(Object(body).key);
      if (secrets.length === 3) bothCame.resolve();
      await bothCame.promise;
      // Not before both have read the secret that they replace.
      shown = Object(body).key;
      return [204];
    });
    const place = { teamId, environment: 'SANDBOX' };
    const sendAll = () => Promise.all(secrets.map((secret) => postEvent(first.url, { teamId, secret })));
    const startedAt = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: startedAt });
    try {
      const done = await Promise.all([rotate(first, place), rotate(second, place)]);
      expect(done).toMatchObject([{ testEvent: 'NOT_ARRIVED' }, { testEvent: 'NOT_ARRIVED' }]);
      vi.setSystemTime(startedAt + 26 * hourMs);
      expect(await sendAll()).toEqual([401, 202, 202]);

      await rotate(second, place);
      vi.setSystemTime(startedAt + 52 * hourMs);
      expect(await sendAll()).toEqual([401, 401, 401, 202]);
    } finally {
      vi.useRealTimers();
    }
  });
});
