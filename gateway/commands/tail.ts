import { createHmac } from 'node:crypto';
import { type Followed, follow } from '../events/follow.ts';
import type { StoredEvent } from '../events/log.ts';
import type { EventStore } from '../events/open.ts';
import { type Command, readPosition, type Session } from './command.ts';
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
    const { store, options, say } = session;
    const after = options.after === undefined ? await store.log.position() : readPosition(options.after);
    if (after === null) {
      say('--after takes a position: a whole number.');
      return false;
    }
    const gap = await printFrom(session, after);
    if (gap === 'pruned') {
      const start = await findStart(store.log);
      say(`What stood up to position ${start} was pruned; the rest follows.`);
      return (await printFrom(session, start)) === null;
    }
    if (gap !== null) say(`The log cannot be followed from there: ${gap}.`);
    return gap === null;
  },
};

/** @returns why it goes no further, null when it was interrupted */
async function printFrom(session: Session<EventStore>, after: number): Promise<GapReason | null> {
  const { store, print, signal } = session;
  const describe = createDescription(session);
  for await (const item of follow(store.log, {}, { after, signal })) {
    if (item.kind === 'gap') return item.reason;
    await print(describe(item.event));
  }
  return null;
}

type GapReason = Extract<Followed, { readonly kind: 'gap' }>['reason'];

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

/** Tells users apart without telling who they are: the same for one user for as long as the log's key stays. */
function createPseudonyms(key: Buffer): (userId: string) => string {
  return (userId) =>
    createHmac('sha256', key).update('user pseudonym\0').update(userId).digest('hex').slice(0, 16);
}
