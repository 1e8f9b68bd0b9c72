import { Webhook } from 'standardwebhooks';
import { GatewayError } from '../errors.ts';

export interface SignedRequest {
  readonly headers: Headers;
  readonly body: Buffer;
}

export interface VerifiedMessage {
  /** The same over all retries of one message. */
  readonly messageId: string;
}

/**
 * Checks that a message was signed by the service with one of the active secrets, at most 300 s ago or ahead.
 * Headers are `webhook-*` or the carrier's older `svix-*`. Stricter than the library: an id or timestamp in
 * any unusual form is refused, and so are bytes that are not UTF-8, because the library signs text.
 * The function it makes throws GatewayError WEBHOOK_UNVERIFIED; the message never says which check failed.
 */
export function createSignatureCheck(
  secrets: readonly string[],
): (request: SignedRequest) => VerifiedMessage {
  const webhooks = secrets.map((secret) => new Webhook(secret));
  return ({ headers, body }) => {
    const signed = readSignedHeaders(headers);
    const text = body.toString('utf8');
    const isSigned =
      signed !== null &&
      Buffer.byteLength(text) === body.length &&
      Buffer.from(text).equals(body) &&
      webhooks.some((webhook) => isSignedBy(webhook, text, signed));
    if (!isSigned) throw unverified();
    return { messageId: signed.id };
  };
}

interface SignedHeaders {
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
}

function readSignedHeaders(headers: Headers): SignedHeaders | null {
  const read = (name: string) => headers.get(`webhook-${name}`) ?? headers.get(`svix-${name}`) ?? '';
  const [id, timestamp, signature] = [read('id'), read('timestamp'), read('signature')];
  // No dot in an id: the signed text is `id.timestamp.body`, and must split in one way only.
  const isWellFormed =
    /^[\w:=-]{1,255}$/.test(id) && /^[1-9]\d{0,11}$/.test(timestamp) && signature.length <= 4096;
  return isWellFormed ? { id, timestamp, signature } : null;
}

function isSignedBy(webhook: Webhook, text: string, signed: SignedHeaders): boolean {
  try {
    webhook.verify(
      text,
      {
        'webhook-id': signed.id,
        'webhook-timestamp': signed.timestamp,
        'webhook-signature': signed.signature,
      },
      { jsonParse: false },
    );
    return true;
  } catch {
    return false;
  }
}

function unverified(): GatewayError {
  return new GatewayError(
    'WEBHOOK_UNVERIFIED',
    'The signature headers are missing, wrong or more than 300 seconds off.',
  );
}
