import { Webhook } from 'standardwebhooks';
import type { OutgoingMessage } from '../world/world.ts';

/** A receiver has this long to answer (public service: 15 s). */
const answerTimeoutMs = 15_000;

/** How one message goes out once. */
interface Attempt {
  readonly url: string;
  readonly secret: string;
  readonly signal: AbortSignal;
}

/**
 * Posts the message once, signed at this moment. True when the receiver answered 2xx in time; a redirect is
 * a failure and is not followed (public service: delivery).
 */
export async function postSigned(message: OutgoingMessage, attempt: Attempt): Promise<boolean> {
  const at = new Date();
  try {
    const response = await fetch(attempt.url, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.any([attempt.signal, AbortSignal.timeout(answerTimeoutMs)]),
      headers: {
        'content-type': 'application/json',
        'user-agent': 'labgraph-sandbox',
        'svix-id': message.messageId,
        'svix-timestamp': String(Math.floor(at.getTime() / 1000)),
        'svix-signature': new Webhook(attempt.secret).sign(message.messageId, at, message.body),
      },
      body: message.body,
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
