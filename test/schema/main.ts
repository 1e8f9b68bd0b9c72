import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { printManagementGraph } from '../../gateway/domain/management-schema.ts';
import { printGraph } from '../../gateway/domain/schema.ts';
import { readDocumentList } from '../../gateway/execution/document/document-list.ts';
import { compareGraphs, type GraphComparison } from './compare.ts';

const file = new URL('../../schema.graphql', import.meta.url);
const managementFile = new URL('../../management.graphql', import.meta.url);
const built = new URL('../../widget/dist/operations.json', import.meta.url);

const { values } = parseArgs({
  options: { against: { type: 'string' }, documents: { type: 'string', multiple: true, default: [] } },
});

if (values.against === undefined) {
  writeFileSync(file, printGraph());
  writeFileSync(managementFile, printManagementGraph());
} else {
  const before = execFileSync('git', ['show', `${values.against}:schema.graphql`], { encoding: 'utf8' });
  const lists = [
    ...values.documents.map(readDocumentList),
    ...(existsSync(built) ? [{ ...readDocumentList(built), client: 'widget' }] : []),
  ];
  const today = new Date().toISOString().slice(0, 10);
  const comparison = await compareGraphs({ before, after: printGraph() }, { today, lists });
  report(comparison);
  const isBroken = comparison.changes.some(({ level, isDue }) => level === 'breaking' && !isDue);
  process.exitCode = isBroken ? 1 : 0;
}

function report({ changes, broken }: GraphComparison): void {
  for (const { level, message, isDue } of changes) {
    process.stdout.write(`${isDue ? 'due' : level}: ${message}\n`);
  }
  for (const { client, version, operation, reason } of broken) {
    process.stdout.write(`breaks ${operation} of ${client} ${version ?? ''}: ${reason}\n`);
  }
  const count = (wanted: string) => changes.filter(({ level }) => level === wanted).length;
  process.stdout.write(
    `${count('breaking')} breaking, ${count('dangerous')} dangerous, ${count('safe')} safe; ${broken.length} operations break.\n`,
  );
}
