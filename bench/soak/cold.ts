import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { ensureBenchTools } from '../../test/support/tools.ts';
import { AnswerCheck, agreeOnAnswer } from '../reads/answers.ts';
import { createLoader } from '../reads/load.ts';
import { startStage } from '../reads/stage.ts';
import { workloads } from '../reads/workloads.ts';
import { formatNumber, type Row, toTable } from '../support/figures.ts';
import { describeMachine } from '../support/machine.ts';
import { putMarked } from '../support/marked-page.ts';
import { readSettledRss, readUsage } from '../support/process-usage.ts';

const usage = `npm run soak -- cold [--minutes 10] [--users 1000000] [--write]

Measures the resident memory of a gateway with default settings: before anybody asked, and while it reads users with orders
and events, each once. It goes on until both the time has passed and so many users were read. --write puts the table into
docs/performance.md.`;

const page = new URL('../../docs/performance.md', import.meta.url);
const mostIdleMB = 150;
const mostMB = 300;
const secondsOfSample = 60;

/** Runs the soak of cold reads and prints its table. */
export async function runCold(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '10' },
      users: { type: 'string', default: '1000000' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const plan = { seconds: Number(values.minutes) * 60, users: Number(values.users) };
  if (values.help || !(plan.seconds > 0) || !(plan.users > 0)) {
    process.stdout.write(`${usage}\n`);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const rows = judgeMemory(await readCold(plan));
  const text = describeMemory(rows);
  process.stdout.write(`${text}\n`);
  if (values.write) writeFileSync(page, putMarked(readFileSync(page, 'utf8'), 'read cold', text));
  if (rows.some(({ isMet }) => isMet === false)) process.exitCode = 1;
}

interface ColdPlan {
  readonly seconds: number;
  readonly users: number;
}

/** Resident memory of the gateway's processes, in MB. */
export interface ColdMemory {
  readonly idleMB: number;
  /** After each minute. */
  readonly samplesMB: readonly number[];
  readonly minutes: number;
  /** How many users were read. */
  readonly users: number;
  readonly failed: number;
  readonly checked: number;
  readonly wrong: number;
}

async function readCold(plan: ColdPlan): Promise<ColdMemory> {
  const workload = workloads.find(({ name }) => name === 'first-page');
  if (workload === undefined) throw new Error('There is no such workload.');
  const { nginx, wrk } = ensureBenchTools();
  const size = { users: 20, ordersPerUser: 5 };
  const options = { size, viewers: 0, nginx, ids: ['ours' as const], settings: {}, workload };
  await using stage = await startStage(options);
  await using loader = createLoader(wrk, stage.folder);
  const [target] = stage.targets.running;
  if (target === undefined) throw new Error(`The gateway ${stage.targets.missing[0]?.fault}`);
  const pid = target.victim.pid() ?? 0;
  const readMB = () => (readUsage(pid)?.rssBytes ?? 0) / 1e6;
  await readSettledRss(pid);
  const idleMB = readMB();
  const requests = await workload.requests(stage.callers);
  const { reference } = await agreeOnAnswer([target], requests);
  const check = new AnswerCheck(requests, reference);
  const samplesMB: number[] = [];
  let [turn, spent, failed, checked, wrong] = [0, 0, 0, 0, 0];
  while (spent < plan.seconds || turn < plan.users) {
    const seconds = Math.min(secondsOfSample, plan.seconds);
    const { connections } = workload;
    const running = loader.run({ url: target.endpoint, requests, from: turn, connections, seconds });
    const checks = await check.checkDuring(target, running);
    const outcome = await running;
    turn = outcome.nextTurn;
    spent += outcome.seconds;
    failed += outcome.failed;
    checked += checks.checked;
    wrong += checks.wrong;
    samplesMB.push(readMB());
    process.stderr.write(`${formatNumber(turn)} users, ${formatNumber(readMB())} MB\n`);
  }
  return { idleMB, samplesMB, minutes: spent / 60, users: turn, failed, checked, wrong };
}

/** All results, each with its goal. */
export function judgeMemory(memory: ColdMemory): readonly Row[] {
  const { idleMB, samplesMB, minutes, users, failed, checked, wrong } = memory;
  const last = samplesMB.at(-1) ?? Number.NaN;
  const megabytes = (figure: number, most: number) => ({
    goal: `at most ${most} MB`,
    figure: `${formatNumber(figure)} MB`,
    isMet: figure <= most,
  });
  const none = (count: number) => ({ goal: 'none', figure: formatNumber(count), isMet: count === 0 });
  const length = `${minutes.toFixed(1)} minutes and ${formatNumber(users)} users`;
  return [
    { what: 'resident memory, idle', samples: 1, ...megabytes(idleMB, mostIdleMB) },
    { what: `resident memory after ${length}`, samples: samplesMB.length, ...megabytes(last, mostMB) },
    {
      what: 'the most that it was after a minute',
      ...{ goal: null, figure: `${formatNumber(Math.max(...samplesMB))} MB` },
      ...{ samples: samplesMB.length, isMet: null },
    },
    { what: 'requests that failed', samples: users, ...none(failed) },
    { what: 'wrong answers', samples: checked, ...none(wrong) },
  ];
}

function describeMemory(rows: readonly Row[]): string {
  return `## How much memory does it need?

Measured by \`npm run soak -- cold\` on ${describeMachine()}: a gateway with default settings reads users with orders and
events over 32 connections, as fast as it can and each user once.

${toTable(rows)}`;
}
