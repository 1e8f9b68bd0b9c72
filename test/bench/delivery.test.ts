import { execFile } from 'node:child_process';
import process from 'node:process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const main = new URL('../../bench/main.ts', import.meta.url).pathname;
const run = promisify(execFile);

/** The rows of a Markdown table, each as its cells. */
function readRows(text: string): readonly (readonly string[])[] {
  const lines = text.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(1).map((line) => line.split('|').map((cell) => cell.trim()));
}

test('the delivery bench measures everything it names, from outside, in its short form', async () => {
  const { stdout } = await run(process.execPath, [main, 'delivery', '--store', 'sqlite', '--short']);
  const rows = readRows(stdout);
  expect(rows.map(([, what]) => what?.replaceAll(/[\d,]+/g, '#'))).toEqual(['webhook to #xx# one at a time']);
  const empty = rows.filter(
    ([, , , figure, samples]) => /NaN|Infinity|^$/.test(`${figure}`) || samples === '0',
  );
  expect(empty).toEqual([]);
}, 180_000);

test('a bench that does not exist is refused with the names of those that do', async () => {
  await expect(run(process.execPath, [main, 'nothing'])).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('delivery: '),
  });
});
