import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { examineTrail } from '../../../gateway/audit/examine.ts';
import { type AccessLine, AuditKey } from '../../../gateway/audit/line.ts';
import { type AuditTrailOptions, openAuditTrail } from '../../../gateway/audit/trail.ts';
import { createLog } from '../../../gateway/log.ts';

export const key = randomBytes(32);
export const pseudonymOf = (userId: string): string => new AuditKey(key).userPseudonym(userId);

export function openTrail(folder: string, more: Partial<AuditTrailOptions> = {}) {
  const log = createLog({ level: 'silent' });
  return openAuditTrail({ folder, keys: [key], log, ...more });
}

/** The user of an access of `writeTrail`. */
export const userIdOf = (index: number): string =>
  `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;

/** A trail of so many accesses by one team caller, written and closed. */
export async function writeTrail(folder: string, accesses: number): Promise<string> {
  // Not the last by name: two files of one millisecond are in no order.
  const earlier = new Set(filesOf(folder));
  const trail = await openTrail(folder);
  const watch = trail.watch({ kind: 'TEAM', keyName: 'key-11111111' });
  for (let index = 0; index < accesses; index += 1) {
    watch({ kind: 'read order.get', userId: userIdOf(index), outcome: 'ok' });
  }
  await trail.close();
  return filesOf(folder).find((file) => !earlier.has(file)) ?? '';
}

export function filesOf(folder: string): readonly string[] {
  return readdirSync(folder).toSorted();
}

export function linesOf(folder: string, file: string): readonly string[] {
  return readFileSync(join(folder, file), 'utf8').split('\n').slice(0, -1);
}

/** Anyone who can write the file can do this. */
export function rewrite(
  folder: string,
  file: string,
  change: (lines: readonly string[]) => readonly string[],
) {
  writeFileSync(
    join(folder, file),
    change(linesOf(folder, file))
      .map((line) => `${line}\n`)
      .join(''),
  );
}

export function examine(folder: string, more: Partial<Parameters<typeof examineTrail>[0]> = {}) {
  return examineTrail({ folder, keys: [new AuditKey(key)], ...more });
}

/** Every access in the folder, without what differs with each run. */
export function accessesIn(folder: string): readonly Omit<AccessLine, 'n' | 'at'>[] {
  return filesOf(folder)
    .flatMap((file) => linesOf(folder, file))
    .map((line) => JSON.parse(line))
    .filter((line) => 'kind' in line)
    .map(({ n: _n, at: _at, link: _link, ...access }) => access);
}
