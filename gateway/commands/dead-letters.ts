import { readers, teamMark } from '../composition/webhook-readers.ts';
import type { DeadLetter, EventLog } from '../events/log.ts';
import type { EventStore } from '../events/open.ts';
import { readEnvelope } from '../webhooks/envelope.ts';
import { type Command, readPosition, type Session } from './program.ts';
import { walkDeadLetters } from './walk.ts';

/** Lists the dead letters with the reason of each. */
export const dead: Command<EventStore> = {
  usage: '[--body]',
  summary:
    'lists the dead letters: position, when, type, reason, team, and `sealed` when no key opens it; with --body what they say',
  options: { body: { type: 'boolean' } },
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
export const replay: Command<EventStore> = {
  usage: '<position>... | --all',
  summary: 'reads dead letters again and appends what is readable now, each at most once',
  options: { all: { type: 'boolean' } },
  run: async (session) => {
    const { store, config, options, words, report } = session;
    const positions = words.map(readPosition);
    if ((options.all === true) === words.length > 0 || positions.includes(null)) {
      report('Name the positions that `dead` lists, or give --all.');
      return false;
    }
    const teamId = config.teamId ?? (await store.log.readMark(teamMark));
    if (teamId === null) {
      // Without it, a letter of another team would be delivered as ours.
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

/** The new message id is made of the old one, so that the log stores a replayed letter only once. */
async function replayOne(log: EventLog, letter: DeadLetter, teamId: string): Promise<Replayed> {
  const { receivedAt, body } = letter;
  if (body === null) return { outcome: 'still-dead', reason: 'sealed' };
  const message = readEnvelope(
    { messageId: `replay:${letter.messageId}`, receivedAt, body },
    { ...readers, teamId },
  );
  if (message.deadReason !== null) return { outcome: 'still-dead', reason: message.deadReason };
  const { position, duplicate } = await log.append(message);
  return { outcome: duplicate ? 'replayed-before' : 'replayed', newPosition: position };
}
