import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { findInspector, openInspector } from './inspector.ts';

/** The resident memory of a process (VmRSS), in bytes. */
export function readRss(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

const ticksPerSecond = 100;

/** What a process and its descendants have taken up to now. */
export interface Usage {
  readonly cpuMicros: number;
  readonly rssBytes: number;
}

/** Null where the system does not show it. */
export function readUsage(pid: number | null): Usage | null {
  if (pid === null || !existsSync(`/proc/${pid}/stat`)) return null;
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  // User and system time, its own and that of descendants that have ended (proc(5)).
  const ticks = fields.split(' ').slice(11, 15).map(Number);
  const own = { cpuMicros: (sum(ticks) * 1e6) / ticksPerSecond, rssBytes: readRss(pid) };
  const all = [own, ...listChildren(pid).map(readUsage)].filter((usage) => usage !== null);
  return {
    cpuMicros: sum(all.map(({ cpuMicros }) => cpuMicros)),
    rssBytes: sum(all.map(({ rssBytes }) => rssBytes)),
  };
}

/** A thread of the process may have started them. */
function listChildren(pid: number): readonly number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    const file = `/proc/${pid}/task/${thread}/children`;
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    return text.split(' ').filter(Boolean).map(Number);
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
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
