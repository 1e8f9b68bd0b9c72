import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';

const folder = fileURLToPath(new URL('../src/languages/', import.meta.url));

/**
 * Builds each language into a script of its own beside the module, `portal-widget.<language>.js`. One build each: built
 * together they would share a file, and a page would have to load that too.
 */
export function languages(): Plugin {
  return {
    name: 'languages',
    apply: 'build',
    async closeBundle() {
      for (const file of readdirSync(folder)) await buildLanguage(file.replace('.ts', ''));
    },
  };
}

function buildLanguage(language: string): Promise<unknown> {
  return build({
    configFile: false,
    logLevel: 'warn',
    root: fileURLToPath(new URL('..', import.meta.url)),
    build: {
      target: 'es2023',
      emptyOutDir: false,
      copyPublicDir: false,
      modulePreload: false,
      rolldownOptions: {
        input: `${folder}${language}.ts`,
        output: { format: 'es', entryFileNames: `portal-widget.${language}.js`, codeSplitting: false },
      },
    },
  });
}
