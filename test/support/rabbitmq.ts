import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { Connection } from 'rabbitmq-client';
import { findFreePort } from './listening.ts';
import { createVictim, type Victim } from './processes.ts';
import { findRabbitServer } from './tools.ts';

/** A rabbitmq-server of its own, with its own name, ports and folder. */
export interface RabbitServer extends Victim {
  /** With user and password: `amqp://guest:guest@127.0.0.1:40123`. */
  readonly url: string;
}

/** Two cores are shared with the gateway and its clients: one scheduler, which does not spin. */
const frugal = '+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none';

/** Prepares a server over this folder. It starts in about 9 s. */
export async function prepareRabbit(folder: string): Promise<RabbitServer> {
  const [port, distributionPort, mapperPort] = [
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
  ];
  writeFileSync(join(folder, 'rabbitmq.conf'), `listeners.tcp.1 = 127.0.0.1:${port}\n`);
  writeFileSync(join(folder, 'plugins'), '[].\n');
  const victim = createVictim({
    name: 'rabbitmq',
    file: findRabbitServer() ?? 'rabbitmq-server',
    args: [],
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '',
      // Of the cookie that Erlang makes.
      HOME: folder,
      RABBITMQ_NODENAME: `labgraph-${port}@localhost`,
      RABBITMQ_DIST_PORT: String(distributionPort),
      ERL_EPMD_PORT: String(mapperPort),
      // Otherwise it does not end while it still knows the node that was just killed.
      ERL_EPMD_RELAXED_COMMAND_CHECK: '1',
      RABBITMQ_MNESIA_BASE: join(folder, 'mnesia'),
      RABBITMQ_LOG_BASE: folder,
      RABBITMQ_LOGS: '-',
      RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq'),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: frugal,
    },
    isReady: (line) => line.includes('Server startup complete'),
    isGroup: true,
  });
  const endMapper = () => {
    try {
      execFileSync('epmd', ['-port', String(mapperPort), '-kill'], { stdio: 'ignore' });
    } catch {
      // It was never started.
    }
  };
  return {
    ...victim,
    url: `amqp://guest:guest@127.0.0.1:${port}`,
    end: async (signal) => {
      await victim.end(signal);
      endMapper();
    },
  };
}

/** A connection that waits for the server where it is away. */
export function connectToRabbit(url: string): Connection & AsyncDisposable {
  const connection = new Connection({ url, retryLow: 100, retryHigh: 500, acquireTimeout: 60_000 });
  connection.on('error', () => undefined);
  return Object.assign(connection, { [Symbol.asyncDispose]: () => connection.close() });
}
