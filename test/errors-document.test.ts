import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { errorCodes } from '../gateway/errors.ts';
import { refusalCodes } from '../gateway/graph/user-error.ts';

const root = new URL('..', import.meta.url);
const [errorTable = '', refusalTable = ''] = readFileSync(new URL('docs/errors.md', root), 'utf8').split(
  '## Refusals',
);
const codesOf = (table: string) => [...table.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code);
const documented = codesOf(errorTable);

test('docs/errors.md and the code name the same errors', () => {
  expect(documented).toEqual(Object.keys(errorCodes));
});

test('docs/errors.md and the code name the same refusals', () => {
  expect(codesOf(refusalTable)).toEqual(Object.keys(refusalCodes));
});

test('every code is used somewhere in the gateway', () => {
  const code = readdirSync(new URL('gateway', root), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && file !== 'errors.ts')
    .map((file) => readFileSync(new URL(`gateway/${file}`, root), 'utf8'))
    .join('\n');
  expect(documented.filter((name) => !code.includes(`${name}'`) && !code.includes(`${name}:`))).toEqual([]);
});
