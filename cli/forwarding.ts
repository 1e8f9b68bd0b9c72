import { LabgraphError, type Updates } from '../client/src/index.ts';
import type { Session } from '../gateway/commands/program.ts';
import { GatewayError } from '../gateway/errors.ts';
import { reach, readEndpoint, readText } from './reach.ts';
import { openSecret, signMessage } from './signatures.ts';
import { createStored, generateSecret, nameFor, type Stored } from './state.ts';

const document = `subscription ($types: [String!], $after: EventCursor) {
  events(types: $types, after: $after) {
    __typename cursor type userId clientUserId teamId receivedAt payload ... on StreamReset { reason }
  }
}`;

const cursorOfNow = 'query ($types: [String!]) { eventCursor(types: $types) }';

/** An item of the team's stream, as the document asks for it. */
export interface Item {
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

/** The types of `--events a,b`; null for all. */
export function readTypes(events: unknown): readonly string[] | null {
  return typeof events === 'string' ? events.split(',').map((type) => type.trim()) : null;
}

/** The cursor after the newest event of these types. */
export async function readCursorOfNow(session: Session<null>): Promise<string> {
  const { client } = await reach(session);
  const variables = { types: readTypes(session.options.events) };
  const { eventCursor } = await client.query<{ readonly eventCursor: string }>(cursorOfNow, variables);
  return eventCursor;
}

/** The events after this cursor, as they come. `onConnected` is called each time the stream is open. */
export async function followEvents(session: Session<null>, after: string, onConnected?: () => void) {
  const { client } = await reach(session);
  const { signal, report } = session;
  const variables = { types: readTypes(session.options.events), after };
  const onOpen = () => {
    report('Connected.');
    onConnected?.();
  };
  const onRetry = ({ code }: LabgraphError) => report(`The stream was cut (${code}); it is resumed.`);
  const updates: Updates<{ readonly events: Item }> = client.follow(document, variables, {
    signal,
    onRetry,
    onOpen,
  });
  return updates;
}

/** Reports an error of the gateway, with what the person can do. @returns false: it is a fault */
export function explain(session: Session<null>, error: unknown, path?: string): false {
  if (!(error instanceof LabgraphError)) throw error;
  const { report } = session;
  const { code, message } = error;
  if (code === 'NETWORK_FAILED') {
    report(`The gateway does not answer at ${readEndpoint(session)}. Check LABGRAPH_URL or --url.`);
    return false;
  }
  const advice =
    code === 'BAD_CURSOR' && path !== undefined
      ? ` Delete ${path} to begin now; what came since is missed.`
      : '';
  report(`The gateway answered ${message === code ? code : `${code}: ${message}`}${advice}`);
  return false;
}

/** @throws GatewayError BAD_USER_INPUT */
export function readTarget(address: unknown): string {
  const url = typeof address === 'string' ? URL.parse(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const message =
      address === undefined
        ? 'Where are the events to be posted? Add --forward-to <url>. To see them here, use tail.'
        : '--forward-to takes an http or https address.';
    throw new GatewayError('BAD_USER_INPUT', message);
  }
  return url.href;
}

/**
 * The secret in the file of `--secret-file`; without one, the stored secret, which is generated and printed once.
 * @throws GatewayError BAD_USER_INPUT if the file does not contain a secret
 */
export async function findSecret({ settings, options, report }: Session<null>): Promise<string> {
  const file = options['secret-file'];
  if (typeof file === 'string') {
    const named = await readText(file);
    openSecret(named);
    return named;
  }
  const stored: Stored = createStored(settings.env, 'secret');
  const known = await stored.read();
  if (known !== null) return known;
  const secret = generateSecret();
  await stored.write(secret);
  report(`Forwarded events are signed with ${secret}, stored in ${stored.path}.`);
  return secret;
}

/** An event as it is posted. */
export interface Message {
  /** The same in each attempt, after a kill and when it is sent again. */
  readonly id: string;
  readonly body: string;
}

export function toMessage({ cursor, type, teamId, userId, clientUserId, payload }: Item): Message {
  const body = JSON.stringify({
    event_type: type,
    team_id: teamId,
    user_id: userId,
    client_user_id: clientUserId,
    data: payload,
  });
  return { id: `msg_${nameFor(cursor)}`, body };
}

interface Target {
  readonly target: string;
  readonly secret: string;
  readonly signal: AbortSignal;
}

/** Signs the message now and posts it. @returns the target's status; null when it did not answer in time */
export async function post(
  { id, body }: Message,
  { target, secret, signal }: Target,
): Promise<number | null> {
  const signed = signMessage(secret, id, body);
  try {
    const response = await fetch(target, {
      method: 'POST',
      redirect: 'manual',
      headers: { ...signed, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerTimeoutMs)]),
    });
    await response.body?.cancel();
    return response.status;
  } catch {
    return null;
  }
}
