import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Flood, FloodReport } from './heavy-queries.ts';

export interface NeighbourOptions {
  readonly url: string;
  /** The neighbour's: a viewer token of a user with several orders, with the widget's scopes. */
  readonly token: string;
  /** Another viewer's, whose answers are timed. */
  readonly victimToken: string;
  /** Heavy operations that the neighbour has under way at any time. */
  readonly connections: number;
  /** For how long the victim is timed before the neighbour comes. */
  readonly quietMs: number;
  /** Time between two requests of the victim, answered or not. */
  readonly everyMs: number;
}

export interface Timing {
  readonly asked: number;
  readonly p50: number;
  readonly p95: number;
}

export interface NeighbourReport {
  readonly quiet: Timing;
  readonly besieged: Timing;
  /** The victim's answers that were none. */
  readonly failed: number;
  readonly slowestHealthMs: number;
  /** What the neighbour was answered, by outcome: ok, or the code of the first error. */
  readonly neighbour: FloodReport;
}

/** What a page of the victim asks. */
const victimQuery = '{ orders(first: 5) { nodes { id status { label } } } }';

/**
 * Times a viewer's small query, first alone and then beside a neighbour that asks the heaviest legal operations as fast as it
 * is answered. Ends when the signal aborts.
 */
export async function liveBesideHeavyNeighbour(
  { url, token, victimToken, connections, quietMs, everyMs }: NeighbourOptions,
  signal: AbortSignal,
): Promise<NeighbourReport> {
  const ask = () => askVictim(url, victimToken);
  // The first answers are slower than all others.
  await timeAll(ask, { everyMs, over: AbortSignal.timeout(quietMs / 4) });
  const quiet = await timeAll(ask, {
    everyMs,
    over: AbortSignal.any([signal, AbortSignal.timeout(quietMs)]),
  });

  const flood: Flood = { url, token, connections };
  const worker = new Worker(new URL('./heavy-queries.ts', import.meta.url), { workerData: flood });
  const report = new Promise<FloodReport>((resolve, reject) => {
    worker.once('message', resolve).once('error', reject);
  });
  const [besieged, health] = await Promise.all([
    timeAll(ask, { everyMs, over: signal }),
    timeAll(() => askHealth(url), { everyMs, over: signal }),
  ]);
  worker.postMessage('end');
  return {
    quiet: summarise(quiet.times),
    besieged: summarise(besieged.times),
    failed: quiet.failed + besieged.failed + health.failed,
    slowestHealthMs: Math.round(Math.max(0, ...health.times)),
    neighbour: await report,
  };
}

async function askVictim(url: string, token: string): Promise<void> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query: victimQuery }),
  });
  const { errors } = await response.json();
  if (errors !== undefined) throw new Error('The victim was refused.');
}

async function askHealth(url: string): Promise<void> {
  const response = await fetch(`${url}/health`);
  await response.text();
  if (!response.ok) throw new Error('The gateway is not well.');
}

interface Pace {
  readonly everyMs: number;
  readonly over: AbortSignal;
}

/** Asks at a steady pace, whether it is answered or not: else one long wait would count as one slow answer. */
async function timeAll(ask: () => Promise<void>, { everyMs, over }: Pace) {
  const times: number[] = [];
  const pending: Promise<void>[] = [];
  let failed = 0;
  while (!over.aborted) {
    const begunAt = performance.now();
    const answered = ask().then(
      () => void times.push(performance.now() - begunAt),
      () => {
        // A gateway that is being stopped answers nobody.
        if (!over.aborted) failed += 1;
      },
    );
    pending.push(answered);
    await wait(everyMs);
  }
  await Promise.all(pending);
  return { times, failed };
}

function summarise(times: readonly number[]): Timing {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number) => Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 10) / 10;
  return { asked: sorted.length, p50: at(0.5), p95: at(0.95) };
}
