import { once } from 'node:events';
import { flushCompileCache } from 'node:module';
import process from 'node:process';
import type { Config } from '../config.ts';
import { endOnSignals, logWarnings, toStartFault } from '../ending.ts';
import type { Gateway } from '../gateway.ts';
import { createLog, type Log } from '../log.ts';
import { startWatchdog } from '../watchdog/watchdog.ts';
import type { Order, Report } from './messages.ts';
import { createPeers } from './peers.ts';

const drainMs = 10_000;

/** A gateway as one of several, with the configuration that the primary sends; what goes wrong is told to it. */
export async function runWorker(): Promise<void> {
  const [order]: Order[] = await once(process, 'message');
  if (order?.kind !== 'start') throw new Error('A worker is started by its primary.');
  const { config, number } = order;
  const log = createLog({ level: config.logLevel, worker: number });
  logWarnings(log);
  let gateway: Gateway | null = null;
  endOnSignals({ log, drainMs, close: async () => await gateway?.close() });
  try {
    gateway = await startGateway({ config, log, number });
  } catch (error) {
    const { code, message } = toStartFault(error);
    await tell({ kind: 'cannot-start', code, message });
    process.exit(1);
  }
}

interface Starting {
  readonly config: Config;
  readonly log: Log;
  readonly number: number;
}

async function startGateway({ config, log, number }: Starting): Promise<Gateway> {
  const { createGateway } = await import('../gateway.ts');
  const peers = createPeers(number);
  const serviceUrl = config.service.kind === 'remote' ? config.service.url : '';
  const gateway = await createGateway({ config, log, serviceUrl, peers });
  const { url } = await gateway.listen();
  log.info('gateway.listening', { address: url });
  await tell({ kind: 'listening', url });
  flushCompileCache();
  startWatchdog({ log, level: config.logLevel, worker: number });
  return gateway;
}

/** Resolves when it is on its way: a process that ends before has said nothing. */
async function tell(report: Report): Promise<void> {
  await new Promise<void>((resolve) => process.send?.(report, () => resolve()));
}
