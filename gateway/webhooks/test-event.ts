import { createHmac, randomUUID } from 'node:crypto';
import type { EventLog } from '../events/log.ts';

/** The type of events by which a gateway tries out its own address. */
const testEventType = 'labgraph.webhook.test';

const timeoutMs = 15_000;
const lookMs = 1000;

export interface TestEvent {
  readonly events: EventLog;
  /** Where the service sends webhooks of this gateway. */
  readonly url: string;
  readonly secret: string;
  readonly teamId: string;
}

/**
 * Sends an event as the service does, to the public address and signed with the secret, and waits up to 15 s until it is in
 * the event log. Whichever gateway over the log receives it counts.
 */
export async function sendTestEvent({ events, url, ...event }: TestEvent) {
  const start = await events.position();
  const messageId = `labgraph-test-${randomUUID()}`;
  const signal = AbortSignal.timeout(timeoutMs);
  if (!(await post(url, { ...event, messageId, signal }))) return 'NOT_ARRIVED';
  for (let after = start; !signal.aborted; ) {
    const batch = await events.read({ types: [testEventType] }, after, 1000);
    const found = batch.kind === 'events' ? batch.events : [];
    if (found.some((each) => each.messageId === messageId)) return 'ARRIVED';
    const apart = await events.deadLetters(start, 1000);
    if (apart.some((each) => each.messageId === messageId)) return 'OTHER_TEAM';
    const soon = AbortSignal.any([signal, AbortSignal.timeout(lookMs)]);
    const through = 'through' in batch ? batch.through : after;
    after = await events.wake({ types: [testEventType] }, through, soon);
  }
  return 'NOT_ARRIVED';
}

interface Sent {
  readonly secret: string;
  readonly teamId: string;
  readonly messageId: string;
  readonly signal: AbortSignal;
}

/** Whether the address answered 2xx. */
async function post(url: string, { secret, teamId, messageId, signal }: Sent): Promise<boolean> {
  const body = JSON.stringify({ event_type: testEventType, data: {}, team_id: teamId, user_id: null });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${messageId}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'svix-id': messageId,
    'svix-timestamp': timestamp,
    'svix-signature': `v1,${signature}`,
  };
  try {
    const response = await fetch(url, { method: 'POST', redirect: 'manual', signal, headers, body });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
