import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';
import { analyse } from 'scslre';
import { expect, test } from 'vitest';

// A regular expression whose time grows faster than its text lets one request hold the process (issue of an e-mail
// address of 80,001 characters: hours). So the product contains none, for any text.

const root = fileURLToPath(new URL('..', import.meta.url));

/** The sandbox's controls take a pattern from the tester; the sandbox is not for production. */
const madeOfText = ['sandbox/routes/controls.ts'];

interface Found {
  readonly file: string;
  /** The expression, or null where it is made of a text. */
  readonly expression: RegExp | null;
}

function listFiles(folder: string): readonly string[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => /\.[cm]?[jt]s$/.test(file)).map((file) => join(folder, file));
}

function findExpressions(file: string): readonly Found[] {
  const found: Found[] = [];
  const made = (name: string) => name === 'RegExp' && found.push({ file, expression: null });
  const { program } = parseSync(file, readFileSync(join(root, file), 'utf8'));
  new Visitor({
    Literal: (node) => {
      if (!('regex' in node)) return;
      found.push({ file, expression: new RegExp(node.regex.pattern, node.regex.flags) });
    },
    NewExpression: ({ callee }) => void (callee.type === 'Identifier' && made(callee.name)),
    CallExpression: ({ callee }) => void (callee.type === 'Identifier' && made(callee.name)),
  }).visit(program);
  return found;
}

function isSuperLinear(expression: RegExp): boolean {
  return analyse(expression).reports.length > 0;
}

const all = ['gateway', 'sandbox', 'widget/src'].flatMap(listFiles).flatMap(findExpressions);

test('every regular expression takes linear time', () => {
  const judged = all.filter(({ expression }) => expression !== null);
  expect(judged.length).toBeGreaterThan(90);
  const slow = judged.filter(({ expression }) => expression !== null && isSuperLinear(expression));
  expect(slow).toEqual([]);
});

test('no regular expression is built from text, because it could be checked only at run time', () => {
  const files = all.filter(({ expression }) => expression === null).map(({ file }) => file);
  expect(files).toEqual(madeOfText);
});

test.each([
  ['overlapping repetition', /^\S+@\S+\.\S+$/],
  ['nested repetition', /^(a+)+$/],
  ['repetition that begins anywhere', /\/+$/],
])('%s is found', (_what, expression) => {
  expect(isSuperLinear(expression)).toBe(true);
});
