import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installLocked, installPacked } from '../../bench/support/install.ts';
import { type Embedding, startEmbedding } from '../e2e/support/embedding.ts';
import type { HostPage } from '../e2e/support/host.ts';
import { connectToChromium, openVisit } from '../e2e/support/visit.ts';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('.', import.meta.url));
const modules = `${folder}node_modules/`;

let browser: Browser;

afterAll(() => browser.close());

/** The frameworks from their lockfile, and the package as it would be published. */
beforeAll(async () => {
  browser = await connectToChromium();
  installLocked(new URL('.', import.meta.url));
  installPacked('widget', new URL('.', import.meta.url));
}, 600_000);

/** The type checker of each framework. */
const checkers: Readonly<Record<string, readonly string[]>> = {
  react: ['typescript/bin/tsc', '-p', 'react', '--pretty', 'false'],
  vue: ['vue-tsc/bin/vue-tsc.js', '-p', 'vue', '--pretty', 'false'],
  svelte: [
    'svelte-check/bin/svelte-check',
    ...[
      '--workspace',
      'svelte',
      '--tsconfig',
      './tsconfig.json',
      '--output',
      'machine',
      '--fail-on-warnings',
    ],
  ],
  angular: ['@angular/compiler-cli/bundles/src/bin/ngc.js', '-p', 'angular/tsconfig.json'],
};

async function runTool([file, ...args]: readonly string[]): Promise<string> {
  const env = { ...process.env, NODE_ENV: 'development', NO_COLOR: '1' };
  const options = { cwd: folder, env, maxBuffer: 2 ** 24 };
  // A checker that finds faults ends with a code of its own.
  const { stdout, stderr } = await run(process.execPath, [`${modules}${file}`, ...args], options).catch(
    (cause) => cause,
  );
  return stripVTControlCharacters(stdout + stderr);
}

/** As each checker writes it: tsc and vue-tsc, ngc, svelte-check. */
const places = [
  /^([\w./]+)\((\d+),\d+\): error/gm,
  /^([\w./]+):(\d+):\d+ - (?:error|warning)/gm,
  /(?:ERROR|WARNING) "([\w.]+)" (\d+):/g,
];

function readPlaces(said: string): readonly string[] {
  return places.flatMap((pattern) =>
    [...said.matchAll(pattern)].map(([, file, line]) => `${file?.split('/').at(-1)}:${line}`),
  );
}

/** The page of a host with an app that a framework has built. */
function appPage(
  embedding: Embedding,
  { app, markup }: { readonly app: string; readonly markup: (props: object) => string },
) {
  const order = embedding.findOrder('received.walk_in_test.ordered');
  const props = {
    endpoint: `${embedding.gatewayUrl}/graphql`,
    portalOrigins: embedding.serviceUrl,
    orderId: order.orderId,
  };
  const page: HostPage = {
    body: `<div id="app" data-props='${JSON.stringify(props)}'>${markup(props)}</div>`,
    app: `${folder}built/${app}/app.js`,
    mintToken: () => embedding.mintToken(order.userId),
    // The policies of Svelte, Vue and Angular themselves.
    trustedTypes: 'portal-widget lit-html svelte-trusted-html vue angular',
  };
  return { order, page };
}

describe.each(Object.entries(checkers))('%s', (name, checker) => {
  test('refuses each wrong value of an attribute, property or event, and nothing else', async () => {
    const said = await runTool(checker);

    expect(readPlaces(said), said).toEqual(listWrongLines(name));
  });

  test('builds, shows the order live and opens the portal, without a warning', async () => {
    if (name === 'angular')
      expect(await runTool([...checker.slice(0, 2), 'angular/tsconfig.app.json'])).toBe('');
    expect(await build(name)).toBe('');
    await using embedding = await startEmbedding();
    const { order, page } = appPage(embedding, {
      app: name,
      markup: name === 'react' ? await readServer() : () => '',
    });
    await using visit = await openVisit({ browser, embedding }, page);
    const label = visit.page.locator('output');

    await label.getByText('Ordered').waitFor();
    await embedding.advance(order.orderId);
    await label.getByText('Requisition created').waitFor();
    const opening = visit.nextPortal();
    await visit.page.getByRole('button', { name: 'Open my results' }).click();
    await opening;

    // Builds for development, because only these warn. Lit says of itself that it is one.
    expect(visit.recording.complaints.filter((line) => !line.startsWith('Lit is in dev mode'))).toEqual([]);
    expect(visit.reports.filter(({ kind }) => kind === 'violation')).toEqual([]);
  });
});

/** What the build complains about. */
function build(app: string): Promise<string> {
  return runTool([
    'vite/bin/vite.js',
    'build',
    '--config',
    'apps.config.js',
    '--mode',
    app,
    '--logLevel',
    'warn',
  ]);
}

/** What React renders on a server. */
async function readServer(): Promise<(props: object) => string> {
  expect(await build('react-server')).toBe('');
  const { render } = await import(`${folder}built/react-server/app.js`);
  return render;
}

/** The lines of the framework's file of faults, each of which has one. */
function listWrongLines(name: string): readonly string[] {
  const file = { react: 'wrong.tsx', vue: 'wrong.vue', svelte: 'wrong.svelte', angular: 'wrong.ts' }[name];
  const lines = readFileSync(`${folder}${name}/${file}`, 'utf8').split('\n');
  return lines.flatMap((line, index) => (/<portal-[\w-]+ /.test(line) ? `${file}:${index + 1}` : []));
}
