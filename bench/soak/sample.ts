import { readdirSync } from 'node:fs';
import { z } from 'zod';
import type { GatewayVictim } from '../../test/support/processes.ts';
import type { Visit } from '../load/visitor.ts';
import { quantile } from '../support/figures.ts';
import type { Inspector } from '../support/inspector.ts';
import { readRss } from '../support/process-usage.ts';

/** The measurements of one period. */
export interface Sample {
  /** Live objects, after garbage was collected by force. */
  readonly heapBytes: number;
  readonly rssBytes: number;
  readonly files: number;
  /** Resources that keep Node's event loop alive: sockets, timers, pending calls. */
  readonly resources: number;
  readonly loopLagMs: number;
  /** Of requests while nothing was done to the service. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const heapUsage = z.object({ usedSize: z.number() });

/** Measures the process at the end of a period. */
export async function readProcess(
  { pid: pidOf, url }: GatewayVictim,
  inspector: Inspector,
): Promise<Omit<Sample, 'p50Ms' | 'p99Ms'>> {
  const pid = pidOf() ?? 0;
  const { nodejs_eventloop_lag_p99_seconds: lag = 0, nodejs_active_resources_total: resources = 0 } =
    await readMetrics(url);
  // Twice: the second collection frees objects that the first has finalized.
  for (const _ of [1, 2]) await inspector.call('HeapProfiler.collectGarbage');
  const { usedSize } = heapUsage.parse(await inspector.call('Runtime.getHeapUsage'));
  const files = readdirSync(`/proc/${pid}/fd`).length;
  // Each reading resets the lag, so this measurement does not count in the next period.
  await readMetrics(url);
  return { heapBytes: usedSize, rssBytes: readRss(pid), files, resources, loopLagMs: lag * 1000 };
}

async function readMetrics(url: string): Promise<Readonly<Record<string, number>>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Object.fromEntries(
    [...text.matchAll(/^(nodejs_\w+) (\S+)$/gm)].map(([, name = '', value]) => [name, Number(value)]),
  );
}

export function describeVisits(visits: readonly Visit[]): Pick<Sample, 'p50Ms' | 'p99Ms'> {
  const tookMs = visits.map((visit) => visit.tookMs);
  return { p50Ms: quantile(tookMs, 0.5), p99Ms: quantile(tookMs, 0.99) };
}
