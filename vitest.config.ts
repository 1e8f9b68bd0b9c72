import { accessSync, constants, realpathSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { matchesGlob } from 'node:path';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type InlineConfig, type ProjectConfig, type TestSpecification } from 'vitest/node';
import { findHeadlessShell } from './test/support/tools.ts';

const executablePath = await findHeadlessShell();
const launchOptions = {
  ...(executablePath ? { executablePath } : {}),
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
};

/** As Node itself resolves: with Vite's `development` condition graphql would be loaded twice. */
const resolve = { conditions: ['node', 'import', 'module-sync', 'default'] };

/** In memory where there is room: hundreds of tests open an SQLite file of their own, and each waits for the disk. */
function findTemporaryFolder(): string {
  const [inMemory, needed] = ['/dev/shm', 1 << 30];
  try {
    accessSync(inMemory, constants.W_OK);
    const { bavail, bsize } = statfsSync(inMemory);
    return bavail * bsize >= needed ? inMemory : tmpdir();
  } catch {
    return tmpdir();
  }
}

/**
 * A test that takes longer hangs. A virtual machine whose host is busy can stand still for more than a minute, and then
 * wakes to timers that are over: these are for all tests, so that none has a shorter one of its own.
 */
const calm = { testTimeout: 180_000, hookTimeout: 180_000, expect: { poll: { timeout: 150_000 } } };

/** Proves the proofs, or takes long by nature: planted faults, many kills, soak and bench. Run by `npm run test:long`. */
const long = ['test/**/*.long.test.ts', 'test/chaos/**/*.test.ts', 'test/bench/**/*.test.ts'];

/** Properties and products of tables: `npm test` tries a part of their cases, `npm run test:long` all (support/runs.ts). */
const properties = [
  'test/gateway/events/{facts,follow,projection}.test.ts',
  'test/gateway/{cached-answers,canary,interleavings,interleavings-over-network,management-canary,management-walk,mutation-answers,mutation-faults,public-forms,scope-walk}.test.ts',
];

/**
 * Count objects of the heap, or processor time: each has a worker of its own. Vitest starts projects in the order of their
 * names: `alone` is the first, because its longest file would be the last to end.
 */
const alone = [
  'test/gateway/connection-limits.test.ts',
  'test/gateway/events/waiters.test.ts',
  'test/gateway/hostile-texts.test.ts',
];

/** Kill, flood or measure: each of these long files has the machine for itself, and the others run beside one another. */
const longAlone = [
  'test/{bench,chaos}/**/*.test.ts',
  'test/e2e/{heavy-neighbour,held-loop,siege,unread,webhook-starvation}.long.test.ts',
  'test/gateway/{hostile-texts,unread-streams}.long.test.ts',
];

/** Small files that take long: started by their size they would be the last to end, and leave a core without work. */
const slow = [
  'test/e2e/{operate,shutdown}.test.ts',
  'test/gateway/{interleavings,interleavings-over-network,isolation-walk,raw-requests,reconcile}.test.ts',
];

const maxWorkers = 4;

/**
 * Slow files come second: the first file of a worker waits until everything is imported, and on a machine that has compiled
 * nothing that is longer than the timeouts of the gateway, with which the slow files work.
 */
class SlowSecond extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification) =>
      slow.some((pattern) => matchesGlob(moduleId, `**/${pattern}`));
    const [early, others] = [sorted.filter(isSlow), sorted.filter((file) => !isSlow(file))];
    const first = others.filter(({ project }) => project.name === 'servers').slice(0, maxWorkers);
    return [...first, ...early, ...others.filter((file) => !first.includes(file))];
  }
}

/** Workers go from file to file and keep what they imported: a fresh one would compile half of each second anew. */
const inNode = (
  name: string,
  include: string,
  more: { readonly globalSetup?: string; readonly isolate?: boolean } = {},
) => ({
  test: {
    name,
    include: [include],
    exclude: [...long, ...alone],
    isolate: false,
    ...more,
    // Most objects of a test die young: with more room for them a seventh less processor time goes to the garbage collector.
    execArgv: ['--max-semi-space-size=64'],
    env: { TMPDIR: findTemporaryFolder() },
    ...calm,
  },
});

/** Every state of the widget in every look; `npm test` takes one look for each state. */
const allLooks = ['test/widget/{look/accessibility-matrix,results/results-accessibility}.test.ts'];

const inChromium = (name: string, what: Pick<InlineConfig, 'include' | 'provide'>) => ({
  // Packages may stand elsewhere behind a link.
  server: { fs: { allow: ['.', realpathSync('node_modules')] } },
  test: {
    name,
    ...what,
    exclude: ['test/widget/**/*.node.test.ts'],
    ...calm,
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      provider: playwright({ launchOptions }),
      instances: [{ browser: 'chromium' as const }],
    },
  },
});

const inLong = (name: string, what: ProjectConfig) => ({
  test: {
    name,
    provide: { allCases: true },
    globalSetup: 'test/e2e/support/one-chromium.ts',
    ...calm,
    maxWorkers: 3,
    sequence: { groupOrder: 1 },
    ...what,
  },
});

export default defineConfig({
  ssr: { resolve },
  test: {
    // Most tests wait for processes and sockets: twice as many workers as cores keep two cores busy.
    maxWorkers,
    sequence: { sequencer: SlowSecond },
    // Tests use the Lit that checks how it is used; it says so in every file.
    onConsoleLog: (line) => !line.startsWith('Lit is in dev mode'),
    projects: [
      inNode('architecture', 'test/*.test.ts'),
      // One project, because a worker goes on only to files of its own project, and a new one imports all the gateway.
      inNode('servers', 'test/{client,contract,e2e,gateway,sandbox}/**/*.test.ts', {
        globalSetup: 'test/e2e/support/one-chromium.ts',
      }),
      { test: { name: 'alone', include: alone, ...calm } },
      // Some of them install a page in their worker.
      inNode('widget-logic', 'test/widget/**/*.node.test.ts', { isolate: true }),
      inChromium('widget', { include: ['test/widget/**/*.test.ts'] }),
      inChromium('long-widget', { include: allLooks, provide: { allCases: true } }),
      inLong('long', { include: [...long, ...properties], exclude: longAlone }),
      inLong('long-alone', { include: longAlone, maxWorkers: 1, sequence: { groupOrder: 2 } }),
      inLong('long-clients', { include: ['test/clients/*.test.ts'], globalSetup: 'test/clients/install.ts' }),
    ],
  },
});
