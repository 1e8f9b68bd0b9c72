import { setTimeout as sleep } from 'node:timers/promises';
import type { Command, Session } from '../gateway/commands/program.ts';
import {
  explain,
  findSecret,
  followEvents,
  type Item,
  post,
  readCursorOfNow,
  readTarget,
  readTypes,
  toMessage,
} from './forwarding.ts';
import { reach, reachOptions } from './reach.ts';
import { createStored, nameFor, type Stored } from './state.ts';

const firstPauseMs = 500;
const longestPauseMs = 30_000;

/** Shows the team's events as they come. */
export const tail: Command<null> = {
  usage: '[--events <type,type>] [--body]',
  summary: 'prints one line per event of the team from now on; with --body what it says',
  options: { ...reachOptions, events: { type: 'string' }, body: { type: 'boolean' } },
  examples: ['', '--events labtest.order.updated --body'],
  run: async (session) => {
    try {
      let after = await readCursorOfNow(session);
      for await (const { events } of await followEvents(session, after)) {
        const { type, receivedAt, reason, payload } = events;
        // Bodies are health data: printed only on request.
        const body = session.options.body === true ? { body: payload } : {};
        await session.print({ type, receivedAt, after, ...(reason ? { reason } : {}), ...body });
        after = events.cursor;
      }
      return true;
    } catch (error) {
      return explain(session, error);
    }
  },
};

/**
 * Posts each event to an address, one after the other. The cursor is stored after the target's 2xx, so a killed listener goes
 * on where it was; the event that was under way comes again, under the same id.
 */
export const listen: Command<null> = {
  usage: '--forward-to <url> [--events <type,type>] [--secret-file <file>]',
  summary:
    'posts each event of the team to an address, signed, and goes on where it was after a pause or a kill',
  options: {
    ...reachOptions,
    'forward-to': { type: 'string' },
    events: { type: 'string' },
    'secret-file': { type: 'string' },
  },
  examples: [
    '--forward-to http://localhost:3000/webhooks --key-file gateway.key',
    '--forward-to http://localhost:3000/webhooks --events labtest.order.updated --url https://gateway.example.com',
  ],
  run: async (session) => {
    const target = readTarget(session.options['forward-to']);
    const { url } = await reach(session);
    const types = readTypes(session.options.events) ?? [];
    const cursor = createStored(session.settings.env, `cursor-${nameFor(url, target, ...types)}`);
    const secret = await findSecret(session);
    try {
      let after = await findPlace(session, cursor);
      for await (const { events } of await followEvents(session, after)) {
        if (!(await forward(session, { item: events, after, target, secret }))) break;
        after = events.cursor;
        await cursor.write(after);
      }
      return true;
    } catch (error) {
      return explain(session, error, cursor.path);
    }
  },
};

/** The stored cursor, else that of this moment, stored first: so nothing before the first event is missed. */
async function findPlace(session: Session<null>, cursor: Stored): Promise<string> {
  const stored = await cursor.read();
  if (stored !== null) return stored;
  const now = await readCursorOfNow(session);
  await cursor.write(now);
  return now;
}

interface Forwarding {
  readonly item: Item;
  /** The cursor before the item, by which `resend` finds it. */
  readonly after: string;
  readonly target: string;
  readonly secret: string;
}

/** @returns whether the target has it; false when the command was interrupted before */
async function forward(
  session: Session<null>,
  { item, after, target, secret }: Forwarding,
): Promise<boolean> {
  const { print, report, signal } = session;
  if (item.__typename === 'StreamReset') {
    await print({ type: item.type, reason: item.reason });
    report(
      'RESYNC: events after the stored cursor are lost. Read what you need by query; listen continues with the next event.',
    );
    return true;
  }
  const message = toMessage(item);
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    const status = await post(message, { target, secret, signal });
    if (status !== null && status >= 200 && status < 300) {
      await print({ type: item.type, id: message.id, after, status, attempts: attempt });
      return true;
    }
    if (attempt === 1)
      report(`The target ${status === null ? 'does not answer' : `answered ${status}`}; it is tried again.`);
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 1));
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}
