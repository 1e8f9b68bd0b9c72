import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';

const widgetFolder = fileURLToPath(new URL('..', import.meta.url));
const sourceFolder = join(widgetFolder, 'src');
const outFolder = join(widgetFolder, 'dist/modules');
const typesFolder = join(outFolder, 'types');

/** The entries for bundlers, as ES modules that share their parts. Names stay long: the page's own bundler shortens. */
export async function buildModules(): Promise<void> {
  const languages = readdirSync(join(sourceFolder, 'languages')).map((file) => file.replace('.ts', ''));
  const { dependencies }: { readonly dependencies: object } = JSON.parse(
    readFileSync(join(widgetFolder, 'package.json'), 'utf8'),
  );
  const input = {
    index: 'src/index.ts',
    define: 'src/define.ts',
    results: 'src/results/define.ts',
    testing: 'src/testing/index.ts',
    'lit-on-a-server': 'src/lit-on-a-server.ts',
    ...Object.fromEntries(languages.map((name) => [`languages/${name}`, `src/languages/${name}.ts`])),
  };
  await build({
    configFile: false,
    logLevel: 'warn',
    root: widgetFolder,
    plugins: [importPackages(Object.keys(dependencies))],
    build: {
      target: 'es2023',
      cssTarget: 'esnext',
      outDir: outFolder,
      copyPublicDir: false,
      modulePreload: false,
      minify: false,
      rolldownOptions: {
        input,
        preserveEntrySignatures: 'strict',
        output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: 'parts/[name].js' },
      },
    },
  });
  buildTypes();
}

/** Leaves dependencies to the page's bundler. Lit by the name that `imports` of package.json gives it. */
function importPackages(names: readonly string[]): Plugin {
  return {
    name: 'import-packages',
    enforce: 'pre',
    resolveId: (source) => {
      const name = names.find((each) => source === each || source.startsWith(`${each}/`));
      return name ? { id: source.replace(/^lit$/, '#lit'), external: true } : null;
    },
  };
}

/** Publishes the declarations that TypeScript makes of `src`, file by file, without the source. */
function buildTypes(): void {
  const tsc = fileURLToPath(new URL('bin/tsc', import.meta.resolve('typescript/package.json')));
  const options = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--outDir', typesFolder];
  execFileSync(process.execPath, [tsc, '-p', widgetFolder, '--rootDir', sourceFolder, ...options], {
    stdio: 'inherit',
  });
  // Declarations that were written as such are not among what it says.
  for (const file of ['vue.d.ts', 'svelte.d.ts']) {
    copyFileSync(join(sourceFolder, 'typings', file), join(typesFolder, 'typings', file));
  }
  for (const file of readdirSync(typesFolder, { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.d.ts')) nameBuiltFiles(join(typesFolder, file));
  }
  // Compilers that look at every import look for the style sheet's types.
  writeFileSync(join(typesFolder, 'placeholder.d.ts'), 'export {};\n');
  // Typings are empty at run time, but an import of them must succeed.
  writeFileSync(join(outFolder, 'typings.js'), 'export {};\n');
}

/** `./order.ts` becomes `./order.js`, whose types every compiler finds in the declaration beside it. */
function nameBuiltFiles(path: string): void {
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace(/(\b(?:from|import)[ (])(['"]\.[^'"]+)\.ts(?=['"])/g, '$1$2.js'));
}
