import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, statfsSync } from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { createClient } from '@redis/client';
import { makeFolder } from './folder.ts';
import { findFreePort } from './listening.ts';
import { findRedisServer } from './tools.ts';

/** A redis-server of its own for one test, as durable as the gateway asks for, gone with it. */
export interface RedisServer extends AsyncDisposable {
  readonly port: number;
  /** The folder of its files. */
  readonly folder: string;
  /** Address of a database that nobody else was given. */
  readonly newUrl: () => string;
  /** Runs a command in the database of an address. */
  readonly command: (url: string, ...args: readonly string[]) => Promise<unknown>;
  readonly kill: () => Promise<void>;
  /** Starts it again, with its files or empty. */
  readonly restart: (how?: 'as-it-was' | 'empty') => Promise<void>;
  /** Stops (SIGSTOP) and continues its process: there, and answering nothing. */
  readonly freeze: () => void;
  readonly thaw: () => void;
}

/** A replica is there at once instead of after five seconds. */
const swift = ['--repl-diskless-sync-delay', '0'];
const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'];

/** Files in memory: a server syncs each write, and a disk that is busy for seconds would be taken for a server that is away. */
const inMemory = hasRoom('/dev/shm') ? '/dev/shm' : undefined;

/** Whether a folder is there and has a gigabyte: containers may have 64 MB of it. */
function hasRoom(path: string): boolean {
  if (!existsSync(path)) return false;
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize > 1024 ** 3;
}

/** Starts a server on a free port over a temporary folder. */
export async function startRedis(settings: readonly string[] = durable): Promise<RedisServer> {
  const folder = makeFolder(inMemory);
  const port = await findFreePort();
  const places = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder.path, '--save', ''];
  const start = () => startProcess([...places, '--databases', '100000', ...swift, ...settings]);
  let child = await start();
  let databases = 0;

  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  };
  return {
    port,
    folder: folder.path,
    newUrl: () => {
      databases += 1;
      return `redis://127.0.0.1:${port}/${databases - 1}`;
    },
    command: runCommand,
    kill,
    restart: async (how = 'as-it-was') => {
      await kill();
      if (how === 'empty') rmSync(folder.file('appendonlydir'), { recursive: true, force: true });
      child = await start();
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    [Symbol.asyncDispose]: async () => {
      await kill();
      folder[Symbol.dispose]();
    },
  };
}

async function startProcess(args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(findRedisServer() ?? 'redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  // Also when the test run itself is broken off.
  const killWithUs = () => void child.kill('SIGKILL');
  process.once('exit', killWithUs);
  child.once('exit', () => process.off('exit', killWithUs));
  const output: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    output.push(line);
    if (line.includes('Ready to accept connections')) resolve();
  });
  child.once('error', reject);
  child.once('exit', () => reject(new Error(`redis-server ended:\n${output.slice(-5).join('\n')}`)));
  await promise;
  return child;
}

async function runCommand(url: string, ...args: readonly string[]): Promise<unknown> {
  const client = await createClient({ url }).connect();
  try {
    return await client.sendCommand([...args]);
  } finally {
    client.destroy();
  }
}
