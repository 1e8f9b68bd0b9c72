import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Arrival, ReceiptOutcome, Receive } from '../webhooks/receiver.ts';
import { decode, type Encoded } from './decode.ts';

/** True when the message is durable and may be acknowledged, false when the broker must deliver it again. */
export type Take = (message: Encoded) => Promise<boolean>;

/** Consumes from a broker until it is stopped, and connects again by itself. */
export interface Consumer {
  /** False while the broker is away. */
  readonly isConsuming: boolean;
  /** Finishes what is in hand; the broker has the rest. */
  readonly stop: () => Promise<void>;
}

/** A broker that events are consumed from. */
export interface Broker {
  readonly consume: (take: Take) => Consumer;
  readonly close: () => Promise<void>;
  /** Cuts the connection if it could not be closed in time. */
  readonly destroy?: () => void;
}

export interface IntakeOptions {
  readonly receive: Receive;
  /** Asked anew each time. */
  readonly isLogWritable: () => Promise<boolean>;
  readonly onOutcome: (outcome: ReceiptOutcome | 'unavailable') => void;
  readonly log: Log;
}

/** The pause between looks at a log that cannot be written. */
const lookMs = 500;
/** How long the shutdown waits for a broker that does not answer. */
const closeMs = 5000;
/** A message that the log refuses so often, although it can be written, becomes a dead letter. */
const maxFailures = 3;

/**
 * Consumes the service's events from a broker. A message is acknowledged after it is durable, so whatever was in hand
 * when the gateway ended comes again, and the log knows it by its content. While the log cannot be written nothing is
 * consumed: the broker has its messages, in their order.
 */
export class Intake {
  readonly #broker: Broker;
  readonly #options: IntakeOptions;
  readonly #closing = new AbortController();
  #consumer: Consumer;
  /** Set while the log cannot be written. */
  #pausing: Promise<void> | null = null;
  #failing: { readonly body: Buffer; readonly times: number } | null = null;

  constructor(broker: Broker, options: IntakeOptions) {
    this.#broker = broker;
    this.#options = options;
    this.#consumer = this.#consume();
  }

  /** False while the broker is away, or the log cannot be written. */
  get isConsuming(): boolean {
    return this.#pausing === null && this.#consumer.isConsuming;
  }

  /** Finishes what is in hand; the broker has the rest. */
  async close(): Promise<void> {
    this.#closing.abort();
    const ending = async () => {
      await this.#pausing;
      await this.#consumer.stop();
      await this.#broker.close();
    };
    await Promise.race([ending().catch(() => undefined), sleep(closeMs, undefined, { ref: false })]);
    this.#broker.destroy?.();
  }

  #consume(): Consumer {
    return this.#broker.consume((message) => this.#take(message));
  }

  async #take(message: Encoded): Promise<boolean> {
    if (this.#pausing !== null) return false;
    const arrival: Arrival = {
      route: 'broker',
      messageId: null,
      receivedAt: new Date(),
      ...decode(message),
    };
    let isSentBack = false;
    const isRefused = () => {
      isSentBack = this.#pausing !== null;
      return isSentBack;
    };
    try {
      await this.#store({ ...arrival, isRefused });
      return true;
    } catch (error) {
      // One before it could not be stored. It must not pass that one, and may be in order itself.
      if (isSentBack) return false;
      this.#pause(error);
      return await this.#giveUp(arrival);
    }
  }

  async #store(arrival: Arrival): Promise<void> {
    this.#options.onOutcome(await this.#options.receive(arrival));
  }

  /** Returns the message to its broker, or stores it as a dead letter if it alone is what the log refuses. */
  async #giveUp(arrival: Arrival): Promise<boolean> {
    const times = this.#failing?.body.equals(arrival.body) === true ? this.#failing.times + 1 : 1;
    this.#failing = { body: arrival.body, times };
    if (times < maxFailures) return false;
    this.#failing = null;
    return await this.#store({ ...arrival, isDecoded: false }).then(
      () => true,
      () => false,
    );
  }

  /** Stops consuming until the log can be written. */
  #pause(error: unknown): void {
    const { onOutcome, log } = this.#options;
    onOutcome('unavailable');
    if (this.#pausing !== null) return;
    log.warn('broker.paused', { code: codeOf(error), error });
    this.#pausing = this.#resumeWhenWritable();
  }

  async #resumeWhenWritable(): Promise<void> {
    // It fails only where the connection is gone, and the broker then has the messages already.
    await this.#consumer.stop().catch(() => undefined);
    const { signal } = this.#closing;
    do {
      await sleep(lookMs, undefined, { signal }).catch(() => undefined);
    } while (!signal.aborted && !(await this.#options.isLogWritable()));
    this.#pausing = null;
    if (!signal.aborted) this.#consumer = this.#consume();
  }
}
