import { setTimeout as wait } from 'node:timers/promises';
import type { LoadRequest } from '../load/requests.ts';
import { quantile } from '../support/figures.ts';
import { watchStolenTime } from '../support/machine.ts';
import { readUsage } from '../support/process-usage.ts';
import { AnswerCheck, agreeOnAnswer, type Checked } from './answers.ts';
import type { Loader } from './load.ts';
import type { Plan } from './plan.ts';
import type { Profile, Profiler } from './profile.ts';
import type { Stage } from './stage.ts';
import { isConstant, isOurs, type Target, type TargetId } from './targets.ts';
import { countMixedOrders, type Workload, type WorkloadName } from './workloads.ts';

/** One period of load on one server. */
export interface Round extends Checked {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the server's processes for one request; null where it cannot be read. */
  readonly cpuMicros: number | null;
  /** Calls to the service for one request. */
  readonly calls: number;
  /** Resident memory of the server's processes afterwards; null where it cannot be read. */
  readonly residentMB: number | null;
  /** The share of the processors' time that the host gave to other machines; null where it is unknown. */
  readonly stolenShare: number | null;
}

/** One server under one workload. */
export interface Figure {
  readonly workload: WorkloadName;
  readonly target: TargetId;
  readonly rounds: readonly Round[];
  /** Why there are no rounds, or no more of them. */
  readonly fault: string | null;
}

/** The results of one workload. */
export interface Measured {
  readonly figures: readonly Figure[];
  /** Where there are profilers. */
  readonly profiles: readonly Profile[];
}

/** A measure of a round that is not always there. */
type Measure = Exclude<keyof Round, 'checked' | 'wrong'>;

/** The median of the rounds; null where nothing was measured. */
export function medianOf({ rounds }: Pick<Figure, 'rounds'>, measure: Measure): number | null {
  const values = rounds.map((round) => round[measure]).filter((value) => value !== null);
  return values.length === 0 ? null : quantile(values, 0.5);
}

/** The parts that measuring needs. */
export interface Bench {
  readonly stage: Stage;
  readonly plan: Plan;
  readonly loader: Loader;
  readonly workload: Workload;
  /** Profilers of the targets that are profiled as well. */
  readonly profilers: ReadonlyMap<TargetId, Profiler>;
}

/** No number is asked for twice, and none of those that the service's lists have. */
const firstTurn = 1_000_000;

/** Measures all servers by turns, so that a slow minute of the machine affects all of them. */
export async function measureWorkload(bench: Bench): Promise<Measured> {
  const { stage, plan, workload } = bench;
  const { running, missing } = stage.targets;
  const requests = await workload.requests(stage.callers);
  const agreed = await agreeOnAnswer(running, requests);
  const faults = new Map([...missing, ...agreed.missing].map(({ id, fault }) => [id, fault]));
  const check = new AnswerCheck(requests, agreed.reference);
  const load = { ...bench, requests, check, turns: new Map<TargetId, number>() };
  const rounds = new Map<TargetId, Round[]>(running.map(({ id }) => [id, []]));
  for (let round = 0; round <= plan.rounds; round += 1) {
    for (const target of running.filter(({ id }) => !faults.has(id))) {
      try {
        const seconds = round === 0 ? plan.warmUpSeconds : plan.seconds;
        const outcome = await runOnce(load, target, seconds);
        if (round > 0) rounds.get(target.id)?.push(outcome);
      } catch (error) {
        faults.set(target.id, error instanceof Error ? error.message : String(error));
      }
    }
  }
  const figures = [...running, ...missing].map(({ id }) => ({
    ...{ workload: workload.name, target: id },
    rounds: rounds.get(id) ?? [],
    fault: faults.get(id) ?? null,
  }));
  const sound = running.filter(({ id }) => !faults.has(id));
  return { figures, profiles: await profileAll(load, sound) };
}

interface Load extends Bench {
  readonly requests: readonly LoadRequest[];
  readonly check: AnswerCheck;
  /** The next turn of each server. */
  readonly turns: Map<TargetId, number>;
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

const mostSeconds = 60;
/** A request that was checked may be one that is measured. */
const coldShare = 0.98;

/**
 * One period of load; a longer one if a slow machine finished no request in it.
 * @throws Error that says what the server did wrong
 */
async function runOnce(load: Load, target: Target, seconds: number): Promise<Round> {
  const { loader, requests, workload, stage, check, turns } = load;
  const from = turns.get(target.id) ?? firstTurn;
  const callsBefore = await stage.service.countCalls();
  const readTaken = watchTaken(load, target);
  const running = loader.run({
    ...{ url: target.endpoint, requests, from },
    ...{ connections: workload.connections, seconds },
  });
  const [outcome, taken, checks] = await Promise.all([
    running,
    running.then(readTaken),
    check.checkDuring(target, running),
    workload.isLive ? changeMeanwhile(load, target, seconds) : null,
  ]);
  const allCalls = (await settle(stage.service)) - callsBefore;
  turns.set(target.id, outcome.nextTurn);
  if (target.victim.crashes() > 0) throw new Error(`ended: ${target.victim.output.at(-1) ?? ''}`);
  if (outcome.failed > 0) throw new Error(`failed ${outcome.failed} of ${outcome.requests} requests`);
  if (outcome.requests === 0 && seconds > mostSeconds) throw new Error(`no answer in ${seconds} s`);
  if (outcome.requests === 0) return await runOnce(load, target, seconds * 2);
  const answered = outcome.requests + checks.checked;
  const leastCalls = (workload.coldCalls ?? 0) * answered;
  if (!isConstant(target.id) && allCalls < coldShare * leastCalls)
    throw new Error(`answered without asking the service: ${allCalls} calls where ${leastCalls} are needed`);
  // As the load ends, each connection has a request that is half done on average.
  const worked = answered + (outcome.nextTurn - from - outcome.requests) / 2;
  return {
    ...{ ...checks, p50Ms: outcome.p50Ms, p99Ms: outcome.p99Ms },
    ...{ residentMB: taken.residentMB, stolenShare: taken.stolenShare },
    perSecond: outcome.requests / outcome.seconds,
    cpuMicros: taken.cpuMicros === null ? null : taken.cpuMicros / worked,
    calls: (taken.calls - callsBefore) / worked,
  };
}

/** Returns a function for what the server and the host have taken since now, and for all calls to the service. */
function watchTaken({ stage }: Load, { victim }: Target) {
  const readStolenShare = watchStolenTime();
  const before = readUsage(victim.pid());
  return async () => {
    const usage = readUsage(victim.pid());
    return {
      cpuMicros: before === null || usage === null ? null : usage.cpuMicros - before.cpuMicros,
      residentMB: usage === null ? null : usage.rssBytes / 1e6,
      stolenShare: readStolenShare(),
      calls: await stage.service.countCalls(),
    };
  };
}

const quietMs = 50;
const mostQuietChecks = 100;

/** Waits until the last requests of a load, whose answers nobody reads, have made their calls; resolves with all calls. */
async function settle({ countCalls }: Stage['service']): Promise<number> {
  let seen = -1;
  for (let checks = 0; checks < mostQuietChecks; checks += 1) {
    const calls = await countCalls();
    if (calls === seen) break;
    seen = calls;
    await wait(quietMs);
  }
  return seen;
}

/** Changes the service under load. The gateway receives webhooks; the peers cache nothing. */
async function changeMeanwhile({ stage, plan }: Load, { id, victim }: Target, seconds: number) {
  const { live, webhookSecret, callers } = stage;
  if (live === null) throw new Error('A constant service cannot change.');
  const receiver = isOurs(id) ? { url: victim.url, secret: webhookSecret } : null;
  const orders = countMixedOrders(callers.world);
  const lost = await live.call('change', { perSecond: plan.webhooksPerSecond, seconds, orders, receiver });
  if (lost > 0) throw new Error(`did not acknowledge ${lost} webhooks`);
}
