import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { startFile } from '../support/gateway-process.ts';

/** Whether this machine can look into a process: strace is there and allowed to attach. */
export const canTrace = spawnSync('strace', ['-qq', '-e', 'trace=none', 'true']).status === 0;

interface Trace extends AsyncDisposable {
  /** Every traced call so far, one per line. */
  readonly lines: () => readonly string[];
}

/** Follows a process and all its threads from now on. */
async function attach(pid: number, args: readonly string[], output: string): Promise<Trace> {
  const tracer = spawn('strace', ['-f', '-qq', '-y', ...args, '-o', output, '-p', String(pid)], {
    stdio: 'ignore',
  });
  while (tracerOf(pid) !== tracer.pid) {
    if (tracer.exitCode !== null) throw new Error('strace could not attach.');
    await wait(5);
  }
  return {
    lines: () => (existsSync(output) ? readFileSync(output, 'utf8').split('\n') : []),
    [Symbol.asyncDispose]: async () => {
      const exit = once(tracer, 'exit');
      tracer.kill('SIGINT');
      await exit;
    },
  };
}

function tracerOf(pid: number): number {
  return Number(/^TracerPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

/** Watches what is synced and what is answered. */
export function watchSyncs(pid: number, output: string): Promise<Trace> {
  return attach(pid, ['-s', '20', '-e', 'trace=fsync,fdatasync,write,writev,sendto,sendmsg'], output);
}

/** Starts a gateway without settings, kills it once it listens, and gives all that it has synced, one call per line. */
export async function watchFirstStart(folder: string, output: string): Promise<readonly string[]> {
  const args = ['-f', '-qq', '-y', '-e', 'trace=fsync,fdatasync', '-o', output, process.execPath, startFile];
  const env = { PATH: process.env.PATH, PORT: '0' };
  const tracer = spawn('strace', args, {
    cwd: folder,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exit = once(tracer, 'exit');
  for await (const line of createInterface({ input: tracer.stdout })) {
    if (line.startsWith('Labgraph is listening')) break;
  }
  // The gateway, too: it is in the tracer's process group. Where it has ended by itself, nobody is there.
  if (tracer.pid !== undefined && tracer.exitCode === null) process.kill(-tracer.pid, 'SIGKILL');
  await exit;
  return readFileSync(output, 'utf8').split('\n');
}

/** Until it is disposed of, these calls of the process fail with this error. */
export function injectFault(pid: number, calls: string, error: 'EIO' | 'ENOSPC'): Promise<Trace> {
  return attach(pid, ['-e', `trace=${calls}`, '-e', `inject=${calls}:error=${error}`], '/dev/null');
}
