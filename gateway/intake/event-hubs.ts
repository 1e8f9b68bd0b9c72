import {
  EventHubConsumerClient,
  earliestEventPosition,
  type PartitionContext,
  type ReceivedEventData,
} from '@azure/event-hubs';
import { createThrottle, type Log } from '../log.ts';
import { createCheckpointStore, type Marks } from './checkpoints.ts';
import { toBytes } from './decode.ts';
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
  /** Waits for nothing until it reads anew; 1,000 where left out. */
  readonly maxIdleWaits?: number;
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
/** With each wait for nothing the library allows the hub one more message in hand, and takes none back. */
const usualIdleWaits = 1000;

/**
 * An event hub of Azure. Each of its partitions is read in its order, one message after the other: more at once would let
 * the library hold messages without bound (decision 0117). Where no checkpoint is stored it is read from its beginning.
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
  readonly #maxIdleWaits: number;
  readonly #warnOfBroker = createThrottle();
  #subscription: ReturnType<EventHubConsumerClient['subscribe']>;
  #isStopped = false;
  #idleWaits = 0;
  isConsuming = false;

  constructor(
    client: EventHubConsumerClient,
    take: Take,
    { log, maxIdleWaits = usualIdleWaits }: EventHubsOptions,
  ) {
    this.#client = client;
    this.#take = take;
    this.#log = log;
    this.#maxIdleWaits = maxIdleWaits;
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
        processEvents: ([event], context) => this.#receive(event, context),
        processError: async (error) => {
          this.isConsuming = false;
          this.#warnOfBroker(() => this.#log.warn('broker.unavailable', { service: 'event-hubs', error }));
        },
      },
      {
        startPosition: earliestEventPosition,
        maxBatchSize: 1,
        prefetchCount: 1,
        maxWaitTimeInSeconds: waitSeconds,
        skipParsingBodyAsJson: true,
      },
    );
  }

  async #receive(event: ReceivedEventData | undefined, context: PartitionContext): Promise<void> {
    this.isConsuming = !this.#isStopped;
    if (event === undefined) return this.#noteIdleWait();
    const contentEncoding = event.properties?.['content-encoding'];
    const isDurable = await this.#take({
      contentType: event.contentType ?? 'application/json',
      ...(contentEncoding === undefined ? {} : { contentEncoding: String(contentEncoding) }),
      body: toBytes(event.body),
    });
    // Otherwise the consumer is being stopped, and the next one begins here.
    if (isDurable) await context.updateCheckpoint(event);
  }

  #noteIdleWait(): void {
    this.#idleWaits += 1;
    if (this.#idleWaits < this.#maxIdleWaits) return;
    this.#idleWaits = 0;
    void this.#renew();
  }

  async #renew(): Promise<void> {
    // It fails only where the lease could not be given back, and nothing is read then either.
    await this.#subscription.close().catch(() => undefined);
    if (!this.#isStopped) this.#subscription = this.#open();
  }
}
