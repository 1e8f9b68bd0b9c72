import { isDeepStrictEqual } from 'node:util';
import type { LoadOutcome, LoadRequest } from '../load/hammer.ts';
import { quantile } from '../support/figures.ts';
import { readUsage, type Usage } from '../support/process-usage.ts';
import type { Loader } from './load.ts';
import type { Plan } from './plan.ts';
import type { Profile, Profiler } from './profile.ts';
import type { Stage } from './stage.ts';
import { isOurs, type Target, type TargetId } from './targets.ts';
import { countMixedOrders, nestedShareOfMix, type Workload, type WorkloadName } from './workloads.ts';

/** One server under one workload: medians of the rounds. */
export interface Figure {
  readonly workload: WorkloadName;
  readonly target: TargetId;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the server's process for one request; null where it cannot be read. */
  readonly cpuMicros: number | null;
  /** Resident memory of the server's process after its last round; null likewise. */
  readonly residentMiB: number | null;
  /** List calls to the service for 1,000 nested reads; null where they were not counted. */
  readonly callsPerThousand: number | null;
}

type Round = LoadOutcome & Pick<Figure, 'callsPerThousand' | 'cpuMicros' | 'residentMiB'>;

/** The results of one workload. */
export interface Measured {
  readonly figures: readonly Figure[];
  /** Where there are profilers. */
  readonly profiles: readonly Profile[];
}

/**
 * Measures all servers by turns, so that a slow minute of the machine affects all of them.
 * @throws Error where a server answers wrongly or not at all: a wrong answer is no figure
 */
export async function measureWorkload(bench: Bench, workload: Workload): Promise<Measured> {
  const { stage, plan } = bench;
  const targets = stage.targets.filter(({ id }) => isMeasured(id, workload));
  const requests = await workload.requests(stage);
  await requireEqualAnswers(targets, requests);
  const rounds = new Map<Target, Round[]>(targets.map((target) => [target, []]));
  const load = { ...bench, workload, requests, asked: new Map() };
  for (const target of targets) await runOnce(load, target, plan.warmUpSeconds);
  for (let round = 0; round < plan.rounds; round += 1) {
    for (const target of targets) rounds.get(target)?.push(await runOnce(load, target, plan.seconds));
  }
  const figures = [...rounds].map(([{ id }, outcomes]) => toFigure(workload.name, id, outcomes));
  return { figures, profiles: await profileAll(load, targets) };
}

function toFigure(workload: WorkloadName, target: TargetId, outcomes: readonly Round[]): Figure {
  return {
    ...{ workload, target },
    perSecond: median(outcomes.map(({ requests, seconds }) => requests / seconds)),
    p50Ms: median(outcomes.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(outcomes.map(({ p99Ms }) => p99Ms)),
    cpuMicros: medianOrNull(outcomes.map(({ cpuMicros }) => cpuMicros)),
    residentMiB: outcomes.at(-1)?.residentMiB ?? null,
    callsPerThousand: medianOrNull(outcomes.map(({ callsPerThousand }) => callsPerThousand)),
  };
}

/** After the figures: a server that is profiled is slower. */
async function profileAll(load: Load, targets: readonly Target[]): Promise<readonly Profile[]> {
  const profiles: Profile[] = [];
  for (const target of targets) {
    const times = await load.profilers.get(target.id)?.(() => runOnce(load, target, load.plan.seconds));
    if (times !== undefined) profiles.push({ workload: load.workload.name, target: target.id, ...times });
  }
  return profiles;
}

/** The parts that measuring needs. */
export interface Bench {
  readonly stage: Stage;
  readonly plan: Plan;
  readonly loader: Loader;
  /** Profilers of the targets that are profiled as well. */
  readonly profilers: ReadonlyMap<TargetId, Profiler>;
}

interface Load extends Bench {
  readonly workload: Workload;
  readonly requests: readonly LoadRequest[];
  /** How many requests each server was asked. */
  readonly asked: Map<Target, number>;
}

function isMeasured(id: TargetId, { isForPeers, isForBare }: Workload): boolean {
  if (id === 'bare') return isForBare;
  return isForPeers || isOurs(id);
}

const mostSeconds = 60;

/** One period of load; a longer one if a slow machine finished no request in it. */
async function runOnce(load: Load, target: Target, seconds: number): Promise<Round> {
  const { loader, requests, workload, plan, asked } = load;
  const from = (asked.get(target) ?? 0) % requests.length;
  const pid = target.victim.pid();
  const usageBefore = readUsage(pid);
  const [outcome, changed] = await Promise.all([
    loader.run({ url: target.endpoint, requests, from, connections: plan.connections, seconds }),
    workload.isLive ? changeMeanwhile(load, target, seconds) : null,
  ]);
  const lists = (await changed?.takeLists()) ?? null;
  if (outcome.failed > 0 || (outcome.requests === 0 && seconds > mostSeconds)) {
    const failed = `failed ${outcome.failed} of ${outcome.requests} requests`;
    throw new Error(`${target.name} ${failed} (${workload.what}).`);
  }
  asked.set(target, from + outcome.requests);
  const usage = toUsage(usageBefore, readUsage(pid), outcome.requests);
  await settle(target, requests);
  if (outcome.requests === 0) return await runOnce(load, target, seconds * 2);
  const nested = outcome.requests * nestedShareOfMix;
  return { ...outcome, ...usage, callsPerThousand: lists === null ? null : (lists * 1000) / nested };
}

function toUsage(before: Usage | null, after: Usage | null, requests: number) {
  if (before === null || after === null) return { cpuMicros: null, residentMiB: null };
  return {
    cpuMicros: (after.cpuMicros - before.cpuMicros) / requests,
    residentMiB: after.rssBytes / 1024 ** 2,
  };
}

/** Waits for an answer, so that queued work of this server does not slow the next one. */
async function settle(target: Target, [request]: readonly LoadRequest[]): Promise<void> {
  if (target.id !== 'bare' && request !== undefined) await readAnswer(target, request);
}

/** Changes the service under load. The gateway receives webhooks; the peers cache nothing. */
async function changeMeanwhile({ stage, plan }: Load, { id, victim }: Target, seconds: number) {
  const { live, webhookSecret } = stage;
  if (live === null) throw new Error('A constant service cannot change.');
  await live.call('takeCalls', undefined);
  const receiver = isOurs(id) ? { url: victim.url, secret: webhookSecret } : null;
  const orders = countMixedOrders(stage);
  const lost = await live.call('change', { perSecond: plan.webhooksPerSecond, seconds, orders, receiver });
  if (lost > 0) throw new Error(`${lost} webhooks were not acknowledged.`);
  return {
    takeLists: async () => {
      const { userLists, orderLists } = await live.call('takeCalls', undefined);
      return userLists + orderLists;
    },
  };
}

/** All servers must give the same answers to the first and the last request of a workload. */
async function requireEqualAnswers(
  targets: readonly Target[],
  requests: readonly LoadRequest[],
): Promise<void> {
  for (const request of new Set([requests.at(0), requests.at(-1)])) {
    if (request === undefined) throw new Error('There is nothing to ask.');
    await requireEqualAnswer(targets, request);
  }
}

async function requireEqualAnswer(targets: readonly Target[], request: LoadRequest): Promise<void> {
  const asked = targets.filter(({ id }) => id !== 'bare');
  const answers = await Promise.all(asked.map((target) => readAnswer(target, request)));
  const odd = answers.findIndex((answer) => !isDeepStrictEqual(answer, answers[0]));
  if (odd === -1) return;
  throw new Error(
    `${asked[odd]?.name} answers ${JSON.stringify(answers[odd])}, not ${JSON.stringify(answers[0])}.`,
  );
}

async function readAnswer({ endpoint, name }: Target, { token, body }: LoadRequest): Promise<unknown> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const response = await fetch(endpoint, { method: 'POST', headers, body });
  const text = await response.text();
  const answer: { readonly data?: unknown; readonly errors?: unknown } = JSON.parse(text);
  if (!response.ok || answer.errors !== undefined)
    throw new Error(`${name} answers ${response.status}: ${text}`);
  return answer.data;
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

function medianOrNull(values: readonly (number | null)[]): number | null {
  const counted = values.filter((value) => value !== null);
  return counted.length === 0 ? null : median(counted);
}
