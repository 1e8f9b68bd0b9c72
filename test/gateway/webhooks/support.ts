import { versionOfOrder } from '../../../gateway/domain/order/read/rest-order.ts';
import type { StoredEvent } from '../../../gateway/events/log.ts';
import { openEventStore } from '../../../gateway/events/open.ts';
import { createLog } from '../../../gateway/log.ts';
import { createWebhookEndpoint, type WebhookEndpointOptions } from '../../../gateway/webhooks/endpoint.ts';
import { createReceiver, type ReceiverOptions } from '../../../gateway/webhooks/receiver.ts';
import { makeFolder } from '../../support/folder.ts';
import { signWebhook } from '../../support/post-webhook.ts';

export const secretOf = (letter: string) => `whsec_${Buffer.alloc(32, letter).toString('base64')}`;
const secret = secretOf('a');
export const teamId = '6353bcab-3526-4838-8c92-063fa760fb6b';
export const userId = '0f2c8f5e-0000-4000-8000-000000000001';
export const orderId = '0f2c8f5e-0000-4000-8000-00000000000a';

/** An order event as the service sends it. */
export function orderEvent(more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    event_type: 'labtest.order.updated',
    data: {
      id: orderId,
      user_id: userId,
      team_id: teamId,
      status: 'received',
      events: [{ id: 7, status: 's' }],
    },
    team_id: teamId,
    user_id: userId,
    client_user_id: 'member-1',
    ...more,
  });
}

export interface Signing {
  readonly id?: string;
  readonly secret?: string;
  /** Seconds from now. */
  readonly age?: number;
  readonly prefix?: 'webhook' | 'svix';
}

export const nowSeconds = () => Math.floor(Date.now() / 1000);

export function signatureOf(body: string | Buffer, id: string, timestamp: string, by = secret): string {
  return signWebhook(by, { id, timestamp, body });
}

export function signedHeaders(body: string | Buffer, signing: Signing = {}): Record<string, string> {
  const { id = 'msg_1', prefix = 'webhook', age = 0 } = signing;
  const timestamp = String(nowSeconds() - age);
  return {
    [`${prefix}-id`]: id,
    [`${prefix}-timestamp`]: timestamp,
    [`${prefix}-signature`]: signatureOf(body, id, timestamp, signing.secret),
  };
}

export interface Delivery extends Signing {
  /** On top of the signed ones; null takes one away. */
  readonly headers?: Readonly<Record<string, string | null>>;
}

/** A webhook endpoint over a real SQLite log. */
export async function openEndpoint(more: Partial<WebhookEndpointOptions & ReceiverOptions> = {}) {
  const folder = makeFolder();
  const outcomes: string[] = [];
  const offsets: number[] = [];
  const logged: string[] = [];
  const log = createLog({ level: 'info', destination: { write: (line) => void logged.push(line) } });
  const location = { kind: 'sqlite', path: folder.file('events.db') } as const;
  const { log: events } = await openEventStore(location, { keys: [], log });
  const receiver = { events, log, subjectOf: versionOfOrder, teamId: async () => teamId, ...more };
  const receive = createWebhookEndpoint({
    secrets: async () => [secret],
    receive: createReceiver(receiver),
    log,
    onOutcome: (outcome) => outcomes.push(outcome),
    onClockOffset: (seconds) => offsets.push(seconds),
    ...more,
  });
  const post = (body: BodyInit, headers: Readonly<Record<string, string | null>>) => {
    const present = Object.entries(headers).flatMap(([name, value]) =>
      value === null ? [] : [[name, value]],
    );
    return receive(
      new Request('http://gateway.test/webhooks', {
        method: 'POST',
        headers: Object.fromEntries(present),
        body,
        ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
      }),
    );
  };
  return {
    events,
    outcomes,
    offsets,
    logged,
    post,
    /** Sends a body, signed by default, and returns the status of the answer. */
    deliver: async (body: string | Buffer, { headers = {}, ...signing }: Delivery = {}) => {
      const bytes = typeof body === 'string' ? body : new Uint8Array(body);
      return (await post(bytes, { ...signedHeaders(body, signing), ...headers })).status;
    },
    /** What subscribers of everything would be given. */
    delivered: async (): Promise<readonly StoredEvent[]> => {
      const batch = await events.read({}, 0, 100);
      return batch.kind === 'gap' ? [] : batch.events;
    },
    [Symbol.asyncDispose]: async () => {
      await events.close();
      folder[Symbol.dispose]();
    },
  };
}
