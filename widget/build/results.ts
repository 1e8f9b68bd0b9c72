import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';

const widgetFolder = fileURLToPath(new URL('..', import.meta.url));
const resultsFolder = fileURLToPath(new URL('../src/results/', import.meta.url));

/** Builds `<portal-results>` into a file of its own beside the module, `portal-results.js`. */
export function results(): Plugin {
  return {
    name: 'results',
    apply: 'build',
    async closeBundle() {
      await build({
        configFile: false,
        logLevel: 'warn',
        root: widgetFolder,
        plugins: [importModule()],
        build: {
          target: 'es2023',
          cssTarget: 'esnext',
          emptyOutDir: false,
          copyPublicDir: false,
          modulePreload: false,
          rolldownOptions: {
            input: `${resultsFolder}define.ts`,
            output: {
              format: 'es',
              topLevelVar: false,
              entryFileNames: 'portal-results.js',
              codeSplitting: false,
              minify: { compress: true, mangle: { toplevel: true }, codegen: true },
            },
          },
        },
      });
    },
  };
}

/** Takes Lit and everything outside the folder from the module beside it, which a page has loaded already. */
function importModule(): Plugin {
  return {
    name: 'import-module',
    enforce: 'pre',
    resolveId: (source) =>
      source === 'lit' || source.startsWith('../') ? { id: './portal-widget.js', external: true } : null,
  };
}
