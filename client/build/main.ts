import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { describeSchema } from './schema.ts';

/** Builds everything that is published: modules that share their parts, their declarations, and the schema's files. */
const folder = fileURLToPath(new URL('..', import.meta.url));
const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const entries = ['index', 'apollo', 'files', 'react', 'urql'];
const packages = Object.keys({ ...dependencies, ...peerDependencies });

await build({
  configFile: false,
  logLevel: 'warn',
  root: folder,
  build: {
    target: 'es2023',
    outDir: 'dist',
    copyPublicDir: false,
    modulePreload: false,
    minify: false,
    rolldownOptions: {
      input: Object.fromEntries(entries.map((name) => [name, `src/${name}.ts`])),
      external: (name) => packages.some((known) => name === known || name.startsWith(`${known}/`)),
      preserveEntrySignatures: 'strict',
      output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: 'parts/[name].js' },
    },
  },
});
buildTypes(join(folder, 'dist/types'));
buildSchema(join(folder, 'dist/schema'));

/** Publishes the declarations that TypeScript makes of `src`, without the source. */
function buildTypes(out: string): void {
  const tsc = fileURLToPath(new URL('bin/tsc', import.meta.resolve('typescript/package.json')));
  const options = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--outDir', out];
  execFileSync(process.execPath, [tsc, '-p', folder, '--rootDir', join(folder, 'src'), ...options], {
    stdio: 'inherit',
  });
  for (const file of readdirSync(out, { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.d.ts')) nameBuiltFiles(join(out, file));
  }
}

/** `./order.ts` becomes `./order.js`, whose types every compiler finds in the declaration beside it. */
function nameBuiltFiles(path: string): void {
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace(/(\b(?:from|import)[ (])(['"]\.[^'"]+)\.ts(?=['"])/g, '$1$2.js'));
}

function buildSchema(out: string): void {
  mkdirSync(out, { recursive: true });
  const files = describeSchema(readFileSync(join(folder, '../schema.graphql'), 'utf8'));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(out, file), text);
}
