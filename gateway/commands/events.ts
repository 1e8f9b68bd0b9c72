import { createHmac } from 'node:crypto';
import { readers, teamMark } from '../composition/webhook-readers.ts';
import { GatewayError } from '../errors.ts';
import { follow } from '../events/follow.ts';
import type { DeadLetter, EventLog, StoredEvent } from '../events/log.ts';
import { type EventStore, openEventStore } from '../events/open.ts';
import { createLog } from '../log.ts';
import { brokerIdPrefix, readEnvelope } from '../webhooks/envelope.ts';
import {
  type Command,
  type Program,
  readPosition,
  runInProcess,
  type Session,
  type Settings,
} from './program.ts';

const eventsPerPage = 500;
const lettersPerPage = 100;

/** Lists the dead letters with the reason of each. */
const dead: Command<EventStore> = {
  usage: '[--body]',
  summary:
    'lists the dead letters: position, when, type, reason, team, and `sealed` when no key opens it; with --body what they say',
  options: { body: { type: 'boolean' } },
  examples: ['', '--body'],
  run: async ({ store, options, print, report }) => {
    let count = 0;
    for await (const letter of walkDeadLetters(store.log)) {
      const { position, receivedAt, type, deadReason, teamId } = letter;
      // Bodies are health data: printed only on request.
      const body = options.body === true ? { body: letter.body?.toString('utf8') ?? null } : {};
      const sealed = letter.body === null ? { sealed: true } : {};
      await print({ position, receivedAt, type, reason: deadReason, teamId, ...sealed, ...body });
      count += 1;
    }
    if (count === 0) report('There are no dead letters.');
    return true;
  },
};

/** Reads dead letters again with today's readers and team, and appends those that are readable now. */
const replay: Command<EventStore> = {
  usage: '<position>... | --all',
  summary: 'reads dead letters again and appends what is readable now, each at most once',
  options: { all: { type: 'boolean' } },
  examples: ['17 18', '--all'],
  run: async (session) => {
    const { store, settings, options, words, report } = session;
    const positions = words.map(readPosition);
    if ((options.all === true) === words.length > 0 || positions.includes(null))
      throw new GatewayError('BAD_USER_INPUT', 'Name the positions that `dead` lists, or give --all.');
    const teamId = settings.readConfig().teamId ?? (await store.log.readMark(teamMark));
    if (teamId === null) {
      // Without a known team, a letter of another team would be delivered as ours.
      report('It is not known which team is ours: set SERVICE_TEAM_ID, or start the gateway once.');
      return false;
    }
    return await replayChosen(session, { teamId, chosen: options.all === true ? null : new Set(positions) });
  },
};

interface Choice {
  readonly teamId: string;
  /** Null chooses all. */
  readonly chosen: ReadonlySet<number | null> | null;
}

async function replayChosen(
  { store, print, report }: Session<EventStore>,
  { teamId, chosen }: Choice,
): Promise<boolean> {
  const missing = new Set(chosen);
  for await (const letter of walkDeadLetters(store.log)) {
    if (chosen !== null && !chosen.has(letter.position)) continue;
    missing.delete(letter.position);
    await print({ position: letter.position, ...(await replayOne(store.log, letter, teamId)) });
  }
  for (const position of missing) report(`There is no dead letter at position ${position}.`);
  return missing.size === 0;
}

type Replayed =
  | { readonly outcome: 'replayed' | 'replayed-before'; readonly newPosition: number }
  | { readonly outcome: 'still-dead'; readonly reason: string };

/**
 * The new message id is made of the old one, so that the log stores a replayed letter only once. A letter of a broker is
 * also compared by its content: the event may have come as a webhook, or again.
 */
async function replayOne(log: EventLog, letter: DeadLetter, teamId: string): Promise<Replayed> {
  const { messageId, receivedAt, body } = letter;
  if (body === null) return { outcome: 'still-dead', reason: 'sealed' };
  const { decodeUnlabelled } = await import('../intake/decode.ts');
  const isOfBroker = messageId.startsWith(brokerIdPrefix);
  const reading = { messageId: isOfBroker ? null : messageId, receivedAt, ...decodeUnlabelled(body) };
  const options = { ...readers, teamId, comparesContent: isOfBroker };
  const message = { ...readEnvelope(reading, options), messageId: `replay:${messageId}`, isNewId: false };
  if (message.deadReason !== null) return { outcome: 'still-dead', reason: message.deadReason };
  const { position, duplicate } = await log.append(message);
  return { outcome: duplicate ? 'replayed-before' : 'replayed', newPosition: position };
}

/** Shows events as they come. */
const tail: Command<EventStore> = {
  usage: '[--after <position>] [--user-pseudonym] [--body]',
  summary: 'prints one line per event as it comes, from now on or after a position, until it is interrupted',
  options: {
    after: { type: 'string' },
    'user-pseudonym': { type: 'boolean' },
    body: { type: 'boolean' },
  },
  examples: ['', '--after 1200 --user-pseudonym'],
  run: async (session) => {
    const { store, options, print, report, signal } = session;
    const after = options.after === undefined ? await store.log.position() : readPosition(options.after);
    if (after === null) throw new GatewayError('BAD_USER_INPUT', '--after takes a position: a whole number.');
    const describe = createDescription(session);
    for await (const item of follow(store.log, {}, { after, signal })) {
      if (item.kind === 'event') await print(describe(item.event));
      else if (item.reason === 'pruned')
        report(`Events up to position ${item.position} were pruned; the rest follows.`);
      else {
        report(`The log cannot be followed from that position: ${item.reason}.`);
        return false;
      }
    }
    return true;
  },
};

function createDescription({ store, settings, options }: Session<EventStore>) {
  const pseudonymOf = createPseudonyms(
    settings.readConfig().eventLogKeys[0] ?? Buffer.from(store.log.epoch()),
  );
  return ({ position, receivedAt, type, origin, userId, body }: StoredEvent) => ({
    position,
    receivedAt,
    type,
    origin,
    ...(options['user-pseudonym'] === true ? { user: userId === null ? null : pseudonymOf(userId) } : {}),
    ...(options.body === true ? { body: body.toString('utf8') } : {}),
  });
}

/** Pseudonyms distinguish users without naming them. A user's pseudonym stays the same while the log's key does. */
function createPseudonyms(key: Buffer): (userId: string) => string {
  return (userId) =>
    createHmac('sha256', key).update('user pseudonym\0').update(userId).digest('hex').slice(0, 16);
}

/** Reads the whole log and reports whether it is sound. */
const verify: Command<EventStore> = {
  usage: '',
  summary:
    'reads the whole log: bodies open, positions grow, versions fit, the store is whole; counts per type',
  options: {},
  examples: [''],
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
  const seen = new Seen();
  await readAll(log, seen);
  const deadLetters = await countDeadLetters(log, seen);
  await compareVersions(log, seen);
  const { events, start, last, faults } = seen;
  const types = Object.fromEntries([...seen.types].toSorted());
  return { counts: { events, deadLetters, from: start, through: last, types }, faults };
}

/** Collects findings while the log is read. */
class Seen {
  readonly types = new Map<string, number>();
  /** The highest version of each subject. */
  readonly versions = new Map<string, number>();
  readonly faults: string[] = [];
  events = 0;
  /** The position after which nothing was pruned. */
  start = 0;
  last = 0;

  /** Begins after the pruned events. They may have been pruned while the log was read. */
  beginAfter(position: number): void {
    this.start = position;
    this.last = position;
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

async function readAll(log: EventLog, seen: Seen): Promise<void> {
  let after = 0;
  for (;;) {
    const batch = await log.read({}, after, eventsPerPage);
    if (batch.kind === 'gap' && batch.reason === 'pruned') {
      seen.beginAfter(batch.through);
      after = batch.through;
      continue;
    }
    if (batch.kind === 'gap') {
      const why = batch.reason === 'sealed' ? 'no key in EVENT_LOG_KEY opens the next event' : batch.reason;
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
      seen.faults.push(`A subject is at version ${latest?.version ?? 'none'}, and an event has ${highest}.`);
      continue;
    }
    // A higher version came with an event that was pruned since, was only claimed, or came while the log was read.
    const isExplained = latest.position <= seen.start || latest.position > seen.last;
    if (latest.version > highest && !isExplained) {
      seen.faults.push(`A subject is at version ${latest.version}, and no event has more than ${highest}.`);
    }
  }
}

/** All dead letters, oldest first. */
async function* walkDeadLetters(log: EventLog): AsyncGenerator<DeadLetter> {
  let after = 0;
  for (;;) {
    const letters = await log.deadLetters(after, lettersPerPage);
    yield* letters;
    const last = letters.at(-1);
    if (last === undefined) return;
    after = last.position;
  }
}

/** `npm run events -- <command>`: works on the event log, beside a running gateway or without one. */
export const program: Program<EventStore> = {
  call: 'npm run events --',
  commands: { dead, replay, tail, verify },
  about: [
    'Works on the log that EVENT_LOG names, with the variables of the gateway, also while it runs. Prints one JSON',
    'line per finding.',
  ],
  open,
  close: (store) => store.log.close(),
};

async function open({ readConfig }: Settings): Promise<EventStore> {
  const config = readConfig();
  if (config.eventLog.kind === 'memory') {
    throw new GatewayError('EVENT_LOG_UNAVAILABLE', 'EVENT_LOG=memory: is inside the gateway, out of reach.');
  }
  return await openEventStore(config.eventLog, {
    keys: config.eventLogKeys,
    log: createLog({ level: 'warn' }),
    access: 'shared',
  });
}

if (import.meta.main) await runInProcess(program);
