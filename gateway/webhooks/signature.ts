import { isUtf8 } from 'node:buffer';
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Plausible signature headers of a request. */
export interface SignatureHeaders {
  /** The same over all retries of one message. */
  readonly messageId: string;
  /** When this attempt was signed, by the sender's clock, in seconds. */
  readonly signedAtSeconds: number;
  /** One signature for each secret of the sender. */
  readonly signatures: readonly Buffer[];
}

/** Space for 85 signatures. */
const maxSignatureLength = 4096;
/** A signature of version 1: 32 bytes of HMAC-SHA256 in base64. The header may also list other versions. */
const version1 = /^v1,[A-Za-z0-9+/]{43}=$/;

/**
 * Reads the signature headers before the body is read. Headers are `webhook-*` or the carrier's older `svix-*`. An id or
 * timestamp in any unusual form is refused. The time is checked after the signature (`clock.ts`): a forger can write any
 * time, and a signed message that is late has an outcome of its own.
 * @returns null for headers that the service cannot have signed
 */
export function readSignatureHeaders(headers: Headers): SignatureHeaders | null {
  const read = (name: string) => headers.get(`webhook-${name}`) ?? headers.get(`svix-${name}`) ?? '';
  const [messageId, timestamp, signature] = [read('id'), read('timestamp'), read('signature')];
  // No dot in an id: the signed text is `id.timestamp.body`, and must split in one way only.
  const isWellFormed =
    /^[\w:=-]{1,255}$/.test(messageId) &&
    /^[1-9]\d{0,11}$/.test(timestamp) &&
    signature.length <= maxSignatureLength;
  if (!isWellFormed) return null;
  const signatures = signature.split(' ').filter((each) => version1.test(each));
  if (signatures.length === 0) return null;
  return {
    messageId,
    signedAtSeconds: Number(timestamp),
    signatures: signatures.map((each) => Buffer.from(each)),
  };
}

/**
 * Checks that the service signed a message with one of the active secrets, at any time. Bytes that are not UTF-8 are
 * refused, because the sender signs text.
 * @param secrets `whsec_` and base64
 */
export function createSignatureCheck(
  secrets: readonly string[],
): (headers: SignatureHeaders, body: Buffer) => boolean {
  const keys = secrets.map((secret) => Buffer.from(secret.slice('whsec_'.length), 'base64'));
  return ({ messageId, signedAtSeconds, signatures }, body) => {
    if (!isUtf8(body)) return false;
    const prefix = `${messageId}.${signedAtSeconds}.`;
    return keys.some((key) => {
      const hmac = createHmac('sha256', key).update(prefix).update(body).digest('base64');
      const expected = Buffer.from(`v1,${hmac}`);
      return signatures.some((given) => timingSafeEqual(given, expected));
    });
  };
}
