import { readFileSync } from 'node:fs';

/** The processes that a process has made and that still run: the workers of a gateway. */
export function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}
