import { readdirSync, readFileSync } from 'node:fs';
import { isEnumType } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../gateway/domain/schema.ts';
import { errorCodes } from '../gateway/errors.ts';
import { issueCodes, refusalCodes } from '../gateway/graph/user-error.ts';

const root = new URL('..', import.meta.url);
const [errorTable = '', refusalTable = '', issueTable = ''] = readFileSync(
  new URL('docs/errors.md', root),
  'utf8',
).split(/^## (?:Refusals as data|What is wrong with an input)/m);
const codesOf = (table: string) => [...table.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code);
const documented = codesOf(errorTable);

test('docs/errors.md and the code name the same errors', () => {
  expect(documented).toEqual(Object.keys(errorCodes));
});

test('docs/errors.md and the code name the same refusals', () => {
  expect(codesOf(refusalTable)).toEqual(Object.keys(refusalCodes));
});

test('UserErrorCode has exactly the codes of refusals, and InputIssueCode those of issues', () => {
  const valuesOf = (name: string) => {
    const type = schema.getType(name);
    return isEnumType(type)
      ? type
          .getValues()
          .map(({ name }) => name)
          .toSorted()
      : [];
  };
  expect(valuesOf('UserErrorCode')).toEqual(Object.keys(refusalCodes).toSorted());
  expect(valuesOf('InputIssueCode')).toEqual(Object.keys(issueCodes).toSorted());
  expect(codesOf(issueTable)).toEqual(Object.keys(issueCodes));
});

test('every code is used somewhere in the gateway', () => {
  const code = readdirSync(new URL('gateway', root), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && file !== 'errors.ts')
    .map((file) => readFileSync(new URL(`gateway/${file}`, root), 'utf8'))
    .join('\n');
  expect(documented.filter((name) => !code.includes(`${name}'`) && !code.includes(`${name}:`))).toEqual([]);
});
