import { setTimeout as sleep } from 'node:timers/promises';
import { LabgraphError, type Updates } from '../client/src/index.ts';
import type { Command, Session } from '../gateway/commands/program.ts';
import { GatewayError } from '../gateway/errors.ts';
import { reach, reachOptions, readText } from './reach.ts';
import { signMessage } from './signatures.ts';
import { createStored, generateSecret, nameFor, type Stored } from './state.ts';

const document = `subscription ($types: [String!], $after: EventCursor) {
  events(types: $types, after: $after) {
    __typename cursor type userId clientUserId teamId receivedAt payload ... on StreamReset { reason }
  }
}`;

const cursorOfNow = 'query ($types: [String!]) { eventCursor(types: $types) }';

/** An item of the team's stream, as the document asks for it. */
interface Item {
  readonly __typename: string;
  readonly cursor: string;
  readonly type: string;
  readonly userId: string | null;
  readonly clientUserId: string | null;
  readonly teamId: string | null;
  readonly receivedAt: string;
  readonly payload: unknown;
  readonly reason?: string | null;
}

const answerTimeoutMs = 15_000;
const firstPauseMs = 500;
const longestPauseMs = 30_000;

/** The types of `--events a,b`; null for all. */
function readTypes(events: unknown): readonly string[] | null {
  return typeof events === 'string' ? events.split(',').map((type) => type.trim()) : null;
}

async function followEvents(session: Session<null>, after: string | null) {
  const { client } = await reach(session);
  const { signal, report } = session;
  const variables = { types: readTypes(session.options.events), after };
  const onOpen = () => report('Connected.');
  const onRetry = ({ code }: LabgraphError) => report(`The stream was cut (${code}); it is resumed.`);
  const updates: Updates<{ readonly events: Item }> = client.follow(document, variables, {
    signal,
    onRetry,
    onOpen,
  });
  return updates;
}

/** Reports an error that ended the stream, with what the person can do. @returns false: it is a fault */
function explain({ report }: Session<null>, error: unknown, path?: string): false {
  if (!(error instanceof LabgraphError)) throw error;
  const advice =
    error.code === 'BAD_CURSOR' && path !== undefined
      ? ` Delete ${path} to begin now; what came since is missed.`
      : '';
  report(`The gateway ended the stream: ${error.code}.${advice}`);
  return false;
}

/** Shows the team's events as they come. */
export const tail: Command<null> = {
  usage: '[--events <type,type>] [--body]',
  summary: 'prints one line per event of the team from now on; with --body what it says',
  options: { ...reachOptions, events: { type: 'string' }, body: { type: 'boolean' } },
  examples: ['', '--events labtest.order.updated --body'],
  run: async (session) => {
    try {
      for await (const { events } of await followEvents(session, null)) {
        const { type, receivedAt, reason, payload } = events;
        // Bodies are health data: printed only on request.
        const body = session.options.body === true ? { body: payload } : {};
        await session.print({ type, receivedAt, ...(reason ? { reason } : {}), ...body });
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
      for await (const { events } of await followEvents(session, await findPlace(session, cursor))) {
        if (!(await forward(session, { item: events, target, secret }))) break;
        await cursor.write(events.cursor);
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
  const { client } = await reach(session);
  const variables = { types: readTypes(session.options.events) };
  const { eventCursor } = await client.query<{ readonly eventCursor: string }>(cursorOfNow, variables);
  await cursor.write(eventCursor);
  return eventCursor;
}

function readTarget(address: unknown): string {
  const url = typeof address === 'string' ? URL.parse(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new GatewayError('BAD_USER_INPUT', '--forward-to takes an http or https address.');
  }
  return url.href;
}

/** The secret that was named, else one that is generated, printed once, and stored. */
async function findSecret({ settings, options, report }: Session<null>): Promise<string> {
  const file = options['secret-file'];
  if (typeof file === 'string') return await readText(file);
  const stored: Stored = createStored(settings.env, 'secret');
  const known = await stored.read();
  if (known !== null) return known;
  const secret = generateSecret();
  await stored.write(secret);
  report(`Forwarded events are signed with ${secret}, stored in ${stored.path}.`);
  return secret;
}

interface Forwarding {
  readonly item: Item;
  readonly target: string;
  readonly secret: string;
}

/** @returns whether the target has it; false when the command was interrupted before */
async function forward(session: Session<null>, { item, target, secret }: Forwarding): Promise<boolean> {
  const { print, report, signal } = session;
  if (item.__typename === 'StreamReset') {
    await print({ type: item.type, reason: item.reason });
    report(
      'RESYNC: the history after the stored cursor is gone. Read what you need by query; new events follow.',
    );
    return true;
  }
  // The same event has the same id in each attempt and after a kill.
  const id = `msg_${nameFor(item.cursor)}`;
  const { type, teamId, userId, clientUserId, payload } = item;
  const body = JSON.stringify({
    event_type: type,
    team_id: teamId,
    user_id: userId,
    client_user_id: clientUserId,
    data: payload,
  });
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    const status = await post(target, { body, signal, headers: { ...signMessage(secret, id, body) } });
    if (status !== null && status >= 200 && status < 300) {
      await print({ type, id, status, attempts: attempt });
      return true;
    }
    if (attempt === 1)
      report(`The target ${status === null ? 'does not answer' : `answered ${status}`}; it is tried again.`);
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 1));
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

interface Message {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** @returns the target's status; null when it did not answer in time */
async function post(target: string, { body, headers, signal }: Message): Promise<number | null> {
  try {
    const response = await fetch(target, {
      method: 'POST',
      redirect: 'manual',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerTimeoutMs)]),
    });
    await response.body?.cancel();
    return response.status;
  } catch {
    return null;
  }
}
