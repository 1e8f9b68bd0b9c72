import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const run = promisify(execFile);
const widgetFolder = fileURLToPath(new URL('../../widget/', import.meta.url));
const consumers = fileURLToPath(new URL('../consumers/', import.meta.url));
const ourModules = fileURLToPath(new URL('../../node_modules/', import.meta.url));

/** A project elsewhere that has installed the package as it would be published, without a network. */
let project = '';
let packed: readonly string[] = [];

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'labgraph-package-'));
  // `npm test` has built it already.
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', project];
  const { stdout } = await run('npm', pack, { cwd: widgetFolder });
  const [tarball] = Object.values<{ filename: string; files: { path: string }[] }>(JSON.parse(stdout));
  packed = tarball?.files.map(({ path }) => path) ?? [];
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  const installed = join(project, 'node_modules/@labgraph/widget');
  mkdirSync(installed, { recursive: true });
  await run('tar', ['-xzf', join(project, tarball?.filename ?? ''), '-C', installed, '--strip-components=1']);
  installDependencies(installed);
});

/** Copies what a package depends on, and what that depends on, out of our own packages. */
function installDependencies(folder: string): void {
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    const place = join(project, 'node_modules', name);
    if (existsSync(place)) continue;
    cpSync(join(ourModules, name), place, { recursive: true });
    installDependencies(place);
  }
}

afterAll(() => rmSync(project, { recursive: true, force: true }));

async function runThere(code: string): Promise<unknown> {
  const { stdout } = await run('node', ['--input-type=module', '-e', code], { cwd: project });
  return JSON.parse(stdout);
}

/** Makes `dist/bundle.js` of the folder's `entry.js`. */
async function bundle(folder: string, condition: string): Promise<void> {
  await build({
    configFile: false,
    logLevel: 'silent',
    root: folder,
    resolve: { conditions: [condition] },
    build: { lib: { entry: 'entry.js', formats: ['es'], fileName: 'bundle' } },
  });
}

describe('the installed package', () => {
  test('has what is built and nothing else: no source, no second package', () => {
    const strangers = packed.filter((path) => !/^(package\.json|README\.md|dist\/)/.test(path));

    expect(strangers.concat(packed.filter((path) => /(?<!\.d)\.ts$/.test(path)))).toEqual([]);
    expect(packed).toContain('README.md');
  });

  test('may be imported on a server, every entry of it', async () => {
    const names = await runThere(`
      import { readFileSync } from 'node:fs';
      const { exports } = JSON.parse(readFileSync(new URL(import.meta.resolve('@labgraph/widget/package.json'))));
      const entries = Object.keys(exports).map((key) => key.replace('.', '@labgraph/widget').replace('languages/*', 'languages/de').replace('cdn/*', 'cdn/portal-widget.de.js'));
      const found = {};
      for (const entry of entries) {
        const kind = entry.endsWith('.json') ? { with: { type: 'json' } } : {};
        found[entry] = entry.endsWith('.css')
          ? readFileSync(new URL(import.meta.resolve(entry)), 'utf8').length > 100
          : Object.keys(await import(entry, kind));
      }
      console.log(JSON.stringify({ ...found, globals: [typeof customElements, typeof HTMLElement] }));`);

    expect(names).toMatchObject({
      globals: ['undefined', 'undefined'],
      '@labgraph/widget': [
        'PortalError',
        'PortalGateway',
        'PortalLaunch',
        'PortalOrderStatus',
        'PortalResults',
        'PortalTokenRequestEvent',
        'addLanguage',
        'createPortalClient',
      ],
      '@labgraph/widget/define': [],
      '@labgraph/widget/results': [],
      '@labgraph/widget/languages/de': [],
      '@labgraph/widget/cdn/portal-widget.js': expect.arrayContaining(['createPortalClient']),
      '@labgraph/widget/cdn/portal-widget.de.js': [],
      '@labgraph/widget/testing': expect.arrayContaining(['createFakeGateway', 'fakeOrder']),
      '@labgraph/widget/placeholder.css': true,
    });
  });

  test.each(['workerd', 'edge-light', 'worker'])(
    'can be imported on a server other than Node, in a bundle for the condition %s',
    async (condition) => {
      const folder = mkdtempSync(join(project, 'edge-'));
      const program = `import '@labgraph/widget/results';
        import * as widget from '@labgraph/widget';
        console.log(JSON.stringify(Object.keys(widget).length));`;
      writeFileSync(join(folder, 'entry.js'), program);
      await bundle(folder, condition);

      const { stdout } = await run('node', [join(folder, 'dist/bundle.js')]);

      expect(JSON.parse(stdout)).toBe(8);
    },
  );

  test('registers nothing on a server with the DOM of a library, as in unit tests of a page', async () => {
    const registered = await runThere(`
      const registered = [];
      globalThis.HTMLElement = class {};
      globalThis.customElements = { get: () => undefined, define: (name) => registered.push(name) };
      await import('@labgraph/widget/define');
      await import('@labgraph/widget/results');
      console.log(JSON.stringify(registered));`);

    expect(registered).toEqual([]);
  });

  test('shares one copy of the code between its entries', async () => {
    const folder = mkdtempSync(join(project, 'page-'));
    const page = `globalThis.HTMLElement = class {};
      globalThis.document = { createTreeWalker() {} };
      const known = new Map();
      globalThis.customElements = { get: (name) => known.get(name), define: (name, element) => known.set(name, element) };
      await import('@labgraph/widget/define');
      const { PortalLaunch } = await import('@labgraph/widget');
      console.log(JSON.stringify(known.get('portal-launch') === PortalLaunch));`;
    writeFileSync(join(folder, 'entry.js'), page);
    await bundle(folder, 'browser');

    const { stdout } = await run('node', [join(folder, 'dist/bundle.js')]);

    expect(JSON.parse(stdout)).toBe(true);
  });

  test('is as publint wants it', async () => {
    const { messages, pkg } = await publint({
      pkgDir: join(project, 'node_modules/@labgraph/widget'),
      strict: true,
    });

    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });
});

/** What of Vue and Svelte their typings are joined to; their packages are far larger than the package itself. */
const STANDINS = [
  {
    name: 'vue',
    entry: '.',
    types:
      'export interface GlobalComponents {}\nexport interface HTMLAttributes { title?: string }\nexport type ReservedProps = { key?: string }',
  },
  {
    name: 'svelte',
    entry: './elements',
    types: `export interface HTMLAttributes<T extends EventTarget> { class?: string; onclick?: (event: Event & { currentTarget: T }) => void }
      export interface SvelteHTMLElements { div: HTMLAttributes<HTMLDivElement> }`,
  },
];

describe('the types of the installed package', () => {
  beforeAll(() => {
    for (const name of ['@types/react', 'csstype']) {
      cpSync(join(ourModules, name), join(project, 'node_modules', name), { recursive: true });
    }
    for (const { name, entry, types } of STANDINS) {
      const folder = join(project, 'node_modules', name);
      mkdirSync(folder, { recursive: true });
      const exports = { [entry]: { types: './types.d.ts' } };
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '1.0.0', exports }));
      writeFileSync(join(folder, 'types.d.ts'), types);
    }
    cpSync(consumers, join(project, 'src'), { recursive: true });
  });

  // The declarations themselves are looked at too.
  const strict = { target: 'es2023', strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false };
  test.each<readonly [string, Readonly<Record<string, unknown>>]>([
    ['nodenext', { ...strict, module: 'nodenext' }],
    ['bundler', { ...strict, module: 'preserve' }],
    // As Next.js writes it by itself: without `null` in types, a property that is a function or null looks like a method.
    ['bundler', { target: 'es2017', module: 'esnext', strict: false, skipLibCheck: true }],
  ])(
    'hold for React 19, Vue, Svelte and plain TypeScript with moduleResolution %s and %j',
    async (moduleResolution, options) => {
      const compilerOptions = {
        ...options,
        moduleResolution,
        lib: ['esnext', 'dom', 'dom.iterable'],
        types: [],
        jsx: 'react-jsx',
        noEmit: true,
      };
      writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));

      const { stdout } = await run(join(ourModules, '.bin/tsc'), ['-p', project]).catch((cause) => cause);

      expect(stdout).toBe('');
    },
  );

  test.each(['define', 'results', 'cdn/portal-widget.js'])(
    'are declared by the import of %s alone, for a page without a framework',
    async (entry) => {
      const program = `import '@labgraph/widget/${entry}';
        const launch = document.querySelector('portal-launch');
        if (launch) launch.tokenProvider = async ({ signal }) => (await fetch('/portal-token', { signal })).text();
        launch?.addEventListener('portal-error', ({ detail }) => [detail.code, detail.requestId]);
        document.querySelector('portal-results')?.retry();
        // @ts-expect-error: there is no such mode
        if (launch) launch.mode = 'popup';`;
      const folder = mkdtempSync(join(project, 'alone-'));
      writeFileSync(join(folder, 'page.ts'), program);
      const compilerOptions = {
        module: 'nodenext',
        target: 'es2023',
        lib: ['esnext', 'dom'],
        types: [],
        strict: true,
        noEmit: true,
      };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));

      const { stdout } = await run(join(ourModules, '.bin/tsc'), ['-p', folder]).catch((cause) => cause);

      expect(stdout).toBe('');
    },
  );
});
