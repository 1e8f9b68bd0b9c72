import { timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

export interface SignedRequest {
  readonly headers: Headers;
  readonly body: Buffer;
}

export interface SignedMessage {
  /** The same over all retries of one message. */
  readonly messageId: string;
  /** When this attempt was signed, by the sender's clock, in seconds. */
  readonly signedAtSeconds: number;
}

/**
 * Finds out whether a message was signed by the service with one of the active secrets, whenever that was: how old
 * it may be is for `clock.ts` to say, so that what is only late can be told apart. Headers are `webhook-*` or the
 * carrier's older `svix-*`. Stricter than the library: an id or timestamp in any unusual form is refused, and so
 * are bytes that are not UTF-8, because the library signs text.
 * The function it makes gives null for what was not signed, without a word about which check failed.
 */
export function createSignatureCheck(
  secrets: readonly string[],
): (request: SignedRequest) => SignedMessage | null {
  const webhooks = secrets.map((secret) => new Webhook(secret));
  return ({ headers, body }) => {
    const signed = readSignedHeaders(headers);
    const text = body.toString('utf8');
    const isSigned =
      signed !== null &&
      Buffer.byteLength(text) === body.length &&
      Buffer.from(text).equals(body) &&
      webhooks.some((webhook) => isSignedBy(webhook, text, signed));
    return isSigned ? { messageId: signed.id, signedAtSeconds: signed.seconds } : null;
  };
}

interface SignedHeaders {
  readonly id: string;
  readonly seconds: number;
  readonly signature: string;
}

function readSignedHeaders(headers: Headers): SignedHeaders | null {
  const read = (name: string) => headers.get(`webhook-${name}`) ?? headers.get(`svix-${name}`) ?? '';
  const [id, timestamp, signature] = [read('id'), read('timestamp'), read('signature')];
  // No dot in an id: the signed text is `id.timestamp.body`, and must split in one way only.
  const isWellFormed =
    /^[\w:=-]{1,255}$/.test(id) && /^[1-9]\d{0,11}$/.test(timestamp) && signature.length <= 4096;
  return isWellFormed ? { id, seconds: Number(timestamp), signature } : null;
}

/** `signature` holds several, one of each secret that the sender signs with. */
function isSignedBy(webhook: Webhook, text: string, { id, seconds, signature }: SignedHeaders): boolean {
  const expected = Buffer.from(webhook.sign(id, new Date(seconds * 1000), text));
  return signature.split(' ').some((given) => {
    const bytes = Buffer.from(given);
    return bytes.length === expected.length && timingSafeEqual(bytes, expected);
  });
}
