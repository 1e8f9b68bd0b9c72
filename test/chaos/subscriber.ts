import { setTimeout as wait } from 'node:timers/promises';
import type { Subscribe } from '../support/subscribe.ts';

/** What went wrong at a subscriber, by kind; all must stay 0. */
export interface Violations {
  repeated: number;
  outOfOrder: number;
  wrongUser: number;
  resynced: number;
}

export interface Delivered {
  /** Items that told of a change. */
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

/** A subscriber that comes back with its cursor whatever happens, and notes what it is told. */
export interface Subscriber {
  readonly name: string;
  readonly violations: Violations;
  readonly delivered: Delivered;
  /** Whether it was told this version of an order, or a snapshot showed this one or a newer one. */
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
/** What a forgetful one hears before it begins anew. */
const shortMemory = 5;

export function startSubscriber({
  name,
  subscribe,
  address,
  wish,
  isByMessage,
  isForgetful,
}: SubscriberOptions): Subscriber {
  const violations: Violations = { repeated: 0, outOfOrder: 0, wrongUser: 0, resynced: 0 };
  const delivered: Delivered = { items: 0, streams: 0 };
  const versions = new Map<string, Set<number>>();
  const newest = new Map<string, number>();
  const snapshots = new Map<string, number>();
  const messages = new Set<number>();
  const opened = Promise.withResolvers<void>();
  let [after, isStopped]: [string | undefined, boolean] = [undefined, false];
  let leave = async () => {};

  const noteSnapshot = ({ orderId, version }: Item) => {
    if (version < (newest.get(orderId) ?? 0)) violations.outOfOrder += 1;
    snapshots.set(orderId, version);
    newest.set(orderId, version);
  };
  const noteChange = ({ orderId, version }: Item) => {
    const told = versions.get(orderId) ?? new Set();
    versions.set(orderId, told);
    if (told.has(version) || version === snapshots.get(orderId)) violations.repeated += 1;
    else if (version < (newest.get(orderId) ?? 0)) violations.outOfOrder += 1;
    told.add(version);
    newest.set(orderId, version);
  };
  const note = (item: Item, isFirst: boolean) => {
    // One that begins anew has not resumed.
    if (isFirst && (after !== undefined || delivered.streams === 0)) delivered.streams += 1;
    after = item.cursor;
    if (!wish.isMine(item)) violations.wrongUser += 1;
    if (item.kind === 'RESYNC' || item.kind === 'StreamReset') violations.resynced += 1;
    if (item.kind === 'StreamReset') return;
    if (item.kind === 'SNAPSHOT' || item.kind === 'RESYNC') {
      noteSnapshot(item);
      return;
    }
    delivered.items += 1;
    if (!isByMessage) noteChange(item);
    else if (item.message === null || messages.has(item.message)) violations.repeated += 1;
    else messages.add(item.message);
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
    let heard = 0;
    for (let result = await updates.next(); result !== null && !isStopped; result = await updates.next()) {
      if (result.errors !== undefined) throw new Error(JSON.stringify(result.errors));
      note(wish.read(result.data), heard === 0);
      heard += 1;
      opened.resolve();
      if (isForgetful && heard === shortMemory) {
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
    violations,
    delivered,
    knows: (orderId, version) =>
      version <= (snapshots.get(orderId) ?? 0) || versions.get(orderId)?.has(version) === true,
    messages,
    opened: opened.promise,
    stop: async () => {
      isStopped = true;
      await leave().catch(() => undefined);
      await following;
    },
  };
}
