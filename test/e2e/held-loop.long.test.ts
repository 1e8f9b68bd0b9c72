import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Folder, makeFolder } from '../support/folder.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';

const env = {
  PORT: '0',
  NODE_OPTIONS: `--import ${new URL('../support/hold.ts', import.meta.url).href}`,
};
let folder: Folder;

beforeEach(() => {
  folder = makeFolder();
});

afterEach(() => {
  folder[Symbol.dispose]();
});

function findEvents({ output }: GatewayProcess, name: string): readonly unknown[] {
  const facts = output.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  return facts.filter(({ event }) => event === name);
}

test('SIGTERM ends within ten seconds a gateway whose event loop is held, and the log says why', async () => {
  const gateway = await startGatewayProcess(folder.path, env);
  process.kill(gateway.pid, 'SIGUSR2');
  const startedAt = performance.now();
  expect(await gateway.end('SIGTERM')).toBeNull();
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  await expect
    .poll(() => findEvents(gateway, 'gateway.blocked'))
    .toMatchObject([
      { level: 50, durationMs: expect.any(Number), signal: 'SIGKILL', time: expect.any(String) },
    ]);
});

test('a process that was stopped for longer than the limit continues', async () => {
  const gateway = await startGatewayProcess(folder.path, env);
  process.kill(gateway.pid, 'SIGSTOP');
  // Longer than a loop may be held: what is tested is that this time does not count.
  await setTimeout(9000);
  process.kill(gateway.pid, 'SIGCONT');
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
  await setTimeout(1500);
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
  expect(findEvents(gateway, 'gateway.blocked')).toEqual([]);
  expect(await gateway.end('SIGTERM')).toBe(0);
});
