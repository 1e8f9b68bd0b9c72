import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

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

/** Until it is disposed of, these calls of the process fail with this error. */
export function injectFault(pid: number, calls: string, error: 'EIO' | 'ENOSPC'): Promise<Trace> {
  return attach(pid, ['-e', `trace=${calls}`, '-e', `inject=${calls}:error=${error}`], '/dev/null');
}
