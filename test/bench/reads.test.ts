import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { requestAt } from '../../bench/load/requests.ts';
import { expectAnswer } from '../../bench/reads/answers.ts';
import { describeGoal, judge } from '../../bench/reads/goals.ts';
import { createLoader } from '../../bench/reads/load.ts';
import { type Figure, measureWorkload } from '../../bench/reads/measure.ts';
import { makePlan } from '../../bench/reads/plan.ts';
import type { Target, TargetId } from '../../bench/reads/targets.ts';
import { type Workload, type WorkloadName, workloads } from '../../bench/reads/workloads.ts';
import { createReadWorld } from '../../bench/reads/world.ts';
import { putMarked } from '../../bench/support/marked-page.ts';
import { readRows } from '../support/markdown-rows.ts';
import { prepareServer } from '../support/processes.ts';

const main = fileURLToPath(new URL('../../bench/main.ts', import.meta.url));
const run = promisify(execFile);

function sectionOf(report: string, title: string): string {
  return report.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
}

test('the reads bench measures each kind of workload, in its short form without the peers', async () => {
  const kinds: readonly WorkloadName[] = ['first-pages', 'own-first-page', 'same-order', 'mix'];
  const { stdout } = await run(process.execPath, [main, 'reads', '--short', ...kinds]);
  for (const { what, also, coldCalls } of kinds.map(findWorkload)) {
    const rows = readRows(sectionOf(stdout, what.charAt(0).toUpperCase() + what.slice(1)));
    const constant = also.includes('bare') ? ['bare node:http'] : [];
    expect(rows.map(([, who]) => who)).toEqual(['Labgraph', 'Labgraph, `READ_CACHE_SECONDS=0`', ...constant]);
    const wrong = rows.map(([, , , , , , , , count]) => count?.split(' of ')[0]);
    expect(wrong).toEqual(['0', '0', ...constant.map(() => '')]);
    if (coldCalls !== null) expect(Number(rows[0]?.[6])).toBeGreaterThan(coldCalls / 2);
  }
  expect(stdout).toMatch(
    /^repeats: one order, same id: requests a second: \S+x bare node:http \(goal at least 0.60x\) (met|MISSED)$/m,
  );
});

/** A server as the bench sees it, that answers with this status and text. */
async function startAnswering(
  id: TargetId,
  answer: () => { readonly status: number; readonly text: string },
) {
  const server = createServer((_request, response) => {
    const { status, text } = answer();
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : null;
  const victim = await prepareServer(id, { main: '', folder: '.', env: {}, greeting: '' });
  const target: Target = { id, name: id, endpoint: `http://127.0.0.1:${port}/`, victim };
  return {
    target,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function findWorkload(wanted: WorkloadName): Workload {
  const found = workloads.find(({ name }) => name === wanted);
  if (found === undefined) throw new Error('There is no such workload.');
  return found;
}

/** What comes of a workload over a service that nobody asks. */
async function measure(name: WorkloadName, running: readonly Target[]) {
  await using loader = createLoader(null, '.');
  const world = await createReadWorld({ users: 1, ordersPerUser: 1 });
  const dispose = { [Symbol.asyncDispose]: async () => {} };
  const service = { url: '', pid: () => null, countCalls: async () => 0, end: async () => {} };
  const stage = {
    ...{ folder: '.', live: null, webhookSecret: 'secret', service, ...dispose },
    targets: { running, missing: [{ id: 'yoga' as const, fault: 'did not start: no' }], ...dispose },
    callers: { world, gatewayKeys: ['key'], viewers: 1, mintViewerToken: async () => 'token' },
  };
  const plan = makePlan({ isShort: true, isSmoke: false });
  const workload = findWorkload(name);
  const { figures } = await measureWorkload({ stage, plan, loader, workload, profilers: new Map() });
  return figures.map(({ target, fault, rounds }) => [target, fault, rounds.length]);
}

const right = { status: 200, text: '{"data":{"__typename":"Query"}}' };

test('a server with another answer than most, and one that did not start, get no figure but the reason', async () => {
  const wrong = { status: 200, text: '{"data":{"__typename":"Root"}}' };
  await using ours = await startAnswering('ours', () => right);
  await using apollo = await startAnswering('apollo', () => right);
  await using other = await startAnswering('mercurius', () => wrong);
  expect(await measure('trivial', [ours.target, other.target, apollo.target])).toEqual([
    ['ours', null, 1],
    ['mercurius', 'answers {"__typename":"Root"}, not {"__typename":"Query"}', 0],
    ['apollo', null, 1],
    ['yoga', 'did not start: no', 0],
  ]);
});

test('a server that fails under load gets no figure, and the others do', async () => {
  let asked = 0;
  await using server = await startAnswering('ours', () => {
    asked += 1;
    return asked < 5 ? right : { status: 503, text: '{}' };
  });
  await using sound = await startAnswering('apollo', () => right);
  expect(await measure('trivial', [server.target, sound.target])).toEqual([
    ['ours', expect.stringMatching(/^failed \d+ of \d+ requests$/), 0],
    ['apollo', null, 1],
    ['yoga', 'did not start: no', 0],
  ]);
});

test('a server that answers what nobody asked before without the service gets no figure', async () => {
  await using server = await startAnswering('ours', () => ({ status: 200, text: '{"data":{"order":null}}' }));
  expect((await measure('cold-order', [server.target]))[0]).toEqual([
    'ours',
    expect.stringMatching(/^answered without asking the service: 0 calls where \d+ are needed$/),
    0,
  ]);
});

test('each turn asks for numbers of its own, and its answer is that of the reference with these numbers', () => {
  const body = '{"a":"x-############","b":"y-############"}';
  const requests = [{ token: 'key', body }];
  const [first, second] = [requestAt(requests, 1_000_000), requestAt(requests, 1_000_001)];
  expect(first.body).toBe('{"a":"x-000002000000","b":"y-000002000001"}');
  expect(second.body).toBe('{"a":"x-000002000002","b":"y-000002000003"}');
  const reference = {
    body: first.body,
    answer: '{"b":"kit-000002000001","a":["000002000000","000000000007"]}',
  };
  expect(expectAnswer(reference, second.body)).toEqual({
    b: 'kit-000002000003',
    a: ['000002000002', '000000000007'],
  });
});

test('the text around the figures stays when they are written again', () => {
  const once = putMarked('Before.\n', 'measured', 'Figures.');
  const grown = `${once}\nAfter.\n`;
  expect(once).toMatch(/^Before\.\n/);
  expect(putMarked(grown, 'measured', 'Others.')).toBe(grown.replace('Figures.', 'Others.'));
});

interface Rounds {
  readonly perSecond?: number;
  readonly cpuMicros?: number;
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly calls?: number;
}

function figure(workload: WorkloadName, target: TargetId, more: Rounds): Figure {
  const usual = { perSecond: 1, p50Ms: 1, p99Ms: 2, cpuMicros: 1, calls: 0, checked: 10, wrong: 0 };
  const round = { ...usual, residentMB: null, stolenShare: null, ...more };
  const outlier = { ...round, perSecond: 9e9, cpuMicros: 9e9, p50Ms: 9e9, p99Ms: 9e9, calls: 9e9 };
  return { workload, target, fault: null, rounds: [round, outlier, round] };
}

test('each goal is printed with the median of its rounds, and whether it is met', () => {
  const figures = [
    figure('cold-order', 'ours', { cpuMicros: 180 }),
    figure('cold-order', 'mercurius', { cpuMicros: 150 }),
    figure('cold-order', 'tailcall', { cpuMicros: 160 }),
    figure('nested', 'ours', { perSecond: 12_000, p50Ms: 2, p99Ms: 7 }),
    figure('nested', 'apollo', { perSecond: 100 }),
    figure('nested', 'mercurius', { perSecond: 400, p99Ms: 90 }),
    figure('own-nested', 'ours', { calls: 21 }),
    figure('first-page-4ms', 'ours', { p50Ms: 9.5 }),
    figure('first-page-4ms', 'service', { p50Ms: 4.25 }),
  ];
  const printed = judge(figures).map(describeGoal);
  expect(printed).toEqual(
    expect.arrayContaining([
      'cold: one order, another each time: processor time: 1.20x Mercurius (180 µs) (goal at most 1.00x) MISSED',
      'cold: one order, another each time: processor time: 1.13x Tailcall (180 µs) (goal at most 1.20x) met',
      'repeats: nested, 20 users x orders: requests a second: 120x Apollo Server (goal at least 100x) met',
      'repeats: nested, 20 users x orders: requests a second: 30x Mercurius (goal at least 60x) MISSED',
      'repeats: nested, 20 users x orders: p99: 3.50x its p50 (2.00 ms) (goal at most 3x) MISSED',
      'repeats: nested, 20 users x orders: p99: 7.00 ms (goal at most that of Mercurius, 90.0 ms) met',
      'wrong answers: 0 of 120 (goal 0) met',
    ]),
  );
  expect(printed.filter((line) => /calls to the service|p50 over/.test(line))).toEqual([
    expect.stringMatching(/: 21.00 \(goal at most 21\) met$/),
    expect.stringMatching(/: 1.00 ms \(9.50 ms, a read 4.25 ms\) \(goal at most 1.50 ms\) met$/),
  ]);
});
