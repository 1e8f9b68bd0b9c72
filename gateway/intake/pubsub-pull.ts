import {
  Duration,
  type Message,
  PubSub,
  type Subscription,
  SubscriptionCloseBehaviors,
} from '@google-cloud/pubsub';
import { createThrottle, type Log } from '../log.ts';
import { readBlob } from './decode.ts';
import type { Broker, Consumer, Take } from './intake.ts';

export interface PullOptions {
  /** `projects/<project>/subscriptions/<name>`. */
  readonly subscription: string;
  readonly log: Log;
}

/** How long a subscription that the library has given up stays closed. */
const reopenMs = 15_000;
/** The library tries again at least once in this time, so a second failure within it means that Pub/Sub is away. */
const retryMs = 60_000;

const settings = {
  // In hand at most: leased from Pub/Sub, and not yet durable.
  flowControl: { maxMessages: 200, maxBytes: 16 * 1024 * 1024, allowExcessMessages: false },
  // One stream, so that the messages of an ordering key come in their order.
  streamingOptions: { maxStreams: 1 },
  // What is not durable by then comes again.
  maxExtensionTime: Duration.from({ minutes: 10 }),
  closeOptions: {
    behavior: SubscriptionCloseBehaviors.WaitForProcessing,
    timeout: Duration.from({ seconds: 4 }),
  },
};

/** A pull subscription of Google Pub/Sub. The credentials are the environment's, as the library finds them. */
export function createPullBroker(options: PullOptions): Broker {
  const client = new PubSub({ projectId: options.subscription.split('/')[1] ?? '' });
  return {
    consume: (take) => new PullConsumer(client, take, options),
    close: () => client.close(),
  };
}

class PullConsumer implements Consumer {
  readonly #client: PubSub;
  readonly #take: Take;
  readonly #options: PullOptions;
  readonly #warnOfBroker = createThrottle();
  #subscription: Subscription;
  #reopening: NodeJS.Timeout | null = null;
  #isStopped = false;
  #failure = { at: Number.NEGATIVE_INFINITY, isRepeated: false };

  constructor(client: PubSub, take: Take, options: PullOptions) {
    this.#client = client;
    this.#take = take;
    this.#options = options;
    this.#subscription = this.#open();
  }

  /** Streams end several times an hour although all is well, so one failure alone does not count. */
  get isConsuming(): boolean {
    const { at, isRepeated } = this.#failure;
    return this.#reopening === null && !(isRepeated && Date.now() - at < retryMs);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#reopening !== null) clearTimeout(this.#reopening);
    await this.#subscription.close();
  }

  #open(): Subscription {
    this.#reopening = null;
    const subscription = this.#client.subscription(this.#options.subscription, settings);
    subscription.on('message', (message) => void this.#receive(message));
    subscription.on('debug', (failure) => this.#noteFailure(failure.error));
    subscription.on('error', (error) => this.#noteFailure(error));
    subscription.on('close', () => this.#reopenLater());
    this.#options.log.info('broker.consuming', { service: 'pubsub' });
    return subscription;
  }

  async #receive(message: Message): Promise<void> {
    this.#failure = { at: Number.NEGATIVE_INFINITY, isRepeated: false };
    const isDurable = await this.#take(readBlob(message.attributes, message.data));
    // What could not be acknowledged comes again, and is then known by its content.
    if (isDurable) await message.ackWithResponse().catch(() => undefined);
    else message.nack();
  }

  #noteFailure(error: unknown): void {
    const at = Date.now();
    this.#failure = { at, isRepeated: at - this.#failure.at < retryMs };
    this.#warnOfBroker(() => this.#options.log.warn('broker.unavailable', { service: 'pubsub', error }));
  }

  /** After an error that the library takes for final, such as a right that is missing. */
  #reopenLater(): void {
    if (this.#isStopped) return;
    this.#reopening = setTimeout(() => {
      this.#subscription = this.#open();
    }, reopenMs).unref();
  }
}
