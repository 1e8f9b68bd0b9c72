import type { Command, Session } from '../gateway/commands/program.ts';
import { GatewayError } from '../gateway/errors.ts';
import { explain, findSecret, followEvents, post, readTarget, toMessage } from './forwarding.ts';
import { reach, reachOptions } from './reach.ts';

const document = `mutation ($input: ResendOrderEventsInput!) {
  resendOrderEvents(input: $input) { __typename ... on OrderEventsResent { orderIds } ... on UserError { message } }
}`;

interface Answer {
  readonly resendOrderEvents: {
    readonly __typename: string;
    readonly orderIds?: readonly string[];
    readonly message?: string;
  } | null;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** An event of the log comes at once. */
const eventTimeoutMs = 15_000;

/** Lets an order's event or an event of the log come again. */
export const resend: Command<null> = {
  usage: '<order | after> [--forward-to <url>] [--events <type,type>] [--secret-file <file>]',
  summary:
    'an order: the service sends its last event to the gateway again, and so to every listener; `after` as listen and tail print it, with the same --events: the event is posted to the address again, under its id, signed now',
  options: {
    ...reachOptions,
    'forward-to': { type: 'string' },
    events: { type: 'string' },
    'secret-file': { type: 'string' },
  },
  examples: [
    '4c2c1d9e-7a55-4c0b-9f0e-2b1f6a1f3d10',
    'eyJ… --forward-to http://localhost:3000/webhooks --events labtest.order.updated',
  ],
  run: async (session) => {
    const [place, ...more] = session.words;
    if (place === undefined || more.length > 0)
      throw new GatewayError(
        'BAD_USER_INPUT',
        'Name one order, or one `after` that listen or tail has printed.',
      );
    try {
      return await (uuid.test(place) ? resendOrder(session, place) : resendEvent(session, place));
    } catch (error) {
      return explain(session, error);
    }
  },
};

async function resendOrder(session: Session<null>, orderId: string): Promise<boolean> {
  const { client } = await reach(session);
  const { resendOrderEvents: answer } = await client.mutate<Answer>(document, {
    input: { orderIds: [orderId] },
  });
  const orderIds = answer?.orderIds ?? [];
  if (orderIds.length > 0) {
    await session.print({ orderIds });
    return true;
  }
  session.report(answer?.message ?? 'The service has sent nothing: it knows no event of this order.');
  return false;
}

async function resendEvent(session: Session<null>, after: string): Promise<boolean> {
  const { options, print, report } = session;
  if (options['forward-to'] === undefined)
    throw new GatewayError(
      'BAD_USER_INPUT',
      'This is no id of an order. If it is an `after` that listen or tail has printed, add --forward-to <url>.',
    );
  const target = readTarget(options['forward-to']);
  const secret = await findSecret(session);
  const signal = AbortSignal.any([session.signal, AbortSignal.timeout(eventTimeoutMs)]);
  let wasConnected = false;
  const onConnected = () => {
    wasConnected = true;
  };
  for await (const { events } of await followEvents({ ...session, signal }, after, onConnected)) {
    if (events.__typename === 'StreamReset') {
      report('RESYNC: the history after this cursor is gone.');
      return false;
    }
    const message = toMessage(events);
    const status = await post(message, { target, secret, signal: session.signal });
    await print({ type: events.type, id: message.id, after, status });
    return status !== null && status >= 200 && status < 300;
  }
  if (session.signal.aborted) return false;
  report(wasConnected ? 'No event comes after this cursor.' : 'The gateway does not answer.');
  return false;
}
