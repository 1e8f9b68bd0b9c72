import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { makeFolder } from './support/folder.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = [
  'gateway/main.ts',
  'gateway/deep/file.ts',
  'sandbox/main.ts',
  'widget/dist/portal-widget.js',
];
const others = ['package-lock.json', 'build.ts', 'widget/build/change-libraries.ts'];
const built = 'dist/gateway/main.js';

/** A checkout in which everything was built at 100 from what was written at 50. */
function makeCheckout() {
  const folder = makeFolder();
  for (const file of ['start.js', 'preload.js', 'package.json']) copyFileSync(root + file, folder.file(file));
  for (const file of [...sources, ...others, built]) {
    mkdirSync(dirname(folder.file(file)), { recursive: true });
    writeFileSync(folder.file(file), `console.log('${file}');\n`);
  }
  const touch = (file: string, seconds: number) => utimesSync(folder.file(file), seconds, seconds);
  const folders = ['gateway', 'gateway/deep', 'sandbox', 'widget/dist'];
  for (const file of [...folders, ...sources, ...others]) touch(file, 50);
  touch(built, 100);
  const start = () => {
    const { stdout, stderr } = spawnSync(process.execPath, ['start.js'], {
      cwd: folder.path,
      encoding: 'utf8',
    });
    return { started: stdout.trim(), said: stderr.trim() };
  };
  return { ...folder, touch, start, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

test('npm start runs the gateway that was built', () => {
  using checkout = makeCheckout();
  expect(checkout.start()).toEqual({ started: built, said: '' });
});

test('a link to nothing, as Emacs makes beside a file that is edited, ends no start', () => {
  using checkout = makeCheckout();
  symlinkSync('nobody@nowhere', checkout.file('gateway/.#main.ts'));
  checkout.touch('gateway', 50);
  expect(checkout.start()).toEqual({ started: built, said: '' });
});

test.each([...sources, ...others])('it runs the source where %s is newer, and says so', (file) => {
  using checkout = makeCheckout();
  checkout.touch(file, 150);
  const { started, said } = checkout.start();
  expect(started).toBe('gateway/main.ts');
  expect(said).toBe(
    `${file} is newer than dist/: the source is started. "npm run build" makes starts faster.`,
  );
});

test('it runs the source where a file was removed, and where nothing was built', () => {
  using checkout = makeCheckout();
  rmSync(checkout.file('gateway/deep/file.ts'));
  expect(checkout.start()).toMatchObject({
    started: 'gateway/main.ts',
    said: expect.stringContaining('gateway/deep'),
  });
  rmSync(checkout.file('dist'), { recursive: true });
  expect(checkout.start()).toEqual({ started: 'gateway/main.ts', said: '' });
});
