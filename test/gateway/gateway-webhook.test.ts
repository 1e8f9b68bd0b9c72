import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
import { type RedisServer, startRedis } from '../support/redis.ts';
import { subscribeOverSse } from '../support/subscribe.ts';

/** No webhook of the sandbox is signed with it. */
const otherSecret = `whsec_${randomBytes(32).toString('base64')}`;
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
    if (sent % 10 === 9) await between();
  }
  await sandbox.webhooks.settled();
  const own = sandbox.webhooks.sent.slice(before);
  expect(own).toHaveLength(count);
  return own.filter(({ attempts, outcome }) => attempts !== 1 || outcome !== 'delivered');
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

  test('gets new secrets while webhooks come: none is refused', async () => {
    await using bench = await Bench.start();
    const { sandbox, place } = bench;
    const gateway = await bench.startGateway(await findFreePort());
    await register(gateway, place);
    const rotated: unknown[] = [];
    const failed = await deliver(sandbox, 150, async () => {
      rotated.push(await rotate(gateway, place));
    });
    expect(failed).toEqual([]);
    expect(rotated).toHaveLength(15);
    for (const each of rotated) expect(each).toMatchObject({ testEvent: 'ARRIVED' });
    expect(await listWebhooks(gateway, place)).toHaveLength(1);
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
  service.answers.set(`GET ${all}/ep_own/secret`, [200, { key: webhookSecret }]);
  service.answers.set(`POST ${all}/ep_own/secret/rotate`, 'lost');
  expect(await run('rotateGatewayWebhookSecret')).toEqual(lost);
  const posts = service.seen.filter(({ call }) => call === `POST ${all}`).length;
  expect(await run('registerGatewayWebhook')).toBeUndefined();
  expect(service.seen.filter(({ call }) => call === `POST ${all}`)).toHaveLength(posts);
});

describe('several gateways over Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis[Symbol.asyncDispose]());

  test('accept a secret that one of them was given', async () => {
    await using bench = await Bench.start();
    const [port, otherPort] = [await findFreePort(), await findFreePort()];
    const env = { EVENT_LOG: redis.newUrl(), AUDIT_TRAIL: 'off', PUBLIC_URL: `http://127.0.0.1:${port}` };
    // The address leads to the second one; the first one gets the mutation.
    const receiving = await bench.startGateway(port, env);
    const registering = await bench.startGateway(otherPort, env);
    expect(receiving.url).toBe(`http://127.0.0.1:${port}`);
    expect(await register(registering, bench.place)).toMatchObject({ isNew: true, testEvent: 'ARRIVED' });
    expect(await rotate(registering, bench.place)).toMatchObject({ testEvent: 'ARRIVED' });
    expect(await deliver(bench.sandbox, 20)).toEqual([]);
  });
});
