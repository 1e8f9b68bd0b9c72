import { execFileSync } from 'node:child_process';
import process from 'node:process';

// Of util-linux, which every Linux has.
const prlimit = '/usr/bin/prlimit';

/**
 * Until it is disposed of, no file that this process writes can grow: every write that needs room fails in the
 * kernel, as on a full disk (here with EFBIG). Only for what this process does itself.
 */
export function fillDisk(): Disposable {
  limitFileSize(process.pid, '0');
  return { [Symbol.dispose]: () => limitFileSize(process.pid, 'unlimited') };
}

/** How large the files that a process writes may become from now on. */
export function limitFileSize(pid: number, bytes: '0' | 'unlimited'): void {
  execFileSync(prlimit, ['--pid', String(pid), `--fsize=${bytes}:unlimited`]);
}
