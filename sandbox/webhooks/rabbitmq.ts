import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Connection, Publisher } from 'rabbitmq-client';
import type { OutgoingMessage } from '../world/state.ts';

/** A broker that gets the events in place of a webhook endpoint (public service: ETL destinations). */
export interface BrokerDestination {
  /** Publishes the message once. True when the broker has confirmed it and a queue has it; rejects when it cannot be sent. */
  readonly publish: (message: OutgoingMessage) => Promise<boolean>;
  readonly close: () => Promise<void>;
}

/** Whether an address is `rabbitmq://user:password@host:port/vhost?exchange=name`. */
export function isRabbitAddress(url: string): boolean {
  return url.startsWith('rabbitmq:');
}

/** Larger messages are compressed (public service: `auto`). */
const maxPlainBytes = 1024;

/**
 * As the service publishes: the routing key is the type of the event, no message id, publisher confirms, mandatory. The
 * exchange, its queues and its bindings are the receiver's.
 */
export function createRabbitDestination(url: string): BrokerDestination {
  const { href, searchParams } = new URL(url);
  const exchange = searchParams.get('exchange') ?? 'amq.topic';
  let opening: Promise<{ connection: Connection; publisher: Publisher }> | null = null;
  let isReturned = false;
  const open = async () => {
    const { Connection: RabbitConnection } = await import('rabbitmq-client');
    const connection = new RabbitConnection({
      url: href.replace(/^rabbitmq:/, 'amqp:'),
      acquireTimeout: 5000,
    });
    // It connects again by itself, and a message that fails is sent again by the sender.
    connection.on('error', () => undefined);
    const publisher = connection.createPublisher({ confirm: true, maxAttempts: 1 });
    publisher.on('basic.return', () => {
      isReturned = true;
    });
    return { connection, publisher };
  };
  const publishOne = async ({ eventType, body }: OutgoingMessage): Promise<boolean> => {
    opening ??= open();
    const { publisher } = await opening;
    const plain = Buffer.from(body);
    const isLarge = plain.length > maxPlainBytes;
    const envelope = { exchange, routingKey: eventType, contentType: 'application/json' };
    isReturned = false;
    try {
      await publisher.send(
        { ...envelope, mandatory: true, durable: true, ...(isLarge ? { contentEncoding: 'gzip' } : {}) },
        isLarge ? gzipSync(plain) : plain,
      );
    } catch {
      return false;
    }
    // The library reports a returned message after its confirm.
    await nextTurn();
    return !isReturned;
  };
  // One at a time: a returned message does not say which one it was.
  let last: Promise<unknown> = Promise.resolve();
  return {
    publish: (message) => {
      const published = last.then(() => publishOne(message));
      last = published;
      return published;
    },
    close: async () => {
      if (opening === null) return;
      const { connection, publisher } = await opening;
      await publisher.close().catch(() => undefined);
      connection.unsafeDestroy();
    },
  };
}
