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

const firstRetryMs = 100;
const lastRetryMs = 10_000;
/** Whoever has listened for so long has not died of what killed the one before. */
const steadyMs = 10_000;
/** A stopped worker must not keep the others' metrics. */
const metricsMs = 1000;
/** A worker ends within ten seconds by itself, unless it is stopped (SIGSTOP). */
const forceMs = 10_500;

/** A worker that is there again when its process has died. */
export class KeptWorker {
  readonly #options: KeptWorkerOptions;
  readonly #awaited = new Map<number, (answer: unknown) => void>();
  #process: Worker | null = null;
  #listeningAt: number | null = null;
  #retrying: NodeJS.Timeout | undefined;
  #retryMs = firstRetryMs;
  #asked = 0;
  #isEnding = false;

  constructor(options: KeptWorkerOptions) {
    this.#options = options;
  }

  /**
   * Starts a process; resolves with its address once it listens. From then on it is replaced when it ends.
   * @throws GatewayError what kept it from listening
   */
  async start(): Promise<string> {
    const { number, config } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const process = cluster.fork();
    let fault: GatewayError | null = null;
    this.#process = process;
    process.on('message', (report: Report) => {
      if (report.kind === 'cannot-start') fault = new GatewayError(report.code, report.message);
      else if (report.kind === 'listening') {
        this.#listeningAt = performance.now();
        resolve(report.url);
      } else this.#hear(report);
    });
    process.once('exit', (code, signal) => {
      const how = signal ?? `exit code ${code}`;
      const silent = `Worker ${number} has ended before it could listen: ${how}.`;
      reject(fault ?? new GatewayError('INTERNAL', silent));
      this.#noteExit(how);
    });
    this.#tell({ kind: 'start', number, config });
    return await promise;
  }

  /** What it counts; null when it does not say so in time. */
  async readMetrics(): Promise<unknown> {
    if (this.#listeningAt === null) return null;
    this.#asked += 1;
    const asking = this.#asked;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const giveUp = setTimeout(() => resolve(null), metricsMs);
    this.#awaited.set(asking, resolve);
    this.#tell({ kind: 'tell-metrics', asking });
    const answer = await promise;
    clearTimeout(giveUp);
    this.#awaited.delete(asking);
    return answer;
  }

  /** Ends the process, by force where it does not end, and begins no other. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#isEnding = true;
    clearTimeout(this.#retrying);
    const process = this.#process;
    if (process === null) return;
    const exit = once(process, 'exit');
    const force = setTimeout(() => process.process.kill('SIGKILL'), forceMs);
    process.process.kill(signal);
    await exit;
    clearTimeout(force);
  }

  #hear(report: Report): void {
    if (report.kind === 'metrics') this.#awaited.get(report.asking)?.(report.answer);
    if (report.kind !== 'ask-metrics') return;
    const { asking } = report;
    void this.#options.gather().then((answers) => this.#tell({ kind: 'metrics-of-all', asking, answers }));
  }

  #tell(order: Order): void {
    // One that is dead has nobody to be told; its end is heard of on its own.
    this.#process?.send(order, () => {});
  }

  #noteExit(how: string): void {
    const livedMs = this.#listeningAt === null ? 0 : performance.now() - this.#listeningAt;
    const hasListened = this.#listeningAt !== null;
    this.#process = null;
    this.#listeningAt = null;
    if (livedMs > steadyMs) this.#retryMs = firstRetryMs;
    // Where it has never listened, whoever started it hears why.
    if (hasListened) this.#replace(how);
  }

  /** Says once for each end how it ended and when it is tried again. */
  #replace(reason: string): void {
    if (this.#isEnding) return;
    const retryMs = this.#retryMs;
    this.#options.log.error('worker.gone', { worker: this.#options.number, reason, retryMs });
    this.#retryMs = Math.min(retryMs * 2, lastRetryMs);
    this.#retrying = setTimeout(() => {
      this.start().catch((error: unknown) =>
        this.#replace(error instanceof GatewayError ? error.code : 'INTERNAL'),
      );
    }, retryMs);
  }
}
