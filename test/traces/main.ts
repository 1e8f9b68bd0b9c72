import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { putMarked } from '../../bench/support/marked-page.ts';
import { printTraces } from './print.ts';
import { recordings } from './record.ts';

// Records the traces that docs/observability.md shows (npm run traces).
const page = new URL('../../docs/observability.md', import.meta.url);

for (const { name, record } of recordings) {
  const text = printTraces(await record(20));
  process.stdout.write(`${text}\n\n`);
  writeFileSync(page, putMarked(readFileSync(page, 'utf8'), name, `\`\`\`text\n${text}\n\`\`\``));
}
