import type { NewMessage, StoredEvent } from '../../gateway/events/log.ts';

/** A message for the log; its body is an envelope that names it. */
export function newMessage(messageId: string, more: Partial<NewMessage> = {}): NewMessage {
  return {
    messageId,
    receivedAt: new Date('2026-03-01T12:00:00.123Z'),
    type: 'labtest.order.updated',
    userId: 'user-1',
    clientUserId: 'client-1',
    teamId: 'team-1',
    subject: null,
    origin: 'webhook',
    deadReason: null,
    body: Buffer.from(JSON.stringify({ data: { messageId } })),
    ...more,
  };
}

/** The event that the log returns for a message at a position. */
export function storedEvent({ deadReason: _, ...message }: NewMessage, position: number): StoredEvent {
  return { ...message, trace: message.trace ?? null, position };
}
