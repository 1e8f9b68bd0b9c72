import { setTimeout as wait } from 'node:timers/promises';
import type { Subscribe } from '../support/subscribe.ts';

/** Faults that a subscriber saw, by kind; all must stay 0. */
export interface Violations {
  repeated: number;
  outOfOrder: number;
  wrongUser: number;
  resynced: number;
}

export interface Delivered {
  /** Items that reported a change. */
  items: number;
  /** Streams that gave something: all but the first were resumed with a cursor. */
  streams: number;
}

/** An update of an order, or an event of the team: what each subscription boils down to. */
export interface Item {
  readonly cursor: string;
  readonly kind: string;
  readonly orderId: string;
  readonly userId: string;
  readonly version: number;
  /** The number of the message it came with, where the subscription shows it. */
  readonly message: number | null;
}

export interface Wish {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly token: () => Promise<string>;
  /** Reads what the subscription gave. */
  readonly read: (data: unknown) => Item;
  readonly isMine: (item: Item) => boolean;
}

/** A subscriber that reconnects with its cursor after each failure, and records each item. */
export interface Subscriber {
  readonly name: string;
  readonly violations: Violations;
  readonly delivered: Delivered;
  /** Whether it received this version of an order, or a snapshot showed this one or a newer one. */
  readonly knows: (orderId: string, version: number) => boolean;
  readonly messages: ReadonlySet<number>;
  /** Resolves when its first stream is open. */
  readonly opened: Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface SubscriberOptions {
  readonly name: string;
  readonly subscribe: Subscribe;
  readonly address: () => string;
  readonly wish: Wish;
  /** Whether each item is a message of its own (the team's stream) and not a newer version. */
  readonly isByMessage: boolean;
  /** Whether it forgets its cursor after a few items and begins anew, with a snapshot. */
  readonly isForgetful: boolean;
}

const retryWaitMs = 80;
/** A forgetful subscriber begins anew after so many items. */
const shortMemory = 5;

/** The items that a subscriber received, and the faults in them. */
class Receipts {
  readonly violations: Violations = { repeated: 0, outOfOrder: 0, wrongUser: 0, resynced: 0 };
  readonly delivered: Delivered = { items: 0, streams: 0 };
  readonly messages = new Set<number>();
  readonly #versions = new Map<string, Set<number>>();
  readonly #newest = new Map<string, number>();
  readonly #snapshots = new Map<string, number>();
  readonly #options: SubscriberOptions;

  constructor(options: SubscriberOptions) {
    this.#options = options;
  }

  knows(orderId: string, version: number): boolean {
    const ofSnapshot = this.#snapshots.get(orderId) ?? 0;
    return version <= ofSnapshot || this.#versions.get(orderId)?.has(version) === true;
  }

  add(item: Item): void {
    const { wish, isByMessage } = this.#options;
    if (!wish.isMine(item)) this.violations.wrongUser += 1;
    if (item.kind === 'RESYNC' || item.kind === 'StreamReset') this.violations.resynced += 1;
    if (item.kind === 'StreamReset') return;
    if (item.kind === 'SNAPSHOT' || item.kind === 'RESYNC') {
      this.#addSnapshot(item);
      return;
    }
    this.delivered.items += 1;
    if (isByMessage) this.#addMessage(item);
    else this.#addChange(item);
  }

  #addSnapshot({ orderId, version }: Item): void {
    if (version < (this.#newest.get(orderId) ?? 0)) this.violations.outOfOrder += 1;
    this.#snapshots.set(orderId, version);
    this.#newest.set(orderId, version);
  }

  #addChange({ orderId, version }: Item): void {
    const sent = this.#versions.get(orderId) ?? new Set();
    this.#versions.set(orderId, sent);
    if (sent.has(version) || version === this.#snapshots.get(orderId)) this.violations.repeated += 1;
    else if (version < (this.#newest.get(orderId) ?? 0)) this.violations.outOfOrder += 1;
    sent.add(version);
    this.#newest.set(orderId, version);
  }

  #addMessage({ message }: Item): void {
    if (message === null || this.messages.has(message)) this.violations.repeated += 1;
    else this.messages.add(message);
  }
}

export function startSubscriber(options: SubscriberOptions): Subscriber {
  const { name, subscribe, address, wish, isByMessage, isForgetful } = options;
  const receipts = new Receipts(options);
  const opened = Promise.withResolvers<void>();
  let [after, isStopped]: [string | undefined, boolean] = [undefined, false];
  let leave = async () => {};

  const note = (item: Item, isFirst: boolean) => {
    const { delivered } = receipts;
    // One that begins anew has not resumed.
    if (isFirst && (after !== undefined || delivered.streams === 0)) delivered.streams += 1;
    after = item.cursor;
    receipts.add(item);
  };
  const followOnce = async () => {
    const variables = { ...wish.variables, after };
    const updates = await subscribe({
      url: address(),
      token: await wish.token(),
      query: wish.query,
      variables,
    });
    leave = () => updates.close();
    // Stopped while this one was being opened: nobody else will close it.
    if (isStopped) return;
    // The team's stream begins with what comes next: there is no first item to wait for.
    if (isByMessage) opened.resolve();
    let received = 0;
    for (let result = await updates.next(); result !== null && !isStopped; result = await updates.next()) {
      if (result.errors !== undefined) throw new Error(JSON.stringify(result.errors));
      note(wish.read(result.data), received === 0);
      received += 1;
      opened.resolve();
      if (isForgetful && received === shortMemory) {
        after = undefined;
        return;
      }
    }
  };
  const following = (async () => {
    while (!isStopped) {
      await followOnce().catch(() => undefined);
      await leave().catch(() => undefined);
      if (!isStopped) await wait(retryWaitMs);
    }
  })();
  return {
    name,
    violations: receipts.violations,
    delivered: receipts.delivered,
    knows: (orderId, version) => receipts.knows(orderId, version),
    messages: receipts.messages,
    opened: opened.promise,
    stop: async () => {
      isStopped = true;
      await leave().catch(() => undefined);
      await following;
    },
  };
}
