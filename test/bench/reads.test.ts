import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
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

test('the reads bench measures every workload, in its short form without the peers', async () => {
  const { stdout } = await run(process.execPath, [main, '--short']);
  const rates = readRows(sectionOf(stdout, 'How many requests a second?'));
  expect(
    rates.map(([, what, ours, uncached, bare]) => [what, ours !== '', uncached !== '', bare !== '']),
  ).toEqual(workloads.map(({ what, isForBare }) => [what, true, true, isForBare]));
  const calls = readRows(sectionOf(stdout, 'How many calls does the service get?'));
  expect(calls.map(([, who]) => who)).toEqual(['Labgraph', 'Labgraph, no cache, in-flight reads joined']);
  expect(stdout).toMatch(/^one order, same id, cached: \d+ % bare node:http \(goal 55 %\) (met|MISSED)$/m);
}, 60_000);

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

function findTrivial(): Workload {
  const trivial = workloads.find(({ name }) => name === 'trivial');
  if (trivial === undefined) throw new Error('There is no trivial workload.');
  return trivial;
}

async function measure(targets: readonly Target[]) {
  await using loader = createLoader(null, '.');
  const stage = {
    ...{ targets, folder: '.', world: await createReadWorld({ users: 1, ordersPerUser: 1 }), live: null },
    ...{ gatewayKey: 'key', webhookSecret: 'secret', mintViewerToken: async () => 'token' },
    [Symbol.asyncDispose]: async () => {},
  };
  return await measureWorkload({ stage, plan: makePlan(true), loader, profilers: new Map() }, findTrivial());
}

const right = { status: 200, text: '{"data":{"__typename":"Query"}}' };

test('a server with another answer than the others gets no figure', async () => {
  await using ours = await startAnswering('ours', () => right);
  await using other = await startAnswering('mercurius', () => ({
    status: 200,
    text: '{"data":{"__typename":"Root"}}',
  }));
  await expect(measure([ours.target, other.target])).rejects.toThrow(
    'mercurius answers {"__typename":"Root"}, not {"__typename":"Query"}.',
  );
});

test('a server that fails under load gets no figure', async () => {
  let asked = 0;
  await using server = await startAnswering('ours', () => {
    asked += 1;
    return asked < 5 ? right : { status: 503, text: '{}' };
  });
  await expect(measure([server.target])).rejects.toThrow(
    /^ours failed \d+ of \d+ requests \(trivial query\)\.$/,
  );
});

test('the text around the figures stays when they are written again', () => {
  const once = putMarked('Before.\n', 'measured', 'Figures.');
  const grown = `${once}\nAfter.\n`;
  expect(once).toMatch(/^Before\.\n/);
  expect(putMarked(grown, 'measured', 'Others.')).toBe(grown.replace('Figures.', 'Others.'));
});

function figure(workload: WorkloadName, target: TargetId, more: Partial<Figure>): Figure {
  return {
    workload,
    target,
    perSecond: 1,
    p50Ms: 1,
    p99Ms: 2,
    ...{ cpuMicros: null, residentMiB: null, callsPerThousand: null },
    ...more,
  };
}

test('each goal is printed with its figure, and whether it is met', () => {
  const figures = [
    figure('nested-20', 'ours', { perSecond: 12_000, p50Ms: 2, p99Ms: 7 }),
    figure('nested-20', 'apollo', { perSecond: 100 }),
    figure('nested-20', 'mercurius', { perSecond: 400, p99Ms: 90 }),
    figure('same-order', 'ours', { perSecond: 54_000 }),
    figure('same-order', 'bare', { perSecond: 90_000 }),
  ];
  expect(judge(figures).map(describeGoal)).toEqual([
    'nested, 20 users x orders, cached: 120x Apollo Server (goal 100x) met',
    'nested, 20 users x orders, cached: 30x Mercurius (goal 60x) MISSED',
    'one order, same id, cached: 60 % bare node:http (goal 55 %) met',
    'nested, 20 users x orders, p99: 3.50x its p50 (2.00 ms) (goal at most 3x) MISSED',
    'nested, 20 users x orders, p99: 7.00 ms (goal at most that of Mercurius, 90.0 ms) met',
  ]);
});

test('growth compares the cost of one more user beyond 50 with the cost of each of the first 50', () => {
  const perSecond = (microseconds: number) => ({ perSecond: 1e6 / microseconds });
  const steady = [1, 10, 20, 50, 100] as const;
  const figures = (beyond: number) =>
    steady.map((users) =>
      figure(
        `nested-${users}`,
        'ours',
        perSecond(100 + 10 * Math.min(users, 50) + beyond * Math.max(0, users - 50)),
      ),
    );
  const growth = (beyond: number) =>
    judge(figures(beyond)).filter(({ what }) => what.startsWith('nested, cost of one more user'));
  expect(growth(10).map(({ figure, isMet }) => [figure, isMet])).toEqual([
    ['10.00 µs beyond 50 users, each of those 12.00 µs', true],
  ]);
  expect(growth(20).map(({ isMet }) => isMet)).toEqual([false]);
});
