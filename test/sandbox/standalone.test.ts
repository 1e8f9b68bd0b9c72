import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder } from '../support/folder.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { gatewayKey, graphqlRequest } from '../support/lab.ts';
import { apiKey, openReceiver, requestTo, shippingDetails, webhookSecret } from './support.ts';

const main = fileURLToPath(new URL('../../sandbox/main.ts', import.meta.url));

/** The sandbox as its own process; resolves when it has printed its address. */
async function startAlone(env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env.PATH, SANDBOX_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const advice = once(createInterface({ input: child.stderr }), 'line');
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (lines.length === 9) break;
  }
  const url = (lines[1] ?? '').replace('SERVICE_URL=', '');
  return {
    lines,
    url,
    advice,
    stop: async (signal: NodeJS.Signals) => {
      const exit = once(child, 'exit');
      child.kill(signal);
      return exit;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) await this.stop('SIGKILL');
    },
  };
}

/** An order of a webhook, with the first and the last of its event ids. */
function eventsOf(order: Readonly<Record<string, unknown>>) {
  const ids = (order.events as { id: number }[]).map(({ id }) => id);
  return { orderId: order.id, oldest: Math.min(...ids), newest: Math.max(...ids) };
}

test('Run alone, the sandbox prints what a gateway needs, and ends on SIGTERM', async () => {
  await using alone = await startAlone({});
  expect(alone.lines).toEqual([
    `Sandbox listening on ${alone.url}`,
    expect.stringMatching(/^SERVICE_URL=http:\/\/127\.0\.0\.1:\d+$/),
    expect.stringMatching(/^SERVICE_API_KEY=sk_sandbox_[\w-]{24}$/),
    expect.stringMatching(/^WEBHOOK_SECRETS=whsec_[\w+/]{43}=$/),
    `SERVICE_MANAGEMENT_URL=${alone.url}/management`,
    expect.stringMatching(/^SERVICE_MANAGEMENT_KEY=mg_[\w-]{32}$/),
    expect.stringMatching(/^SERVICE_ORG_ID=[\da-f-]{36}$/),
    expect.stringMatching(/^MANAGEMENT_API_KEYS=[\w-]{43}$/),
    `PORTAL_ORIGINS=${alone.url}`,
  ]);
  expect(await alone.advice).toEqual([expect.stringContaining('SANDBOX_WEBHOOK_URL=http')]);
  expect(await alone.stop('SIGTERM')).toEqual([0, null]);
});

test.each([
  [{ SANDBOX_WEBHOOK_SECRET: 'secret' }, 'SANDBOX_WEBHOOK_SECRET must be whsec_ followed by base64.'],
  [
    { SANDBOX_WEBHOOK_URL: 'receiver' },
    'SANDBOX_WEBHOOK_URL must list http or https addresses, or those of brokers.',
  ],
  [
    { SANDBOX_DESTINATION: 'kafka://x' },
    'SANDBOX_DESTINATION must list http or https addresses, or those of brokers.',
  ],
  [{ SANDBOX_SPEED: '0' }, 'SANDBOX_SPEED must be a number above 0.'],
])('a faulty setting ends the start and is named: %o', async (env, sentence) => {
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env.PATH, SANDBOX_PORT: '0', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = await once(createInterface({ input: child.stderr }), 'line');
  expect(line).toBe(sentence);
});

test('A gateway with the printed settings starts, manages the sandbox and opens its portal', async () => {
  using folder = makeFolder();
  await using alone = await startAlone({});
  const printed = Object.fromEntries(
    alone.lines.slice(1).map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  const gateway = await startGatewayProcess(folder.path, {
    ...printed,
    PORT: '0',
    GATEWAY_API_KEYS: gatewayKey,
  });
  onTestFinished(() => void gateway.end('SIGKILL'));
  const send = async (url: string, query: string, key: string) =>
    (await (await fetch(graphqlRequest(url, { query }, key))).json()).data;
  const ask = (query: string) => send(gateway.url, query, gatewayKey);

  const { users } = await ask('{ users(first: 1) { nodes { id } } }');
  const portal = await ask(
    `mutation { createPortalUrl(input: { userId: "${users.nodes[0].id}" }) { __typename } }`,
  );
  const { MANAGEMENT_API_KEYS: key = '', SERVICE_ORG_ID: id } = printed;
  const managed = await send(`${gateway.url}/management`, '{ organization { id } }', key);

  expect(portal).toEqual({ createPortalUrl: { __typename: 'PortalUrl' } });
  expect(managed).toEqual({ organization: { id } });
});

test('After kill -9 the world goes on where its last answer left it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-'));
  const env = {
    SANDBOX_API_KEY: apiKey,
    SANDBOX_WEBHOOK_SECRET: webhookSecret,
    SANDBOX_STATE_FILE: join(folder, 'state.json'),
  };
  await using first = await startAlone(env);
  type Users = { users: { user_id: string }[] };
  const users = (await (await fetch(requestTo(first.url, 'GET', '/v2/user/'))).json()) as Users;
  const labTests = await fetch(requestTo(first.url, 'GET', '/v3/lab_test?collection_method=testkit'));
  const created = await fetch(
    requestTo(first.url, 'POST', '/v3/order/testkit', {
      user_id: users.users[0]?.user_id,
      lab_test_id: ((await labTests.json()) as { data: { id: string }[] }).data[0]?.id,
      shipping_details: shippingDetails,
    }),
  );
  const { order } = (await created.json()) as { order: { id: string } };
  await first.stop('SIGKILL');

  await using second = await startAlone(env);
  const found = await fetch(requestTo(second.url, 'GET', `/v3/order/${order.id}`));
  expect(await found.json()).toEqual(order);
  await rm(folder, { recursive: true });
});

test('Without a state file each start is a new world, with new numbers for its messages and events', async () => {
  await using receiver = await openReceiver();
  const settings = { SANDBOX_API_KEY: apiKey, SANDBOX_WEBHOOK_SECRET: webhookSecret };
  const cancelOne = async () => {
    await using alone = await startAlone({ ...settings, SANDBOX_WEBHOOK_URL: receiver.url });
    const list = await fetch(requestTo(alone.url, 'GET', '/orders?status=awaiting_registration'));
    const [order] = ((await list.json()) as { orders: { id: string }[] }).orders;
    const received = receiver.received.length;
    await fetch(requestTo(alone.url, 'POST', `/v3/order/${order?.id}/cancel`));
    await expect.poll(() => receiver.received).toHaveLength(received + 1);
    await alone.stop('SIGTERM');
  };

  await cancelOne();
  await cancelOne();

  const [first, second] = receiver.received.map(({ id, body }) => ({ id, ...eventsOf(body.data) }));
  expect(second?.orderId).toBe(first?.orderId);
  expect(second?.id).not.toBe(first?.id);
  expect(second?.oldest).toBeGreaterThan(first?.newest ?? 0);
});

test.each([
  ['no hub', 'eventhubs://policy:canary-key@namespace.example'],
  ['no policy', 'eventhubs://namespace.example/hub'],
  ['a key with a bare %', 'eventhubs://policy:canary-key%@namespace.example/hub'],
])('A broker address with %s stops the start, and is not printed', async (_fault, address) => {
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env.PATH, SANDBOX_PORT: '0', SANDBOX_DESTINATION: address },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  const [printed, said] = await Promise.all([child.stdout.toArray(), child.stderr.toArray()]);
  expect(await exit).toEqual([1, null]);
  expect(printed).toEqual([]);
  expect(said.join('')).toBe(
    'The address of an event hub must be eventhubs://policy:key@namespace/hub, percent-encoded.\n',
  );
});

test('Alone, the sandbox is controlled over HTTP', async () => {
  await using receiver = await openReceiver();
  await using alone = await startAlone({ SANDBOX_API_KEY: apiKey, SANDBOX_WEBHOOK_SECRET: webhookSecret });
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(requestTo(alone.url, method, path, body));
    return [answer.status, await answer.json()];
  };
  await ask('POST', '/sandbox/webhooks', { url: receiver.url });
  expect(await ask('POST', '/sandbox/webhook-knobs', { drop: 1 })).toEqual([
    200,
    { duplicate: false, reorder: false, drop: 1, wrongSignature: false },
  ]);
  await ask('POST', '/sandbox/faults', {
    path: '^/orders',
    isPattern: true,
    effect: { kind: 'tooManyRequests', retryAfterSeconds: 3 },
  });
  expect(await ask('GET', '/orders')).toEqual([429, { detail: 'Too many requests' }]);
  await ask('DELETE', '/sandbox/faults');
  const [, list] = await ask('GET', '/orders?status=awaiting_registration');
  const [order] = (list as { orders: { id: string }[] }).orders;
  await ask('POST', `/v3/order/${order?.id}/cancel`);
  expect(await ask('GET', '/sandbox/calls')).toEqual([
    200,
    ['GET /orders', 'GET /orders?status=awaiting_registration', `POST /v3/order/${order?.id}/cancel`],
  ]);
  expect(await ask('GET', '/sandbox/deliveries')).toMatchObject([
    200,
    [{ orderId: order?.id, attempts: 0, outcome: 'dropped' }],
  ]);
  expect((await ask('POST', '/sandbox/faults', { path: '(', isPattern: true }))[0]).toBe(422);
  for (const url of ['no address', 'eventhubs://policy:key@namespace.example'])
    expect((await ask('POST', '/sandbox/webhooks', { url }))[0]).toBe(422);
});
