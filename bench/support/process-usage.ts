import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { findInspector, openInspector } from './inspector.ts';

/** The resident memory of a process (VmRSS), in bytes. */
export function readRss(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

const ticksPerSecond = 100;

/** What a process has taken up to now. */
export interface Usage {
  readonly cpuMicros: number;
  readonly rssBytes: number;
}

/** Null where the system does not show it. */
export function readUsage(pid: number | null): Usage | null {
  if (pid === null || !existsSync(`/proc/${pid}/stat`)) return null;
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number);
  return { cpuMicros: ((user + system) * 1e6) / ticksPerSecond, rssBytes: readRss(pid) };
}

const lookMs = 500;
const steadyLooks = 3;
const steadyShare = 0.005;
const timeoutMs = 15_000;

/** The memory of a process once it has stopped moving. */
export async function readSettledRss(pid: number): Promise<number> {
  const end = Date.now() + timeoutMs;
  let seen = [readRss(pid)];
  while (Date.now() < end) {
    await wait(lookMs);
    seen = [readRss(pid), ...seen].slice(0, steadyLooks + 1);
    const spread = Math.max(...seen) - Math.min(...seen);
    if (seen.length > steadyLooks && spread < steadyShare * Math.max(...seen)) break;
  }
  return seen[0] ?? 0;
}

/** Collects the garbage of a process by force; `output` is where it says the address of its inspector. */
export async function collectGarbage(pid: number, output: readonly string[]): Promise<void> {
  using inspector = await openInspector(await findInspector(pid, output));
  // Twice: the second collection frees objects that the first has finalized.
  for (const _ of [1, 2]) await inspector.call('HeapProfiler.collectGarbage');
}
