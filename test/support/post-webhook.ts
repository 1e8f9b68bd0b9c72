import { createHmac } from 'node:crypto';
import { type Agent, request } from 'node:http';

export interface WebhookPostOptions {
  /** Where to post next. */
  readonly address: () => string;
  readonly agent: Agent;
  readonly timeoutMs: number;
}

/** Posts a message, signed with the secret, and resolves with the status of the answer; 0 when there was none. */
export function createWebhookPost({ address, agent, timeoutMs }: WebhookPostOptions) {
  return (message: { readonly id: string; readonly body: string }, secret: string): Promise<number> => {
    const body = Buffer.from(message.body);
    const timestamp = String(Math.floor(Date.now() / 1000));
    const headers = {
      'content-type': 'application/json',
      'content-length': String(body.length),
      'webhook-id': message.id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signWebhook(secret, { id: message.id, timestamp, body }),
    };
    return new Promise((resolve) => {
      const posting = request(
        `${address()}/webhooks`,
        { method: 'POST', agent, headers, timeout: timeoutMs },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      posting.on('timeout', () => posting.destroy(new Error('timeout')));
      posting.on('error', () => resolve(0));
      posting.end(body);
    });
  };
}

interface Signed {
  readonly id: string;
  /** Seconds. */
  readonly timestamp: string;
  readonly body: string | Buffer;
}

/** The signature scheme in its own words: HMAC-SHA256 of `id.timestamp.body` under the decoded secret. */
export function signWebhook(secret: string, { id, timestamp, body }: Signed): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}
