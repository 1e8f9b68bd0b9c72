import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import process from 'node:process';

/** The machine of the measurement. */
export function describeMachine(): string {
  const [cpu] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return `${cpus().length} cores (${cpu?.model.trim() ?? 'unknown'}), ${memory}, Node ${process.version}, ${type()} ${release()}`;
}

/** Time of all processors since the machine started, in the kernel's ticks. */
interface ProcessorTimes {
  readonly all: number;
  /** Wanted here and given to other machines by the host. */
  readonly stolen: number;
}

/** Returns a function for the share of the processors' time that the host has given to other machines since now; null where it is unknown. */
export function watchStolenTime(): () => number | null {
  const before = readProcessorTimes();
  return () => {
    const now = readProcessorTimes();
    if (before === null || now === null || now.all === before.all) return null;
    return (now.stolen - before.stolen) / (now.all - before.all);
  };
}

function readProcessorTimes(): ProcessorTimes | null {
  if (type() !== 'Linux') return null;
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
  // user, nice, system, idle, iowait, irq, softirq, steal; what follows is counted in these (proc(5)).
  const times = line.trim().split(/\s+/).slice(1, 9).map(Number);
  return { all: times.reduce((sum, ticks) => sum + ticks, 0), stolen: times[7] ?? 0 };
}
