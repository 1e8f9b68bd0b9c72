import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { gatewayKey, graphqlRequest, serviceKey, webhookSecret } from '../support/lab.ts';

let folder: string;
let sandbox: Sandbox;
let service: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'labgraph-end-'));
  sandbox = createSandbox({ apiKey: serviceKey, webhookSecret });
  service = (await sandbox.listen({ host: '127.0.0.1', port: 0 })).url;
});

afterEach(async () => {
  await sandbox.close();
  rmSync(folder, { recursive: true, force: true });
});

const start = () =>
  startGatewayProcess(folder, {
    PORT: '0',
    SERVICE_URL: service,
    SERVICE_API_KEY: serviceKey,
    WEBHOOK_SECRETS: webhookSecret,
    GATEWAY_API_KEYS: gatewayKey,
    VIEWER_TOKEN_SECRET: 'a viewer token secret of more than 32 characters',
    EVENT_LOG: `sqlite:${join(folder, 'events.db')}`,
  });

test('SIGTERM while a write hangs ends the process cleanly within ten seconds', async () => {
  const gateway = await start();
  const [order] = sandbox.orders();
  sandbox.faults.add({ method: 'POST', path: '/v3/order', effect: { kind: 'hang' } });
  const query = `mutation { simulateOrder(id: "${order?.orderId}") { __typename } }`;
  const cut = fetch(graphqlRequest(gateway.url, { query }, gatewayKey)).catch(() => null);
  await expect.poll(() => sandbox.calls.some((call) => call.startsWith('POST'))).toBe(true);

  const startedAt = performance.now();
  expect(await gateway.end('SIGTERM')).toBe(0);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  await cut;
});

test('1,000 connections at once wait for a busy gateway, as after the end of another one', async () => {
  const gateway = await start();
  const { hostname, port } = new URL(gateway.url);
  process.kill(gateway.pid, 'SIGSTOP');
  const sockets = Array.from({ length: 1000 }, () => connect(Number(port), hostname));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  process.kill(gateway.pid, 'SIGCONT');
  for (const socket of sockets) socket.destroy();
  expect(await gateway.end('SIGTERM')).toBe(0);
});

test('a query in progress is answered before the process ends', async () => {
  const gateway = await start();
  sandbox.faults.add({ path: '/v2/user', delayMs: 1000 });
  const answer = fetch(
    graphqlRequest(gateway.url, { query: '{ users(first: 1) { nodes { id } } }' }, gatewayKey),
  );
  await expect.poll(() => sandbox.calls.length).toBe(1);

  const code = gateway.end('SIGTERM');
  expect((await (await answer).json()).data.users.nodes).toHaveLength(1);
  expect(await code).toBe(0);
});

test('the same signal twice at once, as npm and a process group send it, still ends cleanly', async () => {
  const gateway = await start();
  // A real service without NODE_ENV=production: one line says what is left off.
  expect(gateway.output.filter((line) => line.includes('"gateway.not_production"'))).toHaveLength(1);
  const codes = await Promise.all([gateway.end('SIGTERM'), gateway.end('SIGTERM')]);
  expect(codes).toEqual([0, 0]);
});

test('a start that fails is one sentence and no stack', async () => {
  writeFileSync(join(folder, 'data'), 'a file where a folder should be');
  const failed = startGatewayProcess(folder, { PORT: '0' });
  await expect(failed).rejects.toThrow(/cannot start \(CONFIG_INVALID\):\n- \.\/data cannot be written/);
  await expect(failed).rejects.not.toThrow(/ {4}at /);
});
