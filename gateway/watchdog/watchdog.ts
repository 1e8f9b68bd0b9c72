import { Worker } from 'node:worker_threads';
import type { Log } from '../log.ts';

const beatMs = 250;

export interface WatchdogOptions {
  readonly log: Log;
  /** The log level of this process, for the line that the thread writes. */
  readonly level: string;
}

/**
 * Ends this process when a loop blocks its event loop. Such a process answers no request and handles no signal, not even
 * SIGTERM. A thread watches the event loop and kills the process after 7 s (decision 0090). Nothing that was acknowledged
 * is lost, as with every `kill -9`. Start it when the process listens, because starting the thread takes a moment.
 */
export function startWatchdog({ log, level }: WatchdogOptions): void {
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  setInterval(() => Atomics.add(beats, 0, 1), beatMs).unref();
  const thread = new Worker(new URL('./thread.js', import.meta.url), {
    workerData: { beats, log: { level } },
    // Modules that Node preloads for the gateway, such as a tracer, are not for this thread.
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 32 },
  });
  thread.on('error', (error) => log.error('watchdog.failed', { error }));
  thread.unref();
}
