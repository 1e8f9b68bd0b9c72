import { examineTrail } from '../audit/examine.ts';
import type { AuditKey } from '../audit/keys.ts';
import { parseDay, parseInstant, startOfDay } from '../parse/dates.ts';
import type { KeptTrail } from './audit.ts';
import { type Command, orUnreadable } from './command.ts';

/** Prints accesses, such as all to one user's data. */
export const exportLines: Command<KeptTrail> = {
  usage: '[--since <time>] [--until <time>] [--user <id>]',
  summary:
    "prints the accesses of a time, all or those to one user's data (the service's id of the user); what is not sound is marked",
  options: { since: { type: 'string' }, until: { type: 'string' }, user: { type: 'string' } },
  run: async ({ store: { folder, keys }, options, print, say }) => {
    const [since, until] = [readTime(options.since), readTime(options.until)];
    if (since === null || until === null) {
      say('--since and --until take a time, such as 2026-11-20 or 2026-11-20T08:00:00Z.');
      return false;
    }
    const isOfUser = createUserFilter(options.user);
    const onLine: NonNullable<Parameters<typeof examineTrail>[0]['onLine']> = async (
      line,
      { key, isSound },
    ) => {
      if (!('kind' in line) || !isOfUser(line.user, key)) return;
      // A line for several accesses covers the time from the first to the last.
      const [first, last] = [line.since ?? line.at, line.at].map((at) => parseInstant(at)?.getTime() ?? NaN);
      if (Number(last) < (since ?? -Infinity) || Number(first) >= (until ?? Infinity)) return;
      await print(isSound ? line : { ...line, isSound });
    };
    const { faults } = await orUnreadable('AUDIT_TRAIL', examineTrail({ folder, keys, onLine }));
    if (faults.length > 0) say('The trail is not sound: see `verify`.');
    return faults.length === 0;
  },
};

/** @returns undefined where none was given, null for what is no time */
function readTime(text: unknown): number | undefined | null {
  if (text === undefined) return undefined;
  const day = parseDay(String(text));
  return (parseInstant(String(text)) ?? (day === null ? null : startOfDay(day)))?.getTime() ?? null;
}

/** One user has as many pseudonyms as there were keys: each file is asked with its own. */
function createUserFilter(userId: unknown): (user: string | null, key: AuditKey | null) => boolean {
  if (typeof userId !== 'string') return () => true;
  return (user, key) => user !== null && key !== null && user === key.userPseudonym(userId);
}
