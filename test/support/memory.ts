import { readFileSync } from 'node:fs';

/** Resident memory of a process of this machine, in MiB. */
function readResidentMemory(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) / 1024;
}

/** Looks at a process while something goes on, and tells the most that it had. */
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
