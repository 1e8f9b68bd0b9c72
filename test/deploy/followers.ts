import { setTimeout } from 'node:timers/promises';
import { gatewayKey, graphqlRequest } from '../support/lab.ts';
import { type Subscribe, subscribeOverSse, subscribeOverWebSocket } from '../support/subscribe.ts';

export const orderUpdates = `subscription ($orderId: ID!, $after: EventCursor) {
  orderUpdates(orderId: $orderId, after: $after) { cursor kind event { id } }
}`;

/** Subscribers of one order, each of which resumes with its cursor whenever its stream ends. */
export class Followers {
  readonly orderId: string;
  readonly received: readonly string[][];
  readonly #url: string;
  #isOver = false;
  opened = 0;
  /** How often a stream that was open has ended. */
  cut = 0;

  constructor(url: string, { orderId, count }: { readonly orderId: string; readonly count: number }) {
    this.#url = url;
    this.orderId = orderId;
    this.received = Array.from({ length: count }, () => []);
    this.received.forEach((ids, index) => {
      void this.#follow(index % 2 === 0 ? subscribeOverSse : subscribeOverWebSocket, ids);
    });
  }

  end(): void {
    this.#isOver = true;
  }

  /** The events of the order as the gateway lists them now. */
  async listEvents(): Promise<readonly string[]> {
    const asked = { query: `{ order(id: "${this.orderId}") { events { id } } }` };
    const { data } = await (await fetch(graphqlRequest(this.#url, asked, gatewayKey))).json();
    return data.order.events.map(({ id }: { id: string }) => id);
  }

  async #follow(subscribe: Subscribe, ids: string[]): Promise<void> {
    let after: string | undefined;
    while (!this.#isOver) {
      const resumesAfter = after;
      try {
        const stream = await subscribe({
          ...{ url: this.#url, token: gatewayKey, query: orderUpdates },
          variables: { orderId: this.orderId, after },
        });
        for (let item = await stream.next(); item !== null; item = await stream.next()) {
          const { cursor, event } = item.data.orderUpdates;
          if (after === undefined) this.opened += 1;
          after = cursor;
          if (event !== null) ids.push(event.id);
        }
      } catch {
        // The proxy or the gateway cut it: it resumes.
      }
      if (after !== resumesAfter) this.cut += 1;
      await setTimeout(50);
    }
  }
}

/** The followers of several orders. */
export class Following implements Disposable {
  readonly #orders: readonly Followers[];

  constructor(orders: readonly Followers[]) {
    this.#orders = orders;
  }

  get orderIds(): readonly string[] {
    return this.#orders.map(({ orderId }) => orderId);
  }

  /** How many have received their first item. */
  get opened(): number {
    return this.#sum(({ opened }) => opened);
  }

  /** How often any of them was cut off after an item. */
  get cut(): number {
    return this.#sum(({ cut }) => cut);
  }

  /** How many changes they have received, all together. */
  get items(): number {
    return this.#sum(({ received }) => received.reduce((sum, ids) => sum + ids.length, 0));
  }

  /** The orders of which a follower did not receive each of the last changes once and in order. */
  async findWrong(changes: number): Promise<readonly string[]> {
    const wrong: string[] = [];
    for (const followers of this.#orders) {
      const happened = (await followers.listEvents()).slice(-changes).join();
      if (followers.received.some((ids) => ids.join() !== happened)) wrong.push(followers.orderId);
    }
    return wrong;
  }

  [Symbol.dispose](): void {
    for (const followers of this.#orders) followers.end();
  }

  #sum(of: (followers: Followers) => number): number {
    return this.#orders.reduce((sum, followers) => sum + of(followers), 0);
  }
}
