import { execFile } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { readRows } from '../support/markdown-rows.ts';

const main = fileURLToPath(new URL('../../bench/main.ts', import.meta.url));
const run = promisify(execFile);

test('the delivery bench measures everything it names, from outside, in its short form', async () => {
  const { stdout } = await run(process.execPath, [main, 'delivery', '--store', 'sqlite', '--short']);
  const rows = readRows(stdout);
  expect(rows.map(([, what]) => what?.replace(/ \(.*? webhooks a second\)/, ''))).toEqual([
    'webhook to 2xx, one at a time',
    'webhook to 2xx, 64 at once',
    'webhooks a second, 64 at once',
    'of that the append itself (`/metrics`), 64 at once',
    'webhook to subscriber, 100 subscribers, 100 webhooks a second',
    'the same, beside a stalled subscriber',
    'ratio: beside a stalled subscriber to without',
    'own orders, 100 subscribers, 100 webhooks a second: Labgraph',
    'one order, 100 subscribers: Labgraph',
    'memory of an idle subscribed socket, of 200',
    'the same before garbage was collected by force',
    'catching up 1,500 events of one user, events a second',
    "catching up 1,500 events of the team's stream, events a second",
    'kill -9 to the first acknowledged webhook, 1,500 events in the log',
    'a simple query, in quiet',
    'a simple query, in a flood of webhooks',
  ]);
  const empty = rows.filter(
    ([, , , figure, samples]) => /NaN|Infinity|^$/.test(`${figure}`) || samples === '0',
  );
  expect(empty).toEqual([]);
});

test('a bench that does not exist is refused with the names of those that do', async () => {
  await expect(run(process.execPath, [main, 'nothing'])).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('delivery: '),
  });
});
