import { copyFileSync, globSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build, type Plugin } from 'vite';
import manifest from './package.json' with { type: 'json' };

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

await build({
  configFile: false,
  root,
  logLevel: 'warn',
  plugins: [addresses],
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
