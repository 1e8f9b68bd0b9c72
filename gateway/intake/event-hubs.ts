import {
  EventHubConsumerClient,
  earliestEventPosition,
  type PartitionContext,
  type ReceivedEventData,
} from '@azure/event-hubs';
import { createThrottle, type Log } from '../log.ts';
import { createCheckpointStore, type Marks } from './checkpoints.ts';
import { type Encoded, toBytes } from './decode.ts';
import type { Broker, Consumer, Take } from './intake.ts';

export interface EventHubsOptions {
  /** With a key: never logged. */
  readonly connectionString: string;
  readonly hub: string;
  readonly consumerGroup: string;
  /** The event log's: its checkpoints are as durable as the events. */
  readonly marks: Marks;
  /** Whether other gateways write to this log, which then share the partitions. */
  readonly isShared: boolean;
  /** How many messages the hub may send beyond those that were asked for, until it is read anew; 1,000 where left out. */
  readonly maxSurplus?: number;
  readonly log: Log;
}

/** The library's loop tries again every `updateIntervalInMs`. */
const retryOptions = { maxRetries: 0, timeoutInMs: 10_000 };
const loadBalancingOptions = {
  strategy: 'greedy' as const,
  updateIntervalInMs: 5000,
  partitionOwnershipExpirationIntervalInMs: 20_000,
};
/** How long a partition is waited for; the library notices a lost connection at the end of a wait. */
const waitSeconds = 5;
/** At each wait the library lets the hub send another batch, and never withdraws what was not sent. */
const usualMaxSurplus = 1000;
/** After each first arrival the library waits 20 ms: batches of this size where many messages wait, else single ones. */
const largeBatch = 100;
const manyWaiting = 500;

/**
 * An event hub of Azure. Each of its partitions is read in its order: one message after the other, and in batches while
 * many wait, because batches let the library hold more than comes (decision 0117). Where no checkpoint is stored it is read
 * from its beginning.
 */
export function createEventHubsBroker(options: EventHubsOptions): Broker {
  const { connectionString, hub, consumerGroup } = options;
  const checkpoints = createCheckpointStore(options);
  const client = new EventHubConsumerClient(consumerGroup, connectionString, hub, checkpoints, {
    retryOptions,
    loadBalancingOptions,
  });
  return {
    consume: (take) => new HubConsumer(client, take, options),
    close: () => client.close(),
  };
}

class HubConsumer implements Consumer {
  readonly #client: EventHubConsumerClient;
  readonly #take: Take;
  readonly #log: Log;
  readonly #maxSurplus: number;
  readonly #warnOfBroker = createThrottle();
  #subscription: ReturnType<EventHubConsumerClient['subscribe']>;
  #isStopped = false;
  #isRenewing = false;
  #batchSize = 1;
  #surplus = 0;
  isConsuming = false;

  constructor(
    client: EventHubConsumerClient,
    take: Take,
    { log, maxSurplus = usualMaxSurplus }: EventHubsOptions,
  ) {
    this.#client = client;
    this.#take = take;
    this.#log = log;
    this.#maxSurplus = maxSurplus;
    this.#subscription = this.#open();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.isConsuming = false;
    await this.#subscription.close();
  }

  #open() {
    return this.#client.subscribe(
      {
        processInitialize: async () => {
          this.isConsuming = true;
          this.#log.info('broker.consuming', { service: 'event-hubs' });
        },
        processEvents: (events, context) => this.#receive(events, context),
        processError: async (error) => {
          this.isConsuming = false;
          this.#warnOfBroker(() => this.#log.warn('broker.unavailable', { service: 'event-hubs', error }));
        },
      },
      {
        startPosition: earliestEventPosition,
        maxBatchSize: this.#batchSize,
        prefetchCount: this.#batchSize,
        trackLastEnqueuedEventProperties: true,
        maxWaitTimeInSeconds: waitSeconds,
        skipParsingBodyAsJson: true,
      },
    );
  }

  async #receive(events: readonly ReceivedEventData[], context: PartitionContext): Promise<void> {
    this.isConsuming = !this.#isStopped;
    const areDurable = await Promise.all(events.map((event) => this.#take(toEncoded(event))));
    // The first that is not: the consumer is being stopped, and the next one begins there.
    const end = areDurable.indexOf(false);
    const last = events.slice(0, end === -1 ? events.length : end).at(-1);
    if (last !== undefined) await context.updateCheckpoint(last);
    this.#adapt(events, context);
  }

  /** Reads anew where many messages wait, and where the hub may send too many. */
  #adapt(
    events: readonly ReceivedEventData[],
    { lastEnqueuedEventProperties: newest }: PartitionContext,
  ): void {
    if (this.#isRenewing) return;
    this.#surplus += this.#batchSize - events.length;
    const here = events.at(-1)?.sequenceNumber;
    const areManyWaiting = here !== undefined && (newest?.sequenceNumber ?? here) - here >= manyWaiting;
    if (this.#surplus < this.#maxSurplus && (this.#batchSize > 1 || !areManyWaiting)) return;
    this.#batchSize = areManyWaiting ? largeBatch : 1;
    void this.#renew();
  }

  async #renew(): Promise<void> {
    this.#isRenewing = true;
    // It fails only where the lease could not be given back, and nothing is read then either.
    await this.#subscription.close().catch(() => undefined);
    this.#isRenewing = false;
    this.#surplus = 0;
    if (!this.#isStopped) this.#subscription = this.#open();
  }
}

function toEncoded({ properties, contentType, body }: ReceivedEventData): Encoded {
  // The service's documents spell it in two ways.
  const [, contentEncoding] =
    Object.entries(properties ?? {}).find(([name]) => name.toLowerCase() === 'content-encoding') ?? [];
  return {
    contentType: contentType ?? 'application/json',
    ...(contentEncoding === undefined ? {} : { contentEncoding: String(contentEncoding) }),
    body: toBytes(body),
  };
}
