import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { printTraces, withoutTimes } from '../traces/print.ts';
import { recordings } from '../traces/record.ts';

const page = readFileSync(new URL('../../docs/observability.md', import.meta.url), 'utf8');

test.each(recordings)(
  'the trace in the document is what is $name',
  async ({ name, record }) => {
    const [, shown = ''] = page.split(`<!-- ${name}: made by the command -->`);
    const [, printed = ''] = /```text\n(.*?)\n```/s.exec(shown) ?? [];
    expect(withoutTimes(printTraces(await record(0)))).toBe(withoutTimes(printed));
  },
  60_000,
);
