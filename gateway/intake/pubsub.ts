import { z } from 'zod';
import { isGatewayError } from '../errors.ts';
import { createThrottle, type Log } from '../log.ts';
import { parseJson } from '../parse/json.ts';
import {
  announcedBytesOf,
  bodyOf,
  createBodyBuffer,
  type Holding,
  maxBodyBytes,
  readBody,
} from '../webhooks/body-buffer.ts';
import type { ReceiveWebhook, WebhookConnection } from '../webhooks/endpoint.ts';
import type { ReceiptOutcome, Receive } from '../webhooks/receiver.ts';
import { type Decoded, decode } from './decode.ts';

export interface PubSubOptions {
  /** Whether the request's `authorization` is a token of the push subscription. */
  readonly isAuthorized: (authorization: string) => Promise<boolean>;
  readonly receive: Receive;
  readonly onOutcome: (outcome: ReceiptOutcome | 'unavailable') => void;
  readonly log: Log;
}

/**
 * The receiver of a push subscription of Google Pub/Sub: token -> body -> decode -> durable append -> 204. The token is
 * verified before the body is read. 401 without a valid token, 413 too large, 503 when the event could not be made
 * durable: Pub/Sub sends it again.
 */
export function createPubSubEndpoint({ isAuthorized, ...options }: PubSubOptions): ReceiveWebhook {
  const beginBody = createBodyBuffer();
  const warnOfToken = createThrottle();
  return async (request, connection) => {
    if (!(await isAuthorized(request.headers.get('authorization') ?? ''))) {
      warnOfToken(() => options.log.warn('pubsub.refused', { code: 'UNAUTHENTICATED' }));
      return new Response(null, { status: 401 });
    }
    const announcedBytes = announcedBytesOf(request);
    if (announcedBytes > maxBodyBytes) return new Response(null, { status: 413 });
    const holding = beginBody({ sender: connection?.sender ?? '', announcedBytes });
    if (holding === null) return tryAgain();
    try {
      return await take({ request, connection, holding }, options);
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

async function take(
  { request, connection, holding }: Push,
  { receive, onOutcome, log }: Omit<PubSubOptions, 'isAuthorized'>,
): Promise<Response> {
  const body = await readBody(connection?.body ?? bodyOf(request), holding);
  if (body.kind === 'too-large') return new Response(null, { status: 413 });
  if (body.kind === 'no-room') return tryAgain();
  try {
    const arrival = { route: 'broker', messageId: null, receivedAt: new Date() } as const;
    onOutcome(await receive({ ...arrival, ...readPush(body.bytes) }));
    return new Response(null, { status: 204 });
  } catch (error) {
    if (!isGatewayError(error, 'EVENT_LOG_UNAVAILABLE')) throw error;
    log.warn('pubsub.unavailable', { code: error.code, error: error.cause });
    onOutcome('unavailable');
    return tryAgain();
  }
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
  const push = pushShape.safeParse(parseOrNull(bytes)).data;
  if (push === undefined) return { body: bytes, isDecoded: false };
  const { data, attributes } = push.message;
  const contentEncoding = attributes['blob-codec'];
  return decode({
    contentType: attributes['blob-type'] === 'json' ? 'application/json' : 'unknown',
    ...(contentEncoding === undefined ? {} : { contentEncoding }),
    body: Buffer.from(data, 'base64'),
  });
}

function parseOrNull(bytes: Buffer): unknown {
  try {
    return parseJson(bytes.toString('utf8'));
  } catch {
    return null;
  }
}
