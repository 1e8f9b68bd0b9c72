import { Worker } from 'node:worker_threads';
import type { Log } from '../log.ts';

const beatMs = 250;

export interface WatchdogOptions {
  readonly log: Log;
  /** As the log of this process is made, for the line that the thread writes. */
  readonly level: string;
}

/**
 * Ends this process when a loop holds its event loop: then no signal is handled, so that SIGTERM would not end it, and
 * no request is answered. A thread watches the event loop and kills the process after 7 s (decision 0090); nothing that
 * was acknowledged is lost, as with every `kill -9`. To be started when the process listens: the thread takes 30 ms and
 * 10 MB.
 */
export function startWatchdog({ log, level }: WatchdogOptions): void {
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  setInterval(() => Atomics.add(beats, 0, 1), beatMs).unref();
  const thread = new Worker(new URL('./thread.js', import.meta.url), {
    workerData: { beats, log: { level } },
    // What Node is told to import before a gateway (a tracer, say) is not for this thread.
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 32 },
  });
  thread.on('error', (error) => log.error('watchdog.failed', { error }));
  thread.unref();
}
