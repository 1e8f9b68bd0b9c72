import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { type ExamineOptions, examineTrail } from '../audit/examine.ts';
import { AuditKey, type Head, parseHead } from '../audit/line.ts';
import { GatewayError } from '../errors.ts';
import { parseDay, parseInstant, startOfDay } from '../parse/dates.ts';
import { type Command, type Program, runInProcess, type Settings } from './program.ts';

/** Where the audit trail is, and the keys that it was written with. */
interface TrailLocation {
  readonly folder: string;
  readonly keys: readonly AuditKey[];
}

/** Reads the whole trail and reports whether anything was changed, removed, added, moved or cut off. */
const verify: Command<TrailLocation> = {
  usage: '[--heads <log file>] [--from <file>]',
  summary:
    'reads the whole trail; with --heads it must go as far as this log of the gateway says; --from names the oldest file still here',
  options: { heads: { type: 'string' }, from: { type: 'string' } },
  examples: ['', '--heads gateway.log'],
  run: async ({ store: { folder, keys }, options, print, report }) => {
    const heads =
      typeof options.heads === 'string' ? await orUnreadable('--heads', readHeads(options.heads)) : [];
    const from = typeof options.from === 'string' ? options.from : undefined;
    const { faults, remarks, ...counts } = await orUnreadable(
      'AUDIT_TRAIL',
      examineTrail({ folder, keys, from, heads }),
    );
    await print({ ...counts, heads: heads.length, faults: faults.length });
    for (const sentence of [...remarks, ...faults]) report(sentence);
    return faults.length === 0;
  },
};

/** The heads of files in the gateway's log: how far each file had been written. */
async function readHeads(path: string): Promise<readonly Head[]> {
  const heads: Head[] = [];
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const text = /"head":"([^"]+)"/.exec(line)?.[1];
    const head = text === undefined ? null : parseHead(text);
    if (head !== null) heads.push(head);
  }
  return heads;
}

/** Prints accesses, such as all to one user's data. */
const exportLines: Command<TrailLocation> = {
  usage: '[--since <time>] [--until <time>] [--user <id>]',
  summary:
    "prints the accesses of a time, all or those to one user's data (the service's id of the user); what is not sound is marked",
  options: { since: { type: 'string' }, until: { type: 'string' }, user: { type: 'string' } },
  examples: ['--since 2026-11-20 --user 0b2c7f5e-3d8a-4f6e-9a41-7c1f0d2e5b68'],
  run: async ({ store: { folder, keys }, options, print, report }) => {
    const [since, until] = [readTime(options.since), readTime(options.until)];
    if (since === null || until === null) {
      const message = '--since and --until take a time, such as 2026-11-20 or 2026-11-20T08:00:00Z.';
      throw new GatewayError('BAD_USER_INPUT', message);
    }
    const isOfUser = createUserFilter(options.user);
    const onLine: ExamineOptions['onLine'] = async (line, { key, isSound }) => {
      if (!('kind' in line) || !isOfUser(line.user, key)) return;
      // A line for several accesses covers the time from the first to the last.
      const [first, last] = [line.since ?? line.at, line.at].map((at) => parseInstant(at)?.getTime() ?? NaN);
      if (Number(last) < (since ?? -Infinity) || Number(first) >= (until ?? Infinity)) return;
      await print(isSound ? line : { ...line, isSound });
    };
    const { faults } = await orUnreadable('AUDIT_TRAIL', examineTrail({ folder, keys, onLine }));
    if (faults.length > 0) report('The trail is not sound: see `verify`.');
    return faults.length === 0;
  },
};

/** @returns undefined where none was given, null for a text that is not a time */
function readTime(text: unknown): number | undefined | null {
  if (text === undefined) return undefined;
  const day = parseDay(String(text));
  return (parseInstant(String(text)) ?? (day === null ? null : startOfDay(day)))?.getTime() ?? null;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * A user has one pseudonym for each key, so each file is filtered with its own key.
 * @throws GatewayError BAD_USER_INPUT if the text cannot be a user's id: an empty result would mean that nobody has seen the data
 */
function createUserFilter(userId: unknown): (user: string | null, key: AuditKey | null) => boolean {
  if (typeof userId !== 'string') return () => true;
  if (!uuid.test(userId))
    throw new GatewayError('BAD_USER_INPUT', "--user takes the user's id at the service, a uuid.");
  return (user, key) => user !== null && key !== null && user === key.userPseudonym(userId);
}

/** @throws GatewayError BAD_USER_INPUT in place of an error of the file system, which would print only the path */
async function orUnreadable<Result>(name: string, reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (cause) {
    throw new GatewayError('BAD_USER_INPUT', `${name} names nothing that can be read.`, { cause });
  }
}

async function open({ readConfig }: Settings): Promise<TrailLocation> {
  const { auditTrail } = readConfig();
  if (auditTrail === null) {
    throw new GatewayError(
      'CONFIG_INVALID',
      'AUDIT_TRAIL is off: name the folder of the trail, file:<folder>.',
    );
  }
  return { folder: auditTrail.folder, keys: auditTrail.keys.map((key) => new AuditKey(key)) };
}

/** `npm run audit -- <command>`: reads the audit trail, beside a running gateway or without one. */
export const program: Program<TrailLocation> = {
  call: 'npm run audit --',
  commands: { verify, export: exportLines },
  about: [
    'Reads the trail in the folder that AUDIT_TRAIL names, with the keys of AUDIT_TRAIL_KEY, also while the gateway',
    'runs.',
  ],
  open,
  close: async () => {},
};

if (import.meta.main) await runInProcess(program);
