import { homeEnvironment } from '../management/state.ts';
import { currentStatus, type Order } from '../orders/order.ts';
import { presentOrder } from '../orders/present.ts';
import { partsOf } from '../orders/states.ts';
import type { Save } from '../state-file.ts';
import { formatTimestamp } from '../world/clock.ts';
import type { OutgoingMessage } from '../world/state.ts';
import { findUser, type World } from '../world/world.ts';
import type { WebhookSender } from './sender.ts';

/** The user and the order of an event. */
export interface EventSubject {
  readonly userId: string;
  readonly orderId?: string;
}

/** Sends webhooks about changes. */
export interface Announcer {
  /** Sends an event of any type, known or unknown, and returns its message id. */
  readonly send: (eventType: string, payload: unknown, subject: EventSubject) => string;
  /** Sends the webhooks of the order's last event; none for a partial result that the team does not want. */
  readonly announce: (order: Order) => void;
}

interface AnnouncerParts {
  readonly world: World;
  readonly sender: WebhookSender;
  readonly save: Save;
}

/** Messages carry the envelope of every event (specification: Events) and leave once they are saved. */
export function createAnnouncer({ world, sender, save }: AnnouncerParts): Announcer {
  function send(eventType: string, payload: unknown, subject: EventSubject): string {
    const { counters, outbox } = world.state;
    counters.messages += 1;
    const message: OutgoingMessage = {
      messageId: `msg_${world.state.seed}_${String(counters.messages).padStart(8, '0')}`,
      eventType,
      orderId: subject.orderId ?? null,
      body: JSON.stringify({
        event_type: eventType,
        data: payload,
        team_id: world.teamId,
        user_id: subject.userId,
        client_user_id: findUser(world, subject.userId)?.clientUserId ?? null,
      }),
    };
    outbox.push(message);
    sender.send(message, save());
    return message.messageId;
  }

  function announce(order: Order): void {
    const { stage, step } = partsOf(currentStatus(order));
    if (step === 'partial_results' && !wantsPartialResults(world)) return;
    const subject = { userId: order.userId, orderId: order.id };
    const isFirst = step === 'ordered' || order.events.length === 1;
    const eventType = isFirst ? 'labtest.order.created' : 'labtest.order.updated';
    send(eventType, presentOrder(world, order), subject);
    if (stage === 'completed' && order.interpretation === 'critical') {
      send('labtest.result.critical', criticalResultOf(world, order), subject);
    }
  }

  return { send, announce };
}

/** A setting of the team (specification: Events). */
function wantsPartialResults({ state, teamId }: World): boolean {
  const home = state.management.teams.find(({ id }) => id === teamId);
  return home?.settings[homeEnvironment].partial_webhooks_enabled ?? false;
}

/** No values: the receiver reads the result itself (public service: labtest.result.critical). */
export function criticalResultOf(world: World, order: Order) {
  return {
    order_id: order.id,
    sample_id: order.sampleId,
    status: 'final',
    interpretation: order.interpretation,
    team_id: world.teamId,
    user_id: order.userId,
    created_at: formatTimestamp(order.createdAt),
    updated_at: formatTimestamp(order.updatedAt),
  };
}

/** Removes a message that will not be tried again. */
export function removeFromOutbox(world: World, message: OutgoingMessage): void {
  const { outbox } = world.state;
  const position = outbox.findIndex((each) => each.messageId === message.messageId);
  if (position >= 0) outbox.splice(position, 1);
}
