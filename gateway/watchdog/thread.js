// JavaScript, because a thread that reads TypeScript takes 27 MB in place of 10.
import { writeSync } from 'node:fs';
import process from 'node:process';
import { workerData } from 'node:worker_threads';

const { beats, log: logOptions } = workerData;

const checkMs = 500;
/** Signals are to end a process within 10 s, and the longest piece of work in one go takes some 0.2 s. */
const heldMs = 7000;
/** Of the processor. Less is no loop: a process that is stopped or in a debugger, a machine that sleeps. */
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
    // Loaded only now: the log is TypeScript.
    const { createLog } = await import('../log.ts');
    // Written at once: the log's own destination writes a little later.
    const destination = { write: (line) => void writeSync(2, line) };
    createLog({ ...logOptions, destination }).error('gateway.held', { durationMs, signal: 'SIGKILL' });
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
}
