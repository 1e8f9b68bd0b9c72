import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('..', import.meta.url);
const rows = readFileSync(new URL('SECURITY.md', root), 'utf8')
  .split('\n')
  .filter((line) => /^\| [^*-]/.test(line) && !line.startsWith('| attack'))
  .map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );

test('every threat of SECURITY.md has a defence and tests that exist', () => {
  expect(rows.length).toBeGreaterThan(30);
  const unproven = rows.filter(([, defence, tests = '']) => {
    const paths = [...tests.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path);
    return !defence || paths.length === 0 || paths.some((path) => !existsSync(new URL(path, root)));
  });
  expect(unproven).toEqual([]);
});
