import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('built/', import.meta.url));
const tool = (path: string) => fileURLToPath(new URL(`node_modules/${path}`, import.meta.url));
const text = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');
const blocks = [...text.matchAll(/^```(\w+)\n(.*?)^```/gms)].map(([, language = '', code = '']) => ({
  language,
  code,
  file: /^\/\/ (\S+\.tsx?)$/m.exec(code.slice(0, code.indexOf('\n')))?.[1],
}));
const files = blocks.filter(({ language }) => /^(tsx?|js)$/.test(language));

/** The examples as one project; what codegen writes is for the files in `src`. */
beforeAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  for (const { file = '', code } of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), code);
    if (file === 'labgraph.ts') {
      mkdirSync(join(folder, 'src'), { recursive: true });
      writeFileSync(join(folder, 'src', file), code);
    }
  }
  const config = blocks.find(({ code }) => code.includes('compilerOptions'))?.code ?? '';
  writeFileSync(join(folder, 'tsconfig.json'), config);
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  // The document's paths are those of a project that has its own packages.
  writeFileSync(
    join(folder, 'codegen.ts'),
    (await readCodegen()).replaceAll('./node_modules', '../node_modules'),
  );
  await run(process.execPath, [tool('@graphql-codegen/cli/cjs/bin.js'), '-c', 'codegen.ts'], { cwd: folder });
});

async function readCodegen(): Promise<string> {
  return readFileSync(join(folder, 'codegen.ts'), 'utf8');
}

test('every example has the name of its file', () => {
  expect(files.filter(({ file }) => file === undefined)).toEqual([]);
  expect(files.length).toBeGreaterThan(12);
});

test('every example is accepted by TypeScript with the options of the document', async () => {
  const tsc = [tool('typescript/bin/tsc'), '-p', folder, '--pretty', 'false'];

  const { stdout } = await run(process.execPath, tsc).catch((cause) => cause);

  expect(stdout).toBe('');
});

test('callers that need a token at the same time share one request for it, and a rejected token is replaced', async () => {
  const tokens = ['token 1', 'token 2', 'token 3'];
  vi.stubGlobal('fetch', async () => Response.json({ token: tokens.shift() }));
  onTestFinished(() => void vi.unstubAllGlobals());
  const { getToken } = await import(/* @vite-ignore */ join(folder, 'labgraph.ts'));

  expect(await Promise.all([getToken(), getToken('rejected'), getToken()])).toEqual([
    'token 1',
    'token 1',
    'token 1',
  ]);
  expect(await getToken()).toBe('token 1');
  expect(await Promise.all([getToken('rejected'), getToken('rejected')])).toEqual(['token 2', 'token 2']);
});
