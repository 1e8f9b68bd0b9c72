import { z } from 'zod';
import { isGatewayError } from '../errors.ts';
import { createThrottle, type Log } from '../log.ts';
import { tryParseJson } from '../parse/json.ts';
import {
  announcedBytesOf,
  type BodyLimits,
  bodyOf,
  createBodyBuffer,
  type Holding,
  readBody,
} from '../webhooks/body-buffer.ts';
import type { ReceiveWebhook, WebhookConnection } from '../webhooks/endpoint.ts';
import type { ReceiptOutcome, Receive } from '../webhooks/receiver.ts';
import { type Decoded, decode, readBlob, undecoded } from './decode.ts';

export interface PubSubOptions {
  /** Whether the request's `authorization` is a token of the push subscription. */
  readonly isAuthorized: (authorization: string) => Promise<boolean>;
  readonly receive: Receive;
  readonly onOutcome: (outcome: ReceiptOutcome | 'unavailable') => void;
  readonly log: Log;
}

/**
 * An event of 1 MiB in base64 with the most attributes there can be (100 of 1,280 bytes) has less than 1.5 MiB. Google
 * pushes up to 10 MB, in base64 13.4: what no event can be is read to its end, and stored as a dead letter.
 */
const limits: BodyLimits = { heldBytes: 1.5 * 1024 * 1024, readBytes: 16 * 1024 * 1024 };

/**
 * The receiver of a push subscription of Google Pub/Sub: token -> body -> decode -> durable append -> 204. The token is
 * verified before the body is read. 401 without a valid token, 503 when the event could not be made durable: Pub/Sub
 * sends it again. What no retry can help is a dead letter and 204; 413 only for what Google cannot have sent.
 */
export function createPubSubEndpoint({ isAuthorized, ...options }: PubSubOptions): ReceiveWebhook {
  const beginBody = createBodyBuffer();
  const warnOfToken = createThrottle();
  const warnOfLog = createThrottle();
  return async (request, connection) => {
    if (!(await isAuthorized(request.headers.get('authorization') ?? ''))) {
      warnOfToken(() => options.log.warn('pubsub.refused', { code: 'UNAUTHENTICATED' }));
      return new Response(null, { status: 401 });
    }
    const announcedBytes = announcedBytesOf(request);
    if (announcedBytes > limits.readBytes) return new Response(null, { status: 413 });
    const held = Math.min(announcedBytes, limits.heldBytes);
    const holding = beginBody({ sender: connection?.sender ?? '', announcedBytes: held });
    if (holding === null) return tryAgain();
    try {
      return await take({ request, connection, holding }, options);
    } catch (error) {
      if (!isGatewayError(error, 'EVENT_LOG_UNAVAILABLE')) throw error;
      warnOfLog(() => options.log.warn('pubsub.unavailable', { code: error.code, error: error.cause }));
      options.onOutcome('unavailable');
      return tryAgain();
    } finally {
      holding.end();
    }
  };
}

interface Push {
  readonly request: Request;
  readonly connection: WebhookConnection | undefined;
  readonly holding: Holding;
}

/** @throws GatewayError EVENT_LOG_UNAVAILABLE */
async function take(
  { request, connection, holding }: Push,
  { receive, onOutcome }: Pick<PubSubOptions, 'receive' | 'onOutcome'>,
): Promise<Response> {
  const body = await readBody(connection?.body ?? bodyOf(request), holding, limits);
  if (body.kind === 'no-room') return tryAgain();
  const message = body.kind === 'whole' ? readPush(body.bytes) : body.start && undecoded(body.start);
  if (message === null) return new Response(null, { status: 413 });
  const arrival = { route: 'broker', messageId: null, receivedAt: new Date() } as const;
  onOutcome(await receive({ ...arrival, ...message }));
  return new Response(null, { status: 204 });
}

function tryAgain(): Response {
  return new Response(null, { status: 503, headers: { 'retry-after': '5' } });
}

/** The service's attributes are in `message.attributes`, and the event is in `message.data` (Pub/Sub: push). */
const pushShape = z.object({
  message: z.object({
    data: z.base64(),
    attributes: z.object({ 'blob-type': z.string(), 'blob-codec': z.string().optional() }),
  }),
});

/** Bytes that are no push are stored as they came. */
function readPush(bytes: Buffer): Decoded {
  const push = pushShape.safeParse(tryParseJson(bytes.toString('utf8'))).data;
  if (push === undefined) return undecoded(bytes);
  const { data, attributes } = push.message;
  return decode(readBlob(attributes, Buffer.from(data, 'base64')));
}
