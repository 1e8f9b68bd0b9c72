import { defineConfig } from 'vite';
import { languages } from './build/languages.ts';
import { librariesForPages } from './build/libraries-for-pages.ts';
import { listOperations } from './build/operations.ts';
import { results } from './build/results.ts';

export default defineConfig({
  plugins: [languages(), results(), listOperations(), librariesForPages()],
  build: {
    target: 'es2023',
    // The style sheet needs `light-dark()` and `:dir()` as they are: what stands in for them in older browsers is wrong.
    cssTarget: 'esnext',
    // The modules for bundlers are there, too (build/page.ts).
    emptyOutDir: false,
    copyPublicDir: false,
    modulePreload: false,
    // Not library mode: that keeps all white space in ES modules.
    rolldownOptions: {
      input: 'src/cdn.ts',
      // A number with a name costs as little as one without.
      optimization: { inlineConst: { mode: 'all' } },
      preserveEntrySignatures: 'exports-only',
      output: {
        format: 'es',
        // The minifier writes a `const` where it is used, and a `var` not.
        topLevelVar: false,
        entryFileNames: 'portal-widget.js',
        codeSplitting: false,
        minify: { compress: true, mangle: { toplevel: true }, codegen: true },
      },
    },
  },
});
