import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { findFreePort } from './listening.ts';

/** A process under test that can be ended, stopped and started again at the same address. */
export interface Victim {
  readonly name: string;
  readonly start: () => Promise<void>;
  /** Ends it and waits until it is gone. */
  readonly end: (signal: 'SIGKILL' | 'SIGTERM') => Promise<void>;
  readonly pid: () => number | null;
  /** How often it ended although nobody ended it. */
  readonly crashes: () => number;
  /** Its last words. */
  readonly output: readonly string[];
}

export interface GatewayVictim extends Victim {
  readonly url: string;
}

interface Command {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Whether it is ready once it has printed this line. */
  readonly isReady: (line: string) => boolean;
  /** Whether it runs as a group of processes, which end together. */
  readonly isGroup?: boolean;
}

/** Of a gateway that refuses webhooks for a while, its first line too. */
const maxLines = 2000;

export function createVictim({ name, file, args, cwd, env, isReady, isGroup = false }: Command): Victim {
  const output: string[] = [];
  let child: ChildProcess | null = null;
  let [isEnding, crashes] = [false, 0];
  return {
    name,
    output,
    pid: () => child?.pid ?? null,
    crashes: () => crashes,
    start: async () => {
      isEnding = false;
      const started = spawn(file, args, {
        ...{ cwd, env, detached: isGroup },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      child = started;
      // Also when the test run itself is broken off: neither a child nor a group of its own ends with it.
      const endWithUs = () => {
        if (started.pid !== undefined) process.kill(isGroup ? -started.pid : started.pid, 'SIGKILL');
      };
      process.once('exit', endWithUs);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      for (const stream of [started.stdout, started.stderr]) {
        createInterface({ input: stream }).on('line', (line) => {
          output.push(line);
          output.splice(0, output.length - maxLines);
          if (isReady(line)) resolve();
        });
      }
      // There is no such program, or it may not be run.
      started.once('error', reject);
      started.once('exit', (code, signal) => {
        process.off('exit', endWithUs);
        if (!isEnding) crashes += 1;
        reject(new Error(`${name} ended with ${code ?? signal}:\n${output.join('\n')}`));
      });
      await promise;
    },
    end: async (signal) => {
      const ending = child;
      if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return;
      isEnding = true;
      const exit = once(ending, 'exit');
      if (isGroup && ending.pid !== undefined) process.kill(-ending.pid, signal);
      else ending.kill(signal);
      await exit;
    },
  };
}

export interface GatewayOptions {
  /** The module that Node runs: `start.js`, or one that makes a gateway with a fault. */
  readonly main: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where it listens; a free one where left out. */
  readonly port?: number;
}

export async function prepareGateway(name: string, options: GatewayOptions): Promise<GatewayVictim> {
  return await prepareServer(name, {
    main: options.main,
    folder: options.folder,
    env: options.env,
    ...(options.port === undefined ? {} : { port: options.port }),
    greeting: 'Labgraph is listening on ',
  });
}

export interface ServerOptions {
  /** The module that Node runs; it listens on the port that the variable PORT names. */
  readonly main: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** How the line begins that it prints once it listens. */
  readonly greeting: string;
  readonly port?: number;
}

/** Any HTTP server that is a program of its own. */
export async function prepareServer(name: string, options: ServerOptions): Promise<GatewayVictim> {
  const port = options.port ?? (await findFreePort());
  const victim = createVictim({
    name,
    file: process.execPath,
    args: [options.main],
    cwd: options.folder,
    env: { PATH: process.env.PATH ?? '', ...options.env, PORT: String(port) },
    isReady: (line) => line.startsWith(options.greeting),
  });
  return { ...victim, url: `http://127.0.0.1:${port}` };
}

interface NginxOptions {
  readonly folder: string;
  readonly port?: number;
  readonly configure: (port: number) => string;
}

/** nginx with a configuration made for its port, a free one if none is given; it runs until it is ended with SIGTERM. */
export async function prepareNginx(
  file: string,
  { folder, configure, ...given }: NginxOptions,
): Promise<GatewayVictim> {
  const port = given.port ?? (await findFreePort());
  const configuration = join(folder, 'nginx.conf');
  writeFileSync(configuration, configure(port));
  const victim = createVictim({
    name: 'nginx',
    file,
    args: ['-p', folder, '-c', configuration, '-g', 'daemon off; error_log stderr notice;'],
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
    isReady: (line) => line.includes('start worker process '),
  });
  return { ...victim, url: `http://127.0.0.1:${port}` };
}

/** A redis-server as the gateway asks for one: every append on disk before it is answered. */
export async function prepareRedis(
  folder: string,
  more: readonly string[] = [],
): Promise<Victim & { readonly url: string }> {
  const port = await findFreePort();
  const settings = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'];
  const victim = createVictim({
    name: 'redis',
    file: process.env.REDIS_SERVER ?? 'redis-server',
    args: [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--dir',
      folder,
      ...settings,
      ...more,
    ],
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
    isReady: (line) => line.includes('Ready to accept connections'),
  });
  return { ...victim, url: `redis://127.0.0.1:${port}` };
}
