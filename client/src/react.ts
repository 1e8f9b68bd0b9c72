import { useCallback, useEffect, useRef, useState } from 'react';
import type { FollowOptions, LabgraphClient } from './client.ts';
import type { GraphQLDocument } from './document.ts';
import type { LabgraphError } from './errors.ts';
import type { Updates } from './follow.ts';

/**
 * A function that stays the same over all renders and calls the newest `getToken`: for `createLabgraphClient({ token })`
 * and for the `tokenProvider` of `<portal-launch>`.
 */
export function usePortalToken<Reason>(
  getToken: (reason: Reason) => Promise<string>,
): (reason: Reason) => Promise<string> {
  const newest = useRef(getToken);
  useEffect(() => {
    newest.current = getToken;
  });
  return useCallback((reason: Reason) => newest.current(reason), []);
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
  /** What ended the updates for good; otherwise null. */
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
        shown: { ...(before.of === orderId ? before.shown : unknown), ...part },
        of: orderId,
      }));
    };
    change(unknown);
    void showOrder(client.follow(document, { orderId }, toOptions(left.signal, change)), change);
    return () => left.abort();
  }, [client, orderId, document]);
  // Never one order in place of another, not even for one render.
  return of === orderId ? shown : unknown;
}

interface Shown {
  readonly shown: OrderState<unknown>;
  /** The id of the order. */
  readonly of: string | null;
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
    change({ isLive: false });
  } catch (error) {
    // `follow` throws nothing else.
    change({ isLive: false, error: error as LabgraphError });
  }
}
