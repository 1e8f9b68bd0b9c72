import type { EventLog, StoredEvent } from '../events/log.ts';
import type { EventStore } from '../events/open.ts';
import type { Command } from './program.ts';
import { findStart, walkDeadLetters } from './walk.ts';

const pageSize = 500;

/** Reads the whole log and reports whether it is sound. */
export const verify: Command<EventStore> = {
  usage: '',
  summary:
    'reads the whole log: bodies open, positions grow, versions fit, the store is whole; counts per type',
  options: {},
  run: async ({ store, print, report }) => {
    const findings = await examine(store.log);
    const faults = [...(await store.checkIntegrity()), ...findings.faults];
    await print({ ...findings.counts, faults: faults.length });
    for (const fault of faults) report(fault);
    return faults.length === 0;
  },
};

interface Findings {
  readonly counts: Readonly<Record<string, unknown>>;
  readonly faults: readonly string[];
}

async function examine(log: EventLog): Promise<Findings> {
  const start = await findStart(log);
  const seen = new Seen(start);
  await readAll(log, start, seen);
  const deadLetters = await countDeadLetters(log, seen);
  await compareVersions(log, seen);
  const { events, last, faults } = seen;
  const types = Object.fromEntries([...seen.types].toSorted());
  return { counts: { events, deadLetters, from: start, through: last, types }, faults };
}

/** Collects findings while the log is read. */
class Seen {
  readonly start: number;
  readonly types = new Map<string, number>();
  /** The highest version of each subject. */
  readonly versions = new Map<string, number>();
  readonly faults: string[] = [];
  events = 0;
  last: number;

  constructor(start: number) {
    this.start = start;
    this.last = start;
  }

  add({ position, type, subject }: StoredEvent): void {
    if (position <= this.last) this.faults.push(`Position ${position} comes after position ${this.last}.`);
    this.last = position;
    this.events += 1;
    this.types.set(type, (this.types.get(type) ?? 0) + 1);
    if (subject !== null) {
      this.versions.set(subject.id, Math.max(subject.version, this.versions.get(subject.id) ?? 0));
    }
  }
}

async function readAll(log: EventLog, start: number, seen: Seen): Promise<void> {
  let after = start;
  for (;;) {
    const batch = await log.read({}, after, pageSize);
    if (batch.kind === 'gap') {
      const why = batch.reason === 'sealed' ? 'no key in EVENT_LOG_KEY opens what follows' : batch.reason;
      seen.faults.push(`The log cannot be read after position ${after}: ${why}.`);
      return;
    }
    for (const event of batch.events) seen.add(event);
    if (batch.through <= after) return;
    after = batch.through;
  }
}

async function countDeadLetters(log: EventLog, seen: Seen): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  let sealed = 0;
  for await (const { deadReason, body } of walkDeadLetters(log)) {
    counts[deadReason] = (counts[deadReason] ?? 0) + 1;
    if (body === null) sealed += 1;
  }
  if (sealed > 0) seen.faults.push(`No key in EVENT_LOG_KEY opens ${sealed} of the dead letters.`);
  return counts;
}

/** Compares the log's newest version of each subject with the events. */
async function compareVersions(log: EventLog, seen: Seen): Promise<void> {
  for (const [subject, highest] of seen.versions) {
    const latest = await log.latest(subject);
    if (latest === null || latest.version < highest) {
      seen.faults.push(
        `A subject stands at version ${latest?.version ?? 'none'}, and an event has ${highest}.`,
      );
      continue;
    }
    // A higher version came with an event that was pruned since, was only claimed, or came while the log was read.
    const isExplained = latest.position <= seen.start || latest.position > seen.last;
    if (latest.version > highest && !isExplained) {
      seen.faults.push(
        `A subject stands at version ${latest.version}, and no event has more than ${highest}.`,
      );
    }
  }
}
