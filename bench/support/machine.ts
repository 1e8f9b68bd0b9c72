import { cpus, release, totalmem, type } from 'node:os';
import process from 'node:process';

/** What the figures were measured on. */
export function describeMachine(): string {
  const [cpu] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return `${cpus().length} cores (${cpu?.model.trim() ?? 'unknown'}), ${memory}, Node ${process.version}, ${type()} ${release()}`;
}
