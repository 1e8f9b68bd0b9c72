import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { closeServer, listen } from '../server.ts';
import { KeptWorker } from './kept-worker.ts';

export interface WorkersOptions {
  readonly config: Config;
  readonly log: Log;
}

/** Gateways in processes of their own behind one address. */
export interface Workers {
  readonly url: string;
  /** Ends them as a single gateway ends. */
  readonly close: () => Promise<void>;
}

/**
 * Starts the workers: the first alone, so that what is wrong with the configuration is said once, and what it has
 * compiled serves the others. Resolves when all listen.
 * @throws GatewayError what keeps any of them from starting; then none is left
 */
export async function startWorkers({ config, log }: WorkersOptions): Promise<Workers> {
  cluster.setupPrimary({
    exec: fileURLToPath(new URL('./main.ts', import.meta.url)),
    // Keeps keys and dates what they are.
    serialization: 'advanced',
  });
  const port = await findPort(config);
  const workers: readonly KeptWorker[] = Array.from({ length: config.workers }, (_, index) => {
    const own = configOf({ ...config, port }, index + 1);
    return new KeptWorker({ number: index + 1, config: own, log, gather: () => readMetrics(workers) });
  });
  const [first, ...others] = workers;
  const endAll = async (signal: 'SIGTERM' | 'SIGKILL') => {
    await Promise.all(workers.map((worker) => worker.end(signal)));
  };
  try {
    const url = (await first?.start()) ?? '';
    await Promise.all(others.map((worker) => worker.start()));
    return { url, close: () => endAll('SIGTERM') };
  } catch (error) {
    await endAll('SIGKILL');
    throw error;
  }
}

async function readMetrics(workers: readonly KeptWorker[]): Promise<readonly unknown[]> {
  const answers = await Promise.all(workers.map((worker) => worker.readMetrics()));
  return answers.filter((answer) => answer !== null);
}

/** One compares the log with the service for all: what it finds is in their log. */
function configOf(config: Config, number: number): Config {
  return number === 1 ? config : { ...config, reconcileMinutes: 0 };
}

/**
 * The port that all share, the same for one that is replaced. Tried out here, so that a port that is taken is known
 * before any process is made.
 */
async function findPort(config: Config): Promise<number> {
  const server = createServer();
  const url = await listen(server, config);
  await closeServer(server);
  return Number(new URL(url).port);
}
