import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));

// In `pathname` a space is `%20`, and on Windows a slash comes before the drive.
test('no file makes a path of a URL by its pathname, so the checkout may have any name', () => {
  const files = globSync('{gateway,cli,sandbox,widget,client,bench,test,examples}/**/*.{ts,js,mjs}', {
    cwd: root,
    exclude: ['**/node_modules', '**/dist', '**/built'],
  });
  expect(files.length).toBeGreaterThan(500);
  const faulty = files.filter((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const names = [...text.matchAll(/const (\w+) = new URL\([^)]*import\.meta\.url\)/g)].map(
      ([, name]) => name,
    );
    return [
      /import\.meta\.url\)\.pathname/,
      ...names.map((name) => new RegExp(`\\b${name}\\.pathname`)),
    ].some((place) => place.test(text));
  });
  expect(faulty).toEqual([]);
});

// Without `exec` the SIGTERM that npm forwards ends the shell only: npm is gone and the gateway stays. cmd.exe has no `exec`
// and runs what is after `||`.
test('the npm scripts of the product also run in the shell of Windows', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  // Tests need a Unix: kills, file modes, redis-server.
  const product = Object.entries<string>(scripts).filter(([name]) => !/^(test|clients)/.test(name));
  const inWindows = product.map(
    ([name, script]) => [name, script.replace(/^exec (.*) \|\| \1$/, '$1')] as const,
  );
  expect(inWindows.filter(([, script]) => /\bexec\b|^\w+=|&& \w+=|'/.test(script))).toEqual([]);
});

test('on a Node that is too old, npm start says so in one sentence and no stack', async () => {
  const old = 'Object.defineProperty(process, "versions", { value: { node: "20.20.2" } })';
  const { start } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts;
  const args = [
    '--import',
    `data:text/javascript,${encodeURIComponent(old)}`,
    ...start.split(' || ')[1].split(' ').slice(1),
  ];
  const failed = run(process.execPath, args, { cwd: root });
  await expect(failed).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^Labgraph needs Node 26 or later, and this is Node 20\.20\.2\. [^\n]*\n$/),
  });
});
