import { expect } from 'vitest';
import type { FollowOptions, LabgraphClient } from '../../client/src/client.ts';
import type { LabgraphError } from '../../client/src/errors.ts';
import type { Updates } from '../../client/src/follow.ts';

interface OrderChange {
  readonly orderUpdates: {
    readonly kind: string;
    readonly event: { readonly id: string } | null;
  };
}

const document = `subscription FollowedOrder($orderId: ID!, $after: EventCursor) {
  orderUpdates(orderId: $orderId, after: $after) { cursor kind event { id } }
}`;

/** Follows an order, and records what it was shown. */
export class Follower {
  readonly kinds: string[] = [];
  readonly eventIds: string[] = [];
  /** The codes of what cut the stream. */
  readonly cuts: string[] = [];
  readonly #client: LabgraphClient;
  readonly #updates: Updates<OrderChange>;

  constructor(client: LabgraphClient, orderId: string, transport: FollowOptions['transport']) {
    this.#client = client;
    const onRetry = ({ code }: LabgraphError) => void this.cuts.push(code);
    this.#updates = client.follow<OrderChange>(document, { orderId }, { transport, onRetry });
  }

  /** Another follower over the same socket. */
  beside(orderId: string): Follower {
    return new Follower(this.#client, orderId, 'websocket');
  }

  async takeOne(): Promise<void> {
    const { value } = await this.#updates.next();
    expect(value).toBeDefined();
    this.kinds.push(value?.orderUpdates.kind ?? '');
    if (value?.orderUpdates.event) this.eventIds.push(value.orderUpdates.event.id);
  }

  async takeUntil(count: number): Promise<void> {
    while (this.eventIds.length < count) await this.takeOne();
  }

  async leave(): Promise<void> {
    await this.#updates.return();
  }
}

export const transports = ['websocket', 'sse', 'multipart'] as const;
