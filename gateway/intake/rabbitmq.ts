import { setTimeout as sleep } from 'node:timers/promises';
import { type AsyncMessage, Connection, type Consumer, ConsumerStatus } from 'rabbitmq-client';
import { isGatewayError } from '../errors.ts';
import { createThrottle, type Log } from '../log.ts';
import type { Arrival, ReceiptOutcome, Receive } from '../webhooks/receiver.ts';
import { decode } from './decode.ts';

export interface RabbitIntakeOptions {
  /** With user and password: never logged. */
  readonly url: string;
  /** The operator declares and binds it. */
  readonly queue: string;
  /** Messages in hand at most: received, and neither durable nor returned. */
  readonly prefetch: number;
  readonly receive: Receive;
  /** Asked anew each time. */
  readonly isLogWritable: () => Promise<boolean>;
  readonly onOutcome: (outcome: ReceiptOutcome | 'unavailable') => void;
  readonly log: Log;
}

/** How long the connection waits after a failed attempt: doubled with each, up to the longer time, with jitter. */
const retry = { retryLow: 500, retryHigh: 15_000 } as const;
/** The pause between looks at a log that cannot be written. */
const lookMs = 500;
/** How long the end waits for a broker that does not answer. */
const closeMs = 5000;
/** A message that the log refuses so often, although it can be written, becomes a dead letter. */
const maxFailures = 3;

/**
 * Consumes the service's events from a queue of RabbitMQ. A message is acknowledged after it is durable, so whatever was
 * in hand when the gateway ended comes again, and the log knows it by its content. While the log cannot be written
 * nothing is consumed: the queue has its messages, in their order.
 */
export class RabbitIntake {
  readonly #options: RabbitIntakeOptions;
  readonly #connection: Connection;
  readonly #closing = new AbortController();
  readonly #warnOfBroker = createThrottle();
  #consumer: Consumer;
  /** Set while the log cannot be written. */
  #pausing: Promise<void> | null = null;
  #failing: { readonly body: Buffer; readonly times: number } | null = null;

  constructor(options: RabbitIntakeOptions) {
    this.#options = options;
    this.#connection = new Connection({ url: options.url, connectionName: 'labgraph', ...retry });
    this.#connection.on('error', (error) => this.#warn(error));
    this.#consumer = this.#consume();
  }

  /** False while the broker is away, or the log cannot be written. */
  get isConsuming(): boolean {
    return this.#pausing === null && this.#consumer.consumerTag !== '';
  }

  /** Finishes what is in hand; the queue has the rest. */
  async close(): Promise<void> {
    this.#closing.abort();
    const ending = async () => {
      await this.#pausing;
      await this.#consumer.close();
      await this.#connection.close();
    };
    await Promise.race([ending().catch(() => undefined), sleep(closeMs, undefined, { ref: false })]);
    this.#connection.unsafeDestroy();
  }

  #consume(): Consumer {
    const { queue, prefetch, log } = this.#options;
    const consumer = this.#connection.createConsumer(
      { queue, queueOptions: { passive: true }, qos: { prefetchCount: prefetch } },
      (message) => this.#take(message),
    );
    consumer.on('ready', () => log.info('broker.consuming', { service: 'rabbitmq' }));
    consumer.on('error', (error) => this.#warn(error));
    return consumer;
  }

  async #take(message: AsyncMessage): Promise<ConsumerStatus> {
    if (this.#pausing !== null) return ConsumerStatus.REQUEUE;
    const arrival: Arrival = {
      route: 'broker',
      messageId: null,
      receivedAt: new Date(),
      ...decode({ ...message, body: toBytes(message.body) }),
    };
    try {
      await this.#store(arrival);
      return ConsumerStatus.ACK;
    } catch (error) {
      this.#pause(error);
      return await this.#giveUp(arrival);
    }
  }

  async #store(arrival: Arrival): Promise<void> {
    this.#options.onOutcome(await this.#options.receive(arrival));
  }

  /** Returns the message to its queue, or stores it as a dead letter if it alone is what the log refuses. */
  async #giveUp(arrival: Arrival): Promise<ConsumerStatus> {
    const times = this.#failing?.body.equals(arrival.body) === true ? this.#failing.times + 1 : 1;
    this.#failing = { body: arrival.body, times };
    if (times < maxFailures) return ConsumerStatus.REQUEUE;
    this.#failing = null;
    return await this.#store({ ...arrival, isDecoded: false }).then(
      () => ConsumerStatus.ACK,
      () => ConsumerStatus.REQUEUE,
    );
  }

  /** Stops consuming until the log can be written. */
  #pause(error: unknown): void {
    const { onOutcome, log } = this.#options;
    onOutcome('unavailable');
    if (this.#pausing !== null) return;
    log.warn('broker.paused', { code: isGatewayError(error) ? error.code : 'INTERNAL', error });
    this.#pausing = this.#resumeWhenWritable();
  }

  async #resumeWhenWritable(): Promise<void> {
    // It fails only where the connection is gone, and the broker then has the messages already.
    await this.#consumer.close().catch(() => undefined);
    const { signal } = this.#closing;
    do {
      await sleep(lookMs, undefined, { signal }).catch(() => undefined);
    } while (!signal.aborted && !(await this.#options.isLogWritable()));
    this.#pausing = null;
    if (!signal.aborted) this.#consumer = this.#consume();
  }

  /** The library connects again by itself. */
  #warn(error: unknown): void {
    this.#warnOfBroker(() => this.#options.log.warn('broker.unavailable', { service: 'rabbitmq', error }));
  }
}

/** The library parses JSON and text that are not compressed, where it can. */
function toBytes(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  if (typeof body === 'string') return Buffer.from(body);
  try {
    return Buffer.from(JSON.stringify(body));
  } catch {
    // Nested too deeply to be an envelope.
    return Buffer.alloc(0);
  }
}
