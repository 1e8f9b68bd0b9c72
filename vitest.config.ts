import { realpathSync } from 'node:fs';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { findChromium } from './test/support/tools.ts';

const executablePath = await findChromium();
const launchOptions = {
  ...(executablePath ? { executablePath } : {}),
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
};

/** As Node itself resolves: with Vite's `development` condition graphql would be loaded twice. */
const resolve = { conditions: ['node', 'import', 'module-sync', 'default'] };

export default defineConfig({
  ssr: { resolve },
  test: {
    projects: [
      { test: { name: 'architecture', include: ['test/*.test.ts'] } },
      { test: { name: 'sandbox', include: ['test/sandbox/**/*.test.ts'] } },
      { test: { name: 'gateway', include: ['test/gateway/**/*.test.ts'] } },
      { test: { name: 'contract', include: ['test/contract/**/*.test.ts'] } },
      { test: { name: 'widget-logic', include: ['test/widget/**/*.node.test.ts'] } },
      { test: { name: 'bench', include: ['test/bench/**/*.test.ts'] } },
      { test: { name: 'chaos', include: ['test/chaos/**/*.test.ts'] } },
      {
        // Packages may stand elsewhere behind a link.
        server: { fs: { allow: ['.', realpathSync('node_modules')] } },
        test: {
          name: 'widget',
          include: ['test/widget/**/*.test.ts'],
          exclude: ['test/widget/**/*.node.test.ts'],
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({ launchOptions }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
