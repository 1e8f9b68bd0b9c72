import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { limitFileSize } from '../support/full-disk.ts';

/** Stops a process where it stands for a while, as a machine that swaps or sleeps does. */
export async function freeze(pid: number, forMs: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await wait(forMs);
  process.kill(pid, 'SIGCONT');
}

/** For a while no file that the process writes can grow, as on a full disk. */
export async function fillDisk(pid: number, forMs: number): Promise<void> {
  limitFileSize(pid, '0');
  await wait(forMs);
  limitFileSize(pid, 'unlimited');
}
