import { execFile } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { judgeMemory } from '../../bench/soak/cold.ts';
import { isQuiet, makePlan, planHarm } from '../../bench/soak/plan.ts';
import type { Soaked } from '../../bench/soak/run.ts';
import type { Sample } from '../../bench/soak/sample.ts';
import { judge } from '../../bench/soak/verdict.ts';
import { readRows } from '../support/markdown-rows.ts';

const main = fileURLToPath(new URL('../../bench/main.ts', import.meta.url));
const run = promisify(execFile);

test('a soak of seconds does everything that one of minutes does, and loses nothing', async () => {
  // In less time a busy machine makes no request at all in some periods. It may end with 1: memory is not flat so soon.
  const ended = await run(process.execPath, [main, 'soak', '--minutes', '0.1']).catch((error) => error);
  const rows = readRows(ended.stdout).map(([, what, , figure, samples]) => ({ what, figure, samples }));
  expect(rows.map(({ what }) => what?.replace(/: second third.*/, ''))).toEqual([
    'live objects, after garbage was collected',
    'resident memory',
    'open files',
    'resources that keep the event loop alive',
    'p99 of requests',
    'p99 of the lag of the event loop',
    'requests without an answer',
    'webhooks never acknowledged',
    'items repeated or out of order',
    'ends of the gateway',
    'requests answered with errors, while the service was away',
    'streams that were refused, and tried again',
  ]);
  expect(rows.slice(6, 10).map(({ figure }) => figure)).toEqual(['0', '0', '0', '0']);
  expect(rows.filter(({ figure, samples }) => /NaN|^$/.test(`${figure}`) || samples === '0')).toEqual([]);
});

const flat: Sample = {
  heapBytes: 50e6,
  rssBytes: 200e6,
  files: 60,
  resources: 20,
  loopLagMs: 12,
  p50Ms: 5,
  p99Ms: 20,
};

function soakedWith(change: (period: number) => Partial<Sample>, more: Partial<Soaked> = {}): Soaked {
  const plan = makePlan(30);
  return {
    plan,
    samples: Array.from({ length: plan.periods }, (_, period) => ({ ...flat, ...change(period) })),
    visits: { answered: 100, refused: 3, unanswered: 0 },
    webhooks: { sent: 100, lost: 0 },
    passed: { streams: 10, items: 100, broken: 1, wrong: 0 },
    crashes: 0,
    ...more,
  };
}

const missed = (soaked: Soaked) =>
  judge(soaked)
    .filter(({ isMet }) => isMet === false)
    .map(({ what }) => what.replace(/: second third.*/, ''));

test('a gateway that holds what it holds is found sound, also where it grew as it began or was busy once', () => {
  expect(missed(soakedWith(() => ({})))).toEqual([]);
  expect(missed(soakedWith((period) => (period < 8 ? { heapBytes: 30e6 + period * 2e6 } : {})))).toEqual([]);
  expect(missed(soakedWith((period) => (period === 25 ? { p99Ms: 900, rssBytes: 300e6 } : {})))).toEqual([]);
});

test.each<readonly [string, (period: number) => Partial<Sample>]>([
  ['live objects, after garbage was collected', (period) => ({ heapBytes: 50e6 + period * 0.2e6 })],
  ['resident memory', (period) => ({ rssBytes: 200e6 + period * 1.5e6 })],
  ['open files', (period) => ({ files: 60 + period })],
  ['resources that keep the event loop alive', (period) => ({ resources: 20 + period })],
  ['p99 of requests', (period) => ({ p99Ms: 20 + period * 2 })],
  ['p99 of the lag of the event loop', (period) => ({ loopLagMs: 12 + period * 2 })],
])('a gateway is found out whose %s grows', (what, change) => {
  expect(missed(soakedWith(change))).toEqual([what]);
});

test('every kind of loss is detected', () => {
  const soaked = soakedWith(() => ({}), {
    visits: { answered: 100, refused: 3, unanswered: 1 },
    webhooks: { sent: 100, lost: 1 },
    passed: { streams: 10, items: 100, broken: 1, wrong: 1 },
    crashes: 1,
  });
  expect(missed(soaked)).toEqual([
    'requests without an answer',
    'webhooks never acknowledged',
    'items repeated or out of order',
    'ends of the gateway',
  ]);
});

test('every period has each harm, and quiet is what neither begins in one nor lasts into one', () => {
  const windows = planHarm(makePlan(30));
  expect(windows.map(({ harm, fromMs, toMs }) => [harm, fromMs, toMs])).toEqual([
    ['failing', 5000, 7000],
    ['slow', 15_000, 17_000],
    ['cut', 25_000, 27_000],
    ['garbled', 35_000, 37_000],
    ['closed', 45_000, 47_000],
    ['stopped', 55_000, 57_000],
  ]);
  const quiet = [
    { fromMs: 100, toMs: 200 },
    { fromMs: 4900, toMs: 5100 },
    { fromMs: 6000, toMs: 6010 },
    { fromMs: 8000, toMs: 8010 },
    { fromMs: 11_100, toMs: 11_200 },
  ].map((visit) => isQuiet(windows, visit));
  expect(quiet).toEqual([true, false, false, false, true]);
});

test('memory under cold reads is judged idle and at the end, and no answer may be missing or wrong', () => {
  const memory = {
    idleMB: 151,
    samplesMB: [310, 299],
    minutes: 10,
    users: 1_000_000,
    failed: 1,
    checked: 9,
    wrong: 1,
  };
  const rows = judgeMemory(memory);
  expect(rows.map(({ what, figure, isMet }) => [what, figure, isMet])).toEqual([
    ['resident memory, idle', '151 MB', false],
    ['resident memory after 10.0 minutes and 1,000,000 users', '299 MB', true],
    ['the most that it was after a minute', '310 MB', null],
    ['requests that failed', '1', false],
    ['wrong answers', '1', false],
  ]);
});
