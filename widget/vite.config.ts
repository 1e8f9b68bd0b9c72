import { defineConfig, type Plugin } from 'vite';

const LIT_POLICY = /(\w+)\.createPolicy\((["'])lit-html\2,\s*(\{createHTML:\s*\(?(\w+)\)?\s*=>\s*\4\})\)/;

/**
 * Gives the copy of Lit inside the built module a Trusted Types policy of the widget's own, made at the first
 * template instead of at import. So a page may allow `portal-widget` alone, a second Lit on the page keeps its
 * `lit-html`, and a module loaded twice never asks for the name twice: the second copy renders nothing.
 */
function ownTrustedTypesPolicy(): Plugin {
  let replaced = 0;
  return {
    name: 'own-trusted-types-policy',
    apply: 'build',
    transform(code, id) {
      if (!/\/lit-html\/(development\/)?lit-html\.js$/.test(id)) return null;
      const own = code.replace(LIT_POLICY, (_, types, __, rules) => {
        replaced += 1;
        return lazyPolicy(types, rules);
      });
      return { code: own, map: null };
    },
    buildEnd(error) {
      if (!error && replaced !== 1) {
        this.error(
          `Lit makes its Trusted Types policy another way now (${replaced} places found, 1 expected).`,
        );
      }
    },
  };
}

/** The name a page allows first; Lit's own name for pages that allow only that. */
function lazyPolicy(types: string, rules: string): string {
  const create = (name: string) => `${types}.createPolicy('${name}',${rules})`;
  return `(() => {
    let policy;
    const create = () => { try { return ${create('portal-widget')} } catch { return ${create('lit-html')} } };
    return { createHTML: (html) => (policy ??= create()).createHTML(html) };
  })()`;
}

export default defineConfig({
  plugins: [ownTrustedTypesPolicy()],
  build: {
    target: 'es2023',
    copyPublicDir: false,
    modulePreload: false,
    // Not library mode: that keeps all white space in ES modules.
    rolldownOptions: {
      input: 'src/cdn.ts',
      output: { format: 'es', entryFileNames: 'portal-widget.js', codeSplitting: false },
    },
  },
});
