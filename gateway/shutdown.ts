import process from 'node:process';
import { Worker } from 'node:worker_threads';
import closeWithGrace from 'close-with-grace';
import { GatewayError, isGatewayError } from './errors.ts';
import type { Log } from './log.ts';

const repeatedSignalMs = 2000;

export interface ShutdownOptions {
  readonly log: Log;
  /** Waits until nothing new comes. Not called after a crash. */
  readonly drain: () => Promise<void>;
  /** Closes everything that was started so far. */
  readonly close: () => Promise<void>;
  /** How long both may take. Then the process ends in any case. */
  readonly withinMs: number;
  /** Reads the secrets again. */
  readonly reload: () => void;
}

/**
 * Ends the process on SIGTERM and SIGINT, also while it starts. A repeated signal within two seconds is ignored,
 * because npm forwards a signal that the process group has received already. After two seconds a repeated signal ends
 * the process at once. SIGHUP reads the secrets again.
 */
export function endOnSignals({ log, drain, close: closeAll, withinMs, reload }: ShutdownOptions): void {
  const { close } = closeWithGrace(
    { delay: withinMs, logger: false, skip: ['SIGTERM', 'SIGINT', 'SIGHUP'] },
    async ({ err }) => {
      if (err === undefined) await drain();
      else log.error('gateway.crashed', { error: err });
      await closeAll();
    },
  );
  let firstAt: number | null = null;
  const end = (signal: string) => {
    if (firstAt === null) {
      firstAt = performance.now();
      log.info('gateway.stopping', { signal });
      void close();
    } else if (performance.now() - firstAt > repeatedSignalMs) {
      process.exit(1);
    }
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  // A terminal that is closed sends it too, and then means the end.
  process.on('SIGHUP', process.stdin.isTTY ? end : reload);
}

/** Logs Node's warnings as log lines: by default Node writes bare text between them. */
export function logWarnings(log: Log): void {
  process.removeAllListeners('warning');
  process.on('warning', (error) => log.warn('process.warning', { error }));
}

/** The reason of a failed start, for any thrown value. */
export function toStartFault(error: unknown): GatewayError {
  if (isGatewayError(error)) return error;
  const message = error instanceof Error ? error.message : 'A value that is no error was thrown.';
  return new GatewayError('INTERNAL', message, { cause: error });
}

const beatMs = 250;

export interface WatchdogOptions {
  readonly log: Log;
  /** The log level of this process, for the line that the thread writes. */
  readonly level: string;
}

/**
 * Ends this process when a loop blocks its event loop. Such a process answers no request and handles no signal, not
 * even SIGTERM. A thread watches the event loop and kills the process after 7 s (decision 0090). Nothing that was
 * acknowledged is lost, as with every `kill -9`. Called when the process listens, because starting the thread takes a
 * moment.
 */
export function startWatchdog({ log, level }: WatchdogOptions): void {
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  setInterval(() => Atomics.add(beats, 0, 1), beatMs).unref();
  const thread = new Worker(new URL('./watchdog.js', import.meta.url), {
    workerData: { beats, log: { level } },
    // Modules that Node preloads for the gateway, such as a tracer, must not run in this thread.
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 32 },
  });
  thread.on('error', (error) => log.error('watchdog.failed', { error }));
  thread.unref();
}
