import { useCallback, useEffect, useMemo, useState } from 'react';
import type { FollowOptions, LabgraphClient } from './client.ts';
import type { GraphQLDocument } from './document.ts';
import { LabgraphError } from './errors.ts';
import type { Updates } from './follow.ts';

/**
 * A function that calls the newest `getToken` and stays the same over all renders for one person: for
 * `createLabgraphClient({ token })` and for the `tokenProvider` of `<portal-launch>`.
 * @param person whose tokens they are: any value that changes with the person, for example the session
 */
export function usePortalToken<Reason>(
  getToken: (reason: Reason) => Promise<string>,
  person: unknown,
): (reason: Reason) => Promise<string> {
  // Each person has an object of their own: a client that outlives the change never gets a token of the next person.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the effect below brings a newer function.
  const newest = useMemo(() => ({ current: getToken }), [person]);
  useEffect(() => {
    newest.current = getToken;
  });
  return useCallback((reason: Reason) => newest.current(reason), [newest]);
}

/** What `useOrder` shows without a document of your own. */
export interface FollowedOrder {
  readonly id: string;
  readonly status: {
    readonly label: string;
    readonly stage: string | null;
    readonly isTerminal: boolean;
    readonly needsAttention: boolean;
  };
}

export interface OrderState<Order> {
  /** Null until the first item. */
  readonly order: Order | null;
  /** False while the connection is not there: the order may be older than the service's. */
  readonly isLive: boolean;
  /** What ended the updates for good; otherwise null. NOT_FOUND also when the order has moved to another user. */
  readonly error: LabgraphError | null;
}

/** A subscription to `orderUpdates` with the variables `$orderId` and `$after`. It selects `cursor` and `order`. */
export type OrderDocument<Order> = GraphQLDocument<
  { readonly orderUpdates: { readonly order: Order } },
  { orderId: string; after?: string | null }
>;

const statusOnly: OrderDocument<FollowedOrder> = `subscription FollowOrder($orderId: ID!, $after: EventCursor) {
  orderUpdates(orderId: $orderId, after: $after) {
    cursor
    order { id status { label stage isTerminal needsAttention } }
  }
}`;

const unknown = { order: null, isLive: false, error: null } as const;

/** Follows an order, from the first render with it to the last. */
export function useOrder(client: LabgraphClient, orderId: string): OrderState<FollowedOrder>;
/** @param document stays the same over all renders: define it outside of the component */
export function useOrder<Order>(
  client: LabgraphClient,
  orderId: string,
  document: OrderDocument<Order>,
): OrderState<Order>;
export function useOrder(
  client: LabgraphClient,
  orderId: string,
  document: OrderDocument<unknown> = statusOnly,
): OrderState<unknown> {
  const [{ shown, of }, setState] = useState<Shown>({ shown: unknown, of: null });
  useEffect(() => {
    const left = new AbortController();
    const change = (part: Partial<OrderState<unknown>>) => {
      if (left.signal.aborted) return;
      setState((before) => ({
        shown: { ...(isOf(before.of, client, orderId) ? before.shown : unknown), ...part },
        of: { client, orderId },
      }));
    };
    change(unknown);
    void showOrder(client.follow(document, { orderId }, toOptions(left.signal, change)), change);
    return () => left.abort();
  }, [client, orderId, document]);
  // Never the order of another id or person, not even for one render.
  return isOf(of, client, orderId) ? shown : unknown;
}

interface Shown {
  readonly shown: OrderState<unknown>;
  /** The order, and who asked for it. */
  readonly of: { readonly client: LabgraphClient; readonly orderId: string } | null;
}

function isOf(of: Shown['of'], client: LabgraphClient, orderId: string): boolean {
  return of?.client === client && of.orderId === orderId;
}

type Change = (part: Partial<OrderState<unknown>>) => void;

function toOptions(signal: AbortSignal, change: Change): FollowOptions {
  return {
    signal,
    onOpen: () => change({ isLive: true }),
    onRetry: () => change({ isLive: false }),
  };
}

async function showOrder(
  updates: Updates<{ readonly orderUpdates: { readonly order: unknown } }>,
  change: Change,
): Promise<void> {
  try {
    for await (const { orderUpdates } of updates) change({ order: orderUpdates.order, isLive: true });
    // The stream of one order is complete when the order has moved to another user.
    throw new LabgraphError('NOT_FOUND');
  } catch (cause) {
    // `follow` throws nothing else.
    const error = cause as LabgraphError;
    change({ isLive: false, error, ...(error.code === 'NOT_FOUND' ? { order: null } : {}) });
  }
}
