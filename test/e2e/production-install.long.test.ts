import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { createSandbox } from '../../sandbox/sandbox.ts';
import { complete } from '../support/configuration.ts';
import { graphqlRequest } from '../support/lab.ts';
import { subscribeOverSse } from '../support/subscribe.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const nobody = 65_532;

/** PATH without the Node of this checkout: the machine's npm, on whatever Node it runs. */
const PATH = (process.env.PATH ?? '')
  .split(':')
  .filter((folder) => !folder.includes('node_modules'))
  .join(':');

/**
 * Runs its arguments without capabilities, as a user without a name, on a root that is read-only but for one folder.
 * Where namespaces are not permitted the first command says so and the test fails.
 */
const confined = `
mount --bind "$STATE" "$STATE"
mount -o remount,bind,ro /
exec setpriv --reuid=${nobody} --regid=${nobody} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all "$@"
`;

test('a production install in a folder with spaces runs read-only, without capabilities, as nobody, and ends with 0', async ({
  skip,
}) => {
  skip(process.getuid?.() !== 0, 'Only root may do this.');
  const folder = mkdtempSync(join(tmpdir(), 'labgraph é production '));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [checkout, state] = [join(folder, 'check out'), join(folder, 'state')];
  for (const made of [checkout, state]) mkdirSync(made);
  chownSync(state, nobody, nobody);
  execFileSync('chmod', ['755', folder]);
  const files = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd: root });
  const packed = execFileSync('tar', ['c', '--null', '-T', '-'], {
    ...{ cwd: root, input: files },
    maxBuffer: 2 ** 28,
  });
  execFileSync('tar', ['x', '--no-same-owner'], { cwd: checkout, input: packed });
  execFileSync('npm', ['ci', '--prefer-offline'], {
    ...{ cwd: checkout, stdio: 'pipe' },
    env: { PATH, HOME: folder, NODE_ENV: 'production', npm_config_cache: npmCache() },
  });

  const sandbox = createSandbox({
    ...{ apiKey: complete.SERVICE_API_KEY, webhookSecret: complete.WEBHOOK_SECRETS, speed: 1000 },
  });
  onTestFinished(() => sandbox.close());
  const service = await sandbox.listen({ host: '127.0.0.1', port: 0 });
  const gateway = spawn('unshare', ['--mount', 'sh', '-ec', confined, 'sh', 'npm', 'start'], {
    cwd: checkout,
    env: {
      // npm asks for a HOME, and writes nothing into it.
      ...{ PATH, HOME: '/nonexistent', STATE: state, ...complete, PORT: '0', SERVICE_URL: service.url },
      EVENT_LOG: `sqlite:${join(state, 'events.db')}`,
      AUDIT_TRAIL: `file:${join(state, 'audit')}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void gateway.kill('SIGKILL'));
  const output: string[] = [];
  const { promise: address, resolve, reject } = Promise.withResolvers<string>();
  for (const stream of [gateway.stdout, gateway.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      output.push(line);
      const found = /^Labgraph is listening on (http:\S+)$/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
  }
  const exit = once(gateway, 'exit');
  exit.then(() => reject(new Error(output.join('\n'))));
  const url = await address;

  const key = complete.GATEWAY_API_KEYS;
  const order = sandbox.orders().find(({ status }) => status === 'received.walk_in_test.ordered');
  const query = `subscription { orderUpdates(orderId: "${order?.orderId}") { kind event { id } } }`;
  const updates = await subscribeOverSse({ url, token: key, query });
  expect((await updates.next())?.data.orderUpdates.kind).toBe('SNAPSHOT');
  sandbox.webhooks.register(`${url}/webhooks`);
  const stepped = await fetch(`${service.url}/v3/order/${order?.orderId}/test`, {
    ...{ method: 'POST', headers: { 'x-service-api-key': complete.SERVICE_API_KEY } },
  });
  expect(stepped.status).toBe(200);
  expect((await updates.next())?.data.orderUpdates.kind).toBe('CHANGED');
  await updates.close();
  const answer = await fetch(graphqlRequest(url, { query: '{ users(first: 1) { nodes { id } } }' }, key));
  expect((await answer.json()).data.users.nodes).toHaveLength(1);
  // Built once, by `npm ci`.
  expect((await fetch(`${url}/widget/portal-widget.js`)).status).toBe(200);
  expect(output.join('\n')).not.toContain('vite');

  gateway.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
  expect(output.filter((line) => line.includes('"level":50'))).toEqual([]);
});

/** Packages that this machine has downloaded already. */
function npmCache(): string {
  return execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim();
}
