// JavaScript, because a thread that strips types needs much more memory (decision 0090).
import { writeSync } from 'node:fs';
import process from 'node:process';
import { workerData } from 'node:worker_threads';

const { beats, log: logOptions } = workerData;

const checkMs = 500;
/** Shorter than the 10 s within which SIGTERM ends a process, and much longer than any single piece of work. */
const heldMs = 7000;
/** Processor time. A process that used less is not in a loop: it is stopped or in a debugger, or the machine was suspended. */
const leastUsedMs = 1000;

let seen = -1;
let since = performance.now();
let usage = process.cpuUsage();

setInterval(() => {
  const beat = Atomics.load(beats, 0);
  const durationMs = Math.round(performance.now() - since);
  if (beat !== seen) {
    seen = beat;
    since = performance.now();
    usage = process.cpuUsage();
  } else if (durationMs >= heldMs && usedMs() >= leastUsedMs) {
    void end(durationMs);
  }
}, checkMs);

function usedMs() {
  const { user, system } = process.cpuUsage(usage);
  return (user + system) / 1000;
}

async function end(durationMs) {
  try {
    // Imported on demand, because the log is TypeScript.
    const { createLog } = await import('./log.ts');
    // Synchronous: the log's own destination buffers.
    const destination = { write: (line) => void writeSync(2, line) };
    createLog({ ...logOptions, destination }).error('gateway.blocked', { durationMs, signal: 'SIGKILL' });
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
}
