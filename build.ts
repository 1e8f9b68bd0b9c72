import { copyFileSync, globSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build, type Plugin } from 'vite';
import manifest from './package.json' with { type: 'json' };
import { type Change, changeLibraries } from './widget/build/change-libraries.ts';

/**
 * Builds what production runs and what npm publishes: the gateway and the command line as JavaScript in `dist/`, with their
 * libraries inside. A start opens 50 files in place of 1,250 (decision 0133).
 */
const root = import.meta.dirname;

/** Each is started by its address: the gateway, its threads, and the command line. */
const entries = [
  'gateway/main.ts',
  'gateway/watchdog.js',
  'gateway/events/sqlite/writer-thread.ts',
  'cli/labgraph.js',
];

/** Read by their address. */
const assets = ['package.json', 'gateway/{events/redis/scripts,http/pages/demo}/*', 'widget/dist/*.*'];

/** A file that is found from a module's address is below `dist` where it is below the root. */
const addresses: Plugin = {
  name: 'addresses',
  transform(code, id) {
    if (!code.includes('import.meta.url') || id.includes('node_modules')) return null;
    const address = `new URL('.${id.slice(root.length)}', import.meta.url).href`;
    const script = /(new URL\(\S+)\.ts(\S, import\.meta\.url\))/g;
    return code.replace(script, '$1.js$2').replaceAll('import.meta.url', address);
  },
  writeBundle({ dir = '' }) {
    for (const file of globSync(assets, { cwd: root })) {
      mkdirSync(dirname(join(dir, file)), { recursive: true });
      copyFileSync(join(root, file), join(dir, file));
    }
  },
};

const executor = /\/graphql\/execution\/Executor\.mjs$/;
const memoized = (file: RegExp): readonly Change[] => [
  { file, from: /let cache0;/g, to: 'const name = Symbol();' },
  {
    file,
    from: /cache0 \?\?= new WeakMap\(\);\s+let cache1 = cache0\.get\(a1\);/g,
    to: 'let cache1 = a1[name];',
  },
  {
    file,
    from: /cache1 = new WeakMap\(\);\s+cache0\.set\(a1, cache1\);/g,
    to: 'Object.defineProperty(a1, name, { value: (cache1 = new Map()) });',
  },
];
/** V8 stores an object without a prototype as a hash table: larger, and slower to write as JSON. With an empty one it does not (decision 0134). */
const withEmptyPrototype = (file: RegExp, name: string): readonly Change[] => [
  {
    file,
    from: new RegExp(`const ${name} = Object\\.create\\(null\\);`, 'g'),
    to: `const ${name} = new EmptyObject();`,
  },
  { file, from: /^/g, to: 'function EmptyObject() {}\nEmptyObject.prototype = Object.create(null);\n' },
];
/** After an operation GraphQL holds it in memory until the next full collection. This lets go of it at once (decision 0134). */
const graphqlChanges: readonly Change[] = [
  // V8 puts a function that is written where it is assigned to a property into the old generation.
  {
    file: executor,
    from: /this\.abortResultPromise = (\(\) => \{[^}]*\});/g,
    to: 'const abort = $1; this.abortResultPromise = abort;',
  },
  // An operation that has ended makes no error with a stack trace; no resolver looks at this signal.
  {
    file: executor,
    from: /return \(\) => resolverAbortController\?\.abort\(\);/g,
    to: 'return () => resolverAbortController?.abort(null);',
  },
  // What is memoized for an operation belongs to it. In a WeakMap it outlives it.
  ...memoized(/\/graphql\/jsutils\/memoize2\.mjs$/),
  ...memoized(/\/graphql\/jsutils\/memoize3\.mjs$/),
  {
    file: /\/graphql\/jsutils\/memoize3\.mjs$/,
    from: /cache2 = new WeakMap\(\);/g,
    to: 'cache2 = new Map();',
  },
  ...withEmptyPrototype(executor, 'results'),
  ...withEmptyPrototype(/\/graphql\/jsutils\/promiseForObject\.mjs$/, 'resolvedObject'),
  ...withEmptyPrototype(/\/graphql\/execution\/values\.mjs$/, 'coercedValues'),
];

await build({
  configFile: false,
  root,
  logLevel: 'warn',
  plugins: [addresses, changeLibraries(graphqlChanges)],
  ssr: {
    noExternal: true,
    external: Object.keys(manifest.optionalDependencies),
    // As Node itself resolves.
    resolve: { conditions: ['node', 'import', 'module-sync', 'default'] },
  },
  build: {
    ssr: true,
    target: 'node26',
    outDir: 'dist',
    minify: false,
    copyPublicDir: false,
    rolldownOptions: {
      input: Object.fromEntries(entries.map((entry) => [entry.replace(/\.[jt]s$/, ''), entry])),
      // Names that parts export differ in each build: with a hash, a running gateway does not mix two builds.
      output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js', keepNames: true },
    },
  },
});
