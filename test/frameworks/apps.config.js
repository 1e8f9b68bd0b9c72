import angularLinker from '@angular/compiler-cli/linker/babel';
import { transformAsync } from '@babel/core';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import vue from '@vitejs/plugin-vue';

/** Angular's own packages come half compiled: each build finishes them. */
const angular = {
  name: 'angular-linker',
  async transform(code, id) {
    if (!id.includes('/@angular/')) return null;
    const options = {
      filename: id,
      plugins: [angularLinker],
      babelrc: false,
      configFile: false,
      compact: false,
    };
    return { code: (await transformAsync(code, options)).code, map: null };
  },
};

const isCustomElement = (tag) => tag.startsWith('portal-');
const apps = {
  react: { input: 'react/main.tsx' },
  'react-server': { input: 'react/server.tsx', ssr: true },
  vue: { input: 'vue/main.ts', plugins: [vue({ template: { compilerOptions: { isCustomElement } } })] },
  svelte: { input: 'svelte/main.ts', plugins: [svelte()] },
  // What ngc has compiled.
  angular: { input: 'built/ngc/angular/main.js', plugins: [angular] },
};

/** The mode is the app. */
export default ({ mode }) => {
  const { input, plugins = [], ssr = false } = apps[mode];
  return {
    root: import.meta.dirname,
    plugins,
    build: {
      ssr,
      target: 'es2023',
      minify: false,
      outDir: `built/${mode}`,
      chunkSizeWarningLimit: 10_000,
      modulePreload: false,
      rolldownOptions: {
        input,
        output: { entryFileNames: 'app.js', codeSplitting: false },
        // A busy machine is no warning.
        checks: { bundlerTimings: false },
      },
    },
  };
};
