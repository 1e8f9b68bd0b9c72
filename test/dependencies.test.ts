import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly os?: readonly string[];
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const lock: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
  readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'),
);

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

test('every dependency is pinned to an exact version', () => {
  for (const file of ['../package.json', '../widget/package.json']) {
    const { dependencies, devDependencies = {} } = JSON.parse(
      readFileSync(new URL(file, import.meta.url), 'utf8'),
    );
    const loose = Object.entries<string>({ ...dependencies, ...devDependencies }).filter(
      ([, version]) => !/^\d+\.\d+\.\d+$/.test(version),
    );
    expect(loose).toEqual([]);
  }
});

test('docs/dependencies.md names what runs in production, and nothing else', () => {
  const page = readFileSync(new URL('../docs/dependencies.md', import.meta.url), 'utf8');
  const named = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
  const { dependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(named.toSorted()).toEqual(Object.keys(dependencies).toSorted());
  const widget = JSON.parse(readFileSync(new URL('../widget/package.json', import.meta.url), 'utf8'));
  expect(widget.dependencies).toBeUndefined();
});

test('what is installed on any platform we run on has a hash, and one package may run a script', () => {
  const entries = Object.entries(lock.packages).filter(
    ([path, { link }]) => path.startsWith('node_modules/') && !link,
  );
  const withoutHash = entries.filter(([, { integrity, os }]) => integrity === undefined && os === undefined);
  expect(withoutHash).toEqual([]);
  const withScripts = entries.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path);
  expect(withScripts.filter((path) => !path.endsWith('/fsevents'))).toEqual(['node_modules/node']);
});
