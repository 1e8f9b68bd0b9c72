import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Config } from '../config.ts';
import { GatewayError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Order, Report } from './messages.ts';

export interface KeptWorkerOptions {
  /** From 1. */
  readonly number: number;
  readonly config: Config;
  readonly log: Log;
  /** Asks all workers for what they count. */
  readonly gather: () => Promise<readonly unknown[]>;
}

/** A worker that is there again when its process has died. */
export interface KeptWorker {
  /**
   * Starts the first process; resolves with its address.
   * @throws GatewayError what keeps it from starting; only later ones are tried again
   */
  readonly start: () => Promise<string>;
  /** What it counts; null when it does not say so in time. */
  readonly readMetrics: () => Promise<unknown>;
  /** Ends the process, by force where it does not end, and begins no other. */
  readonly end: (signal: 'SIGTERM' | 'SIGKILL') => Promise<void>;
}

const firstRetryMs = 100;
const lastRetryMs = 10_000;
/** Whoever has listened for so long has not died of what killed the one before. */
const steadyMs = 10_000;
/** A stopped worker must not keep the others' metrics. */
const metricsMs = 1000;
/** A worker ends within ten seconds by itself, unless it is stopped (SIGSTOP). */
const forceMs = 10_500;

export function keepWorker({ number, config, log, gather }: KeptWorkerOptions): KeptWorker {
  const awaited = new Map<number, (answer: unknown) => void>();
  let worker: Worker | null = null;
  let listeningAt: number | null = null;
  let retrying: NodeJS.Timeout | undefined;
  let [isEnding, retryMs, asked] = [false, firstRetryMs, 0];

  const tell = (order: Order) => {
    // One that is dead has nobody to be told; its end is heard of on its own.
    worker?.send(order, () => {});
  };
  const hear = (report: Report) => {
    if (report.kind === 'metrics') awaited.get(report.asking)?.(report.answer);
    if (report.kind !== 'ask-metrics') return;
    const { asking } = report;
    void gather().then((answers) => tell({ kind: 'metrics-of-all', asking, answers }));
  };

  /** Resolves with the address once it listens; rejects when the process ends before. */
  const begin = async (): Promise<string> => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const process = cluster.fork();
    let fault: GatewayError | null = null;
    worker = process;
    process.on('message', (report: Report) => {
      hear(report);
      if (report.kind === 'cannot-start') fault = new GatewayError(report.code, report.message);
      if (report.kind !== 'listening') return;
      listeningAt = performance.now();
      resolve(report.url);
    });
    process.once('exit', (code, signal) => {
      worker = null;
      const how = signal ?? `exit code ${code}`;
      reject(
        fault ?? new GatewayError('INTERNAL', `Worker ${number} has ended before it could listen: ${how}.`),
      );
      if (listeningAt !== null) replace(how, performance.now() - listeningAt);
      listeningAt = null;
    });
    tell({ kind: 'start', number, config });
    return await promise;
  };
  /** Said once for each end: how it ended, and when it is tried again. */
  const replace = (reason: string, livedMs: number) => {
    if (isEnding) return;
    if (livedMs > steadyMs) retryMs = firstRetryMs;
    log.error('worker.gone', { worker: number, reason, retryMs });
    retrying = setTimeout(() => {
      begin().catch((error: unknown) => replace(error instanceof GatewayError ? error.code : 'INTERNAL', 0));
    }, retryMs);
    retryMs = Math.min(retryMs * 2, lastRetryMs);
  };

  return {
    start: begin,
    readMetrics: async () => {
      if (listeningAt === null) return null;
      asked += 1;
      const asking = asked;
      const { promise, resolve } = Promise.withResolvers<unknown>();
      const giveUp = setTimeout(() => resolve(null), metricsMs);
      awaited.set(asking, resolve);
      tell({ kind: 'tell-metrics', asking });
      const answer = await promise;
      clearTimeout(giveUp);
      awaited.delete(asking);
      return answer;
    },
    end: async (signal) => {
      isEnding = true;
      clearTimeout(retrying);
      if (worker === null) return;
      const exit = once(worker, 'exit');
      const force = setTimeout(() => worker?.process.kill('SIGKILL'), forceMs);
      worker.process.kill(signal);
      await exit;
      clearTimeout(force);
    },
  };
}
