import { readFileSync } from 'node:fs';

/** Resident memory of a process of this machine, in MiB. */
function readResidentMemory(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) / 1024;
}

/** Samples the memory of a process while something runs, and returns the peak. */
export async function watchMemory<T>(
  pid: number,
  work: Promise<T>,
): Promise<{ readonly result: T; readonly mostMiB: number }> {
  let mostMiB = readResidentMemory(pid);
  const timer = setInterval(() => {
    mostMiB = Math.max(mostMiB, readResidentMemory(pid));
  }, 50);
  try {
    return { result: await work, mostMiB };
  } finally {
    clearInterval(timer);
  }
}
