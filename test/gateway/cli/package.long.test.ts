import { execFile, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { makeFolder } from '../../support/folder.ts';
import { gatewayKey, startLab, webhookSecret } from '../../support/lab.ts';
import { hear, kill, startTarget } from '../../support/labgraph-command.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));

/** An otherwise empty folder, into which npm has installed the packed package without a network. */
async function install() {
  const folder = makeFolder();
  const project = folder.file('an empty folder');
  // The scripts build again what other tests run meanwhile; the test command has built it.
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder.path], { cwd: root });
  const [tarball = ''] = readdirSync(folder.path).filter((name) => name.endsWith('.tgz'));
  linkDependencies(join(project, 'node_modules'));
  const options = ['--offline', '--ignore-scripts', '--omit=optional'];
  await run('npm', ['install', ...options, folder.file(tarball)], { cwd: project });
  const env = { ...process.env, XDG_STATE_HOME: folder.path };
  return {
    folder,
    start: (args: readonly string[], more: NodeJS.ProcessEnv = {}) =>
      spawn(join(project, 'node_modules/.bin/labgraph'), args, { cwd: project, env: { ...env, ...more } }),
    npx: async (args: readonly string[], { input = '', more = {} } = {}) => {
      const child = spawn('npx', ['--offline', 'labgraph', ...args], {
        cwd: project,
        env: { ...env, ...more },
      });
      child.stdin.end(input);
      const exit = new Promise((resolve) => child.once('exit', resolve));
      const [out, code] = await Promise.all([text(child.stdout), exit, text(child.stderr)]);
      return { code, out };
    },
  };
}

/** What the package depends on comes from our own packages: npm finds it there and loads nothing. */
function linkDependencies(modules: string): void {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
}

test('the packed package is installed in an empty folder, and its commands work there', async () => {
  const { folder, npx, start } = await install();
  using _ = folder;
  const log = { EVENT_LOG: `sqlite:${folder.file('events.db')}` };
  await using lab = await startLab({ env: log });
  using target = await startTarget(webhookSecret);
  writeFileSync(folder.file('secret'), webhookSecret);
  const secret = ['--secret-file', folder.file('secret')];

  const signed = await npx(['sign', ...secret, '--id', 'msg_1'], { input: '{}' });
  const headers = JSON.parse(signed.out);
  const given = ['--timestamp', headers['webhook-timestamp'], '--signature', headers['webhook-signature']];
  const verified = await npx(['verify', ...secret, '--id', 'msg_1', ...given], { input: '{}' });
  expect(verified).toEqual({ code: 0, out: '{"isGenuine":true}\n' });

  const config = { PORT: '0', SERVICE_URL: lab.serviceUrl, SERVICE_API_KEY: 'refused', EVENT_LOG: 'memory:' };
  const examined = await npx(['doctor', '--json'], { more: config });
  expect(examined.code).toBe(1);
  expect(examined.out).toContain('"check":"service","ok":false,"message":"It refuses the key (401)."');

  // The thread that writes SQLite is found by its address.
  const read = await npx(['events', 'verify'], { more: log });
  expect(read.code).toBe(0);
  expect(JSON.parse(read.out)).toMatchObject({ faults: 0 });

  const reach = { LABGRAPH_URL: lab.url, LABGRAPH_KEY: gatewayKey };
  const listening = start(['listen', '--forward-to', target.url, ...secret], reach);
  await hear(listening, 'Connected.');
  lab.sandbox.webhooks.send('moon.phase.created', { n: 1 }, { userId: lab.sandbox.users()[0]?.userId ?? '' });
  await vi.waitFor(() => expect(target.received).toHaveLength(1), { timeout: 240_000 });
  await kill(listening);
  expect(target.received[0]?.event).toMatchObject({ event_type: 'moon.phase.created', data: { n: 1 } });
}, 300_000);
