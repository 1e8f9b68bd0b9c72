import { readers, teamMark } from '../composition/webhook-readers.ts';
import type { DeadLetter, EventLog } from '../events/log.ts';
import type { EventStore } from '../events/open.ts';
import { readEnvelope } from '../webhooks/envelope.ts';
import { type Command, readPosition, type Session } from './command.ts';
import { walkDeadLetters } from './walk.ts';

/** Reads dead letters again, with the readers and the team of today, and delivers what can be read now. */
export const replay: Command<EventStore> = {
  usage: '<position>... | --all',
  summary: 'reads dead letters again and appends what is readable now, each at most once',
  options: { all: { type: 'boolean' } },
  run: async (session) => {
    const { store, config, options, words, say } = session;
    const positions = words.map(readPosition);
    if ((options.all === true) === words.length > 0 || positions.includes(null)) {
      say('Name the positions that `dead` lists, or give --all.');
      return false;
    }
    const teamId = config.teamId ?? (await store.log.readMark(teamMark));
    if (teamId === null) {
      // Without it, a letter of another team would be delivered as ours.
      say('It is not known which team is ours: set SERVICE_TEAM_ID, or start the gateway once.');
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
  { store, print, say }: Session<EventStore>,
  { teamId, chosen }: Choice,
): Promise<boolean> {
  const missing = new Set(chosen);
  for await (const letter of walkDeadLetters(store.log)) {
    if (chosen !== null && !chosen.has(letter.position)) continue;
    missing.delete(letter.position);
    await print({ position: letter.position, ...(await replayOne(store.log, letter, teamId)) });
  }
  for (const position of missing) say(`There is no dead letter at position ${position}.`);
  return missing.size === 0;
}

type Replayed =
  | { readonly outcome: 'replayed' | 'replayed-before'; readonly newPosition: number }
  | { readonly outcome: 'still-dead'; readonly reason: string };

/** The new message has an id of its own that is made of the old one, so that the log keeps it once. */
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
