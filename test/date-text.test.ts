import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Where text becomes a date, and nowhere else (decision 0088). */
const home = 'gateway/parse/dates.ts';

/** Numbers of ours that `new Date` is given under a bare name. A text in this list would depend on the host. */
const numbers = [
  'gateway/audit/trail.ts: at',
  'gateway/audit/trail.ts: repeated.since',
  'gateway/events/reconcile.ts: until',
  'gateway/events/sealed-rows.ts: columns.at',
  'gateway/events/sealed-rows.ts: columns.receivedAt',
  'gateway/events/sealed-rows.ts: receivedAt',
  'gateway/events/sealed-rows.ts: since',
  'gateway/graph/pagination/newest-first-connection.ts: place.until',
];

/** An expression that can be nothing but a number: arithmetic on numbers, or what is known to give one. */
function isNumeric(text: string): boolean {
  const isKnown = /^(-?[\d_.]+$|Math\.|Date\.(now|UTC)\(|readNumber\()/.test(text);
  return isKnown || / [*-] /.test(text) || /\.getTime\(\) \+ /.test(text);
}

/** Each place that makes a date of something that may be text: `file: what`. */
function findGuesses(file: string, source: string): readonly string[] {
  const found: string[] = [];
  const textOf = ({ start, end }: { readonly start: number; readonly end: number }) =>
    source.slice(start, end);
  const visitor = new Visitor({
    CallExpression(node) {
      if (/^(globalThis\.)?Date(\.parse)?$/.test(textOf(node.callee))) found.push(`${file}: ${textOf(node)}`);
    },
    NewExpression(node) {
      const [argument] = node.arguments;
      if (!/^(globalThis\.)?Date$/.test(textOf(node.callee)) || argument === undefined) return;
      if (!isNumeric(textOf(argument))) found.push(`${file}: ${textOf(argument)}`);
    },
  });
  visitor.visit(parseSync(file, source).program);
  return found;
}

test('only gateway/parse/dates.ts parses text as a date', () => {
  const files = readdirSync(join(root, 'gateway'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join('gateway', name))
    .filter((file) => file !== home);
  expect(files.length).toBeGreaterThan(150);

  const found = files.flatMap((file) => findGuesses(file, readFileSync(join(root, file), 'utf8')));

  expect([...new Set(found)].toSorted()).toEqual(numbers);
});

test.each(['new Date(text)', 'Date.parse(text)', 'new Date(day + zone)', 'new Date(isLocal ? a : b)'])(
  '%s would be found',
  (code) => {
    expect(findGuesses('a.ts', code)).toHaveLength(1);
  },
);
