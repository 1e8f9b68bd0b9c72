import process from 'node:process';
import closeWithGrace from 'close-with-grace';
import { GatewayError, isGatewayError } from './errors.ts';
import type { Log } from './log.ts';

const impatientMs = 2000;

export interface EndingOptions {
  readonly log: Log;
  /** Ends everything that was begun so far. */
  readonly close: () => Promise<void>;
  /** How long that may take before the process ends all the same. */
  readonly drainMs: number;
}

/**
 * Ends the process on SIGTERM and SIGINT, also while it starts. A repeated signal is the same wish (npm forwards
 * what the process group has already got); only after two seconds it means "now".
 */
export function endOnSignals({ log, close: closeAll, drainMs }: EndingOptions): void {
  const { close } = closeWithGrace(
    { delay: drainMs, logger: false, skip: ['SIGTERM', 'SIGINT'] },
    async ({ err }) => {
      if (err !== undefined) log.error('gateway.crashed', { error: err });
      await closeAll();
    },
  );
  let firstAt: number | null = null;
  const end = (signal: string) => {
    if (firstAt === null) {
      firstAt = performance.now();
      log.info('gateway.stopping', { signal });
      void close();
    } else if (performance.now() - firstAt > impatientMs) {
      process.exit(1);
    }
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
}

/** Logs Node's warnings as log lines: by default Node writes bare text between them. */
export function logWarnings(log: Log): void {
  process.removeAllListeners('warning');
  process.on('warning', (error) => log.warn('process.warning', { error }));
}

/** Why a start has failed, whatever was thrown. */
export function toStartFault(error: unknown): GatewayError {
  if (isGatewayError(error)) return error;
  const message = error instanceof Error ? error.message : 'A value that is no error was thrown.';
  return new GatewayError('INTERNAL', message, { cause: error });
}
