import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Folder, makeFolder } from '../support/folder.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';

const hold = new URL('../support/hold.ts', import.meta.url).href;
let folder: Folder;
let gateway: GatewayProcess;

beforeEach(async () => {
  folder = makeFolder();
  gateway = await startGatewayProcess(folder.path, { PORT: '0' }, ['--import', hold]);
});

afterEach(async () => {
  await gateway.end('SIGKILL');
  folder[Symbol.dispose]();
});

const findEvents = (name: string) =>
  gateway.output.flatMap((line) => {
    const fact: unknown = line.startsWith('{') ? JSON.parse(line) : null;
    return typeof fact === 'object' && fact !== null && 'event' in fact && fact.event === name ? [fact] : [];
  });

test('SIGTERM ends within ten seconds a gateway whose event loop is held, and the log says why', async () => {
  process.kill(gateway.pid, 'SIGUSR2');
  const startedAt = performance.now();
  expect(await gateway.end('SIGTERM')).toBeNull();
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  await expect
    .poll(() => findEvents('gateway.held'))
    .toMatchObject([
      { level: 50, durationMs: expect.any(Number), signal: 'SIGKILL', time: expect.any(String) },
    ]);
});

test('one that was stopped for longer goes on', async () => {
  process.kill(gateway.pid, 'SIGSTOP');
  // Longer than a loop may be held: what is tested is that this time does not count.
  await setTimeout(9000);
  process.kill(gateway.pid, 'SIGCONT');
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
  await setTimeout(1500);
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
  expect(findEvents('gateway.held')).toEqual([]);
});
