import { execFile } from 'node:child_process';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installLocked, installPacked } from '../../bench/support/install.ts';
import { connectToChromium } from '../e2e/support/visit.ts';
import { gatewayKey } from '../support/lab.ts';
import { findFreePort } from '../support/listening.ts';
import { createVictim, type Victim } from '../support/processes.ts';
import { startWorld, type World } from '../support/world.ts';

const run = promisify(execFile);
const examples = new URL('../../examples/', import.meta.url);
const folderOf = (example: string) => fileURLToPath(new URL(example, examples));

/** The packages from the lockfile of the examples, and the client as it would be published. */
beforeAll(() => {
  installLocked(examples);
  installPacked('client', examples);
}, 600_000);

/** A script of an example's `package.json`, as the team that copied it runs it. */
async function runScript(example: string, script: string, more: Readonly<Record<string, string>> = {}) {
  const options = { cwd: folderOf(example), env: { ...process.env, ...more, NODE_ENV: 'production' } };
  const {
    code = 0,
    stdout,
    stderr,
  } = await run('npm', ['run', '--silent', script], options).catch((error) => error);
  return { code, said: stripVTControlCharacters(stdout + stderr) };
}

async function expectToSucceed(running: ReturnType<typeof runScript>): Promise<void> {
  const { code, said } = await running;
  expect(code, said).toBe(0);
}

/** Asks the gateway as a server of the team. */
async function ask(url: string, query: string) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${gatewayKey}` };
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query }),
  });
  return (await response.json()).data;
}

/** Moves an order one step on and gives the words that a page shows then. */
async function step(world: World, url: string, orderId: string): Promise<string> {
  await world.step(orderId);
  return (await ask(url, `{ order(id: "${orderId}") { status { label } } }`)).order.status.label;
}

/** Serves the built app, with the viewer tokens of its server. */
async function serveApp(example: string, port: number, env: Readonly<Record<string, string>>) {
  const vite = fileURLToPath(new URL('node_modules/vite/bin/vite.js', examples));
  const server = createVictim({
    name: example,
    file: process.execPath,
    args: [vite, 'preview', '--host', '127.0.0.1', '--port', `${port}`, '--strictPort'],
    cwd: folderOf(example),
    env: { PATH: process.env.PATH ?? '', NO_COLOR: '1', ...env },
    isReady: (line) => line.includes(`:${port}`),
  });
  await server.start();
  return { [Symbol.asyncDispose]: () => server.end('SIGKILL') };
}

/** What a page has to show before anything happens. */
const apps: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  'react-apollo': async () => {},
  'vue-urql': async () => {},
  relay: async (page) => {
    await expect.poll(() => page.getByRole('listitem').count()).toBe(2);
    await page.getByRole('button', { name: 'More' }).click();
    await expect.poll(() => page.getByRole('listitem').count()).toBe(3);
    await expect.poll(() => page.getByRole('button', { name: 'More' }).count()).toBe(0);
  },
};

describe.each(Object.entries(apps))('%s', (example, lookAround) => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await connectToChromium();
  });
  afterAll(() => browser.close());

  test('is accepted by its type checker', async () => {
    await expectToSucceed(runScript(example, 'check'));
  });

  test('builds, shows the order live, and goes on after the gateway was killed', async () => {
    const port = await findFreePort();
    const origin = `http://127.0.0.1:${port}`;
    await using world = await startWorld({ ALLOWED_ORIGINS: origin });
    const gateway = await world.startGateway();
    // Has three orders.
    const { userId } = world.freshOrder();
    const { user } = await ask(
      gateway.url,
      `{ user(id: "${userId}") { orders(first: 1) { nodes { id status { label } } } } }`,
    );
    const [order] = user.orders.nodes;
    const settings = { VITE_LABGRAPH_URL: `${gateway.url}/graphql` };
    await expectToSucceed(runScript(example, 'build', settings));
    await using _server = await serveApp(example, port, {
      ...settings,
      LABGRAPH_KEY: gatewayKey,
      LABGRAPH_USER_ID: userId,
    });
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    const expectLabel = (label: string) =>
      page.getByText(label, { exact: true }).first().waitFor({ timeout: 150_000 });

    await page.goto(origin);
    await expectLabel(order.status.label);
    await lookAround(page);
    await expectLabel(await step(world, gateway.url, order.id));
    expect(complaints).toEqual([]);

    await gateway.end('SIGKILL');
    await world.startGateway();
    await expectLabel(await step(world, gateway.url, order.id));

    expect(await page.getByRole('alert').count()).toBe(0);
    await page.close();
  });
});

describe('node-worker', () => {
  const example = 'node-worker';

  test('is accepted by its type checker', async () => {
    await expectToSucceed(runScript(example, 'check'));
  });

  test('stores each change of an order once, while it and the gateway are killed', async () => {
    await using world = await startWorld();
    const gateway = await world.startGateway();
    const database = world.folder.file('orders.db');
    const worker = createVictim({
      name: example,
      file: process.execPath,
      args: ['worker.ts'],
      cwd: folderOf(example),
      env: { LABGRAPH_URL: `${gateway.url}/graphql`, LABGRAPH_KEY: gatewayKey, DATABASE: database },
      isReady: (line) => line === 'following',
    });
    await using _worker = { [Symbol.asyncDispose]: () => worker.end('SIGKILL') };
    const [first, ...orders] = world.sandbox.orders().filter(({ status }) => /^received[.]/.test(status));
    await worker.start();
    // Without a cursor it begins with what comes now.
    await expect
      .poll(async () => {
        await world.step(first?.orderId ?? '');
        return readChanges(database);
      })
      .not.toEqual([]);
    const isCounted = ({ orderId }: Change) => orders.some((order) => order.orderId === orderId);
    const before = await readHistory(gateway.url);

    for (let round = 0; round < 4; round += 1) {
      const moving = Promise.all(orders.map(({ orderId }) => world.step(orderId)));
      await killAndStart(worker);
      if (round === 2) {
        await gateway.end('SIGKILL');
        await world.startGateway();
      }
      await moving;
    }

    const happened = (await readHistory(gateway.url))
      .slice()
      .filter(isCounted)
      .filter((change) => !before.some((known) => isSame(known, change)));
    expect(happened.length).toBeGreaterThan(orders.length * 2);
    await expect.poll(() => readChanges(database).filter(isCounted).length).toBe(happened.length);
    await worker.end('SIGTERM');
    expect(readChanges(database).filter(isCounted).toSorted(compare)).toEqual(happened.toSorted(compare));
    expect(worker.crashes()).toBe(0);
  });
});

interface Change {
  readonly orderId: string;
  readonly eventId: string;
}

interface UserHistory {
  readonly orders: {
    readonly nodes: readonly { readonly id: string; readonly events: readonly { readonly id: string }[] }[];
  };
}

const isSame = (a: Change, b: Change) => a.orderId === b.orderId && a.eventId === b.eventId;
const compare = (a: Change, b: Change) => Number(a.eventId) - Number(b.eventId);

async function killAndStart(worker: Victim): Promise<void> {
  await worker.end('SIGKILL');
  await worker.start();
}

/** What the worker has stored, in its order. */
function readChanges(file: string): Change[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare('SELECT order_id, event_id FROM change ORDER BY number').all();
  database.close();
  return rows.map(({ order_id, event_id }) => ({ orderId: String(order_id), eventId: String(event_id) }));
}

/** What the service says about all orders. */
async function readHistory(url: string): Promise<readonly Change[]> {
  const { users }: { readonly users: { readonly nodes: readonly UserHistory[] } } = await ask(
    url,
    '{ users(first: 50) { nodes { orders(first: 20) { nodes { id events { id } } } } } }',
  );
  return users.nodes.flatMap(({ orders }) =>
    orders.nodes.flatMap(({ id: orderId, events }) =>
      events.map(({ id: eventId }) => ({ orderId, eventId })),
    ),
  );
}
