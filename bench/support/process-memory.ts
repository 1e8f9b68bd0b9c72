import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';

/** What a process has in memory (VmRSS), in bytes. */
function readRss(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

const lookMs = 500;
const steadyLooks = 3;
const steadyShare = 0.005;
const patienceMs = 15_000;

/** The memory of a process once it has stopped moving. */
export async function readSettledRss(pid: number): Promise<number> {
  const end = Date.now() + patienceMs;
  let seen = [readRss(pid)];
  while (Date.now() < end) {
    await wait(lookMs);
    seen = [readRss(pid), ...seen].slice(0, steadyLooks + 1);
    const spread = Math.max(...seen) - Math.min(...seen);
    if (seen.length > steadyLooks && spread < steadyShare * Math.max(...seen)) break;
  }
  return seen[0] ?? 0;
}

/** The inspector of a process, opened by SIGUSR1; `output` is where it says its address. */
export async function collectGarbage(pid: number, output: readonly string[]): Promise<void> {
  process.kill(pid, 'SIGUSR1');
  const socket = new WebSocket(await readInspectorAddress(output));
  await once(socket, 'open');
  // Twice: what the first one finalizes is freed by the second.
  for (const id of [1, 2]) {
    socket.send(JSON.stringify({ id, method: 'HeapProfiler.collectGarbage' }));
    await once(socket, 'message');
  }
  socket.terminate();
}

async function readInspectorAddress(output: readonly string[]): Promise<string> {
  const end = Date.now() + patienceMs;
  while (Date.now() < end) {
    const address = output
      .map((line) => /^Debugger listening on (ws:\S+)$/.exec(line)?.[1])
      .findLast(Boolean);
    if (address !== undefined) return address;
    await wait(20);
  }
  throw new Error('The process did not open its inspector.');
}
