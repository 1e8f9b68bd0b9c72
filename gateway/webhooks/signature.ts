import { isUtf8 } from 'node:buffer';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createThrottle, type Log } from '../log.ts';

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
 * Reads the signature headers before the body is read. Headers are `webhook-*`, or the older `svix-*` of the
 * webhook sender (Svix). An id or timestamp in any unusual form is refused. The time is checked after the signature
 * (`createClockCheck`): a forger can write any time, and a signed message that is late has an outcome of its own.
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

/** How far a message's time may be off (the signature scheme's own bound). */
const toleranceSeconds = 300;
/** From here on somebody should look at a clock, before messages are refused. */
const noticeableSeconds = 60;

const advice =
  "Set this machine's clock; if it is right, the sender's is not, or messages are held up on their way.";

interface ClockOptions {
  readonly log: Log;
  /** Called for every signed message with the seconds between its signing and its arrival; negative for a future time. */
  readonly onOffset?: ((seconds: number) => void) | undefined;
}

/**
 * Checks how far the times of signed messages are off. The returned function says whether a message is within 300 s. It warns
 * of one that is not, and of one from 60 s on, each at most once a minute: whoever has seen a message can send it again.
 */
export function createClockCheck({ log, onOffset }: ClockOptions): (signedAtSeconds: number) => boolean {
  const warnOfStale = createThrottle();
  const warnOfClock = createThrottle();
  return (signedAtSeconds) => {
    const offSeconds = Math.floor(Date.now() / 1000) - signedAtSeconds;
    onOffset?.(offSeconds);
    if (Math.abs(offSeconds) > toleranceSeconds) {
      warnOfStale(() => log.warn('webhook.stale', { offSeconds, advice }));
      return false;
    }
    if (Math.abs(offSeconds) > noticeableSeconds)
      warnOfClock(() => log.warn('webhook.clock_off', { offSeconds, advice }));
    return true;
  };
}
