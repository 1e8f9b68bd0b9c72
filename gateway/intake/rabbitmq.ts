import { type AsyncMessage, Connection, ConsumerStatus } from 'rabbitmq-client';
import { createThrottle, type Log } from '../log.ts';
import { toBytes } from './decode.ts';
import type { Broker } from './intake.ts';

export interface RabbitOptions {
  /** With user and password: never logged. */
  readonly url: string;
  /** The operator declares and binds it. */
  readonly queue: string;
  /** Messages in hand at most: received, and neither durable nor returned. */
  readonly prefetch: number;
  readonly log: Log;
}

/** How long the connection waits after a failed attempt: doubled with each, up to the longer time, with jitter. */
const retry = { retryLow: 500, retryHigh: 15_000 } as const;

/** A queue of RabbitMQ. The library connects again by itself. */
export function createRabbitBroker({ url, queue, prefetch, log }: RabbitOptions): Broker {
  const warnOfBroker = createThrottle();
  const warn = (error: unknown) =>
    warnOfBroker(() => log.warn('broker.unavailable', { service: 'rabbitmq', error }));
  const connection = new Connection({ url, connectionName: 'labgraph', ...retry });
  connection.on('error', warn);
  return {
    consume: (take) => {
      const consumer = connection.createConsumer(
        { queue, queueOptions: { passive: true }, qos: { prefetchCount: prefetch } },
        async (message: AsyncMessage) => {
          // The library parses JSON and text that are not compressed, where it can.
          const isDurable = await take({ ...message, body: toBytes(message.body) });
          return isDurable ? ConsumerStatus.ACK : ConsumerStatus.REQUEUE;
        },
      );
      consumer.on('ready', () => log.info('broker.consuming', { service: 'rabbitmq' }));
      consumer.on('error', warn);
      return {
        get isConsuming() {
          return consumer.consumerTag !== '';
        },
        stop: () => consumer.close(),
      };
    },
    close: () => connection.close(),
    destroy: () => connection.unsafeDestroy(),
  };
}
