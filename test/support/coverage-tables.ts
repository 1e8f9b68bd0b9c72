import { readFileSync } from 'node:fs';

const text = readFileSync(new URL('../../docs/coverage.md', import.meta.url), 'utf8');
const [allOperations = '', allFields = ''] = text.split('\n## Fields\n');
const [operations = '', management = ''] = allOperations.split('\n## Management\n');
const [shown = '', missing = ''] = allFields.split('\n## What is missing?\n');
const [fields = '', others = ''] = shown.split('\n### Fields of the management interface\n');
const [managementFields = '', parameters = ''] = others.split('\n### Query parameters\n');

/** The parts of docs/coverage.md, each with tables of one kind. */
export const sections = { operations, management, fields, managementFields, parameters, missing } as const;

type Row = readonly string[];

/** The rows of all tables of a section, as cells. */
export function rowsOf(section: string): readonly Row[] {
  return section
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/sandbox route|public schema|public operation/.test(line))
    .map((line) => line.slice(1, -1).split('|'));
}

/** What a cell names in backticks. */
export function namesOf(cell = ''): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}

/** The fields or parameters that a row leaves out, each with its reason. */
export function leftOutOf([, , , leftOut = '']: Row) {
  const reasons = leftOut.split(/; (?=`)/).filter((part) => part.trim() !== '');
  return reasons.flatMap((part) => {
    const [, names, reason = ''] = /^ ?((?:`[^`]+`(?:, )?)+): (.+)$/.exec(part.trim()) ?? [];
    return names === undefined
      ? [{ name: part, reason: '' }]
      : namesOf(names).map((name) => ({ name, reason }));
  });
}

/** The fields or parameters that a row shows. */
export function shownIn([, , cell = '']: Row): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`(?: `[^`]+`)?/g)].map(([, field = '']) => field);
}

/** All fields or parameters of a row. */
export function fieldNamesOf(row: Row): readonly string[] {
  return [...shownIn(row), ...leftOutOf(row).map(({ name }) => name)];
}
