import { createHmac } from 'node:crypto';
import { follow } from '../events/follow.ts';
import type { GapReason, StoredEvent } from '../events/log.ts';
import type { EventStore } from '../events/open.ts';
import { type Command, readPosition, type Session } from './program.ts';
import { findStart } from './walk.ts';

/** Shows events as they come. */
export const tail: Command<EventStore> = {
  usage: '[--after <position>] [--user-pseudonym] [--body]',
  summary: 'prints one line per event as it comes, from now on or after a position, until it is interrupted',
  options: {
    after: { type: 'string' },
    'user-pseudonym': { type: 'boolean' },
    body: { type: 'boolean' },
  },
  run: async (session) => {
    const { store, options, report } = session;
    const after = options.after === undefined ? await store.log.position() : readPosition(options.after);
    if (after === null) {
      report('--after takes a position: a whole number.');
      return false;
    }
    const gap = await printFrom(session, after);
    if (gap === 'pruned') {
      const start = await findStart(store.log);
      report(`What stood up to position ${start} was pruned; the rest follows.`);
      return (await printFrom(session, start)) === null;
    }
    if (gap !== null) report(`The log cannot be followed from there: ${gap}.`);
    return gap === null;
  },
};

/** @returns why the log cannot be read further; null when the command was interrupted */
async function printFrom(session: Session<EventStore>, after: number): Promise<GapReason | null> {
  const { store, print, signal } = session;
  const describe = createDescription(session);
  for await (const item of follow(store.log, {}, { after, signal })) {
    if (item.kind === 'gap') return item.reason;
    await print(describe(item.event));
  }
  return null;
}

function createDescription({ store, config, options }: Session<EventStore>) {
  const pseudonymOf = createPseudonyms(config.eventLogKeys[0] ?? Buffer.from(store.log.epoch()));
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
