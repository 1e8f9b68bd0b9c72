import type { PortalError } from '../gateway/errors.ts';
import type { PortalOrder } from './order.ts';
import type { OrderFeed } from './order-feed.ts';
import type { ConnectionState, OrderListener, StatusSource } from './order-listener.ts';

/** How an element wants its order followed. `feed` is null while there is nothing to follow. */
export interface WatchWish {
  readonly feed: OrderFeed | null;
  readonly live: string;
  readonly isPaused: boolean;
  readonly pollIntervalSeconds: number;
}

/** A new state of the order, the previous one, and its source. */
export interface OrderChange {
  readonly order: PortalOrder;
  readonly previous: PortalOrder | null;
  readonly source: StatusSource;
}

/** Notifications of the watch to its element. */
export interface WatchListener {
  orderChanged(change: OrderChange): void;
  connectionChanged(connection: ConnectionState, previous: ConnectionState): void;
  orderFailed(error: PortalError): void;
}

/** Follows one order for one element: only while the element is in the page, visible and not paused. */
export interface OrderWatch {
  readonly order: () => PortalOrder | null;
  readonly connection: () => ConnectionState;
  readonly confirmedAt: () => number | null;
  /** The element came into the page; call the answer when it leaves. */
  readonly connect: () => () => void;
  /** To be called on every update of the element; does nothing when nothing changed. */
  readonly want: (wish: WatchWish) => void;
  /** Reads the order once; settles when it is read or has failed. */
  readonly refresh: () => Promise<void>;
  /** Retries after a failure. */
  readonly retry: () => Promise<void>;
}

export function createOrderWatch(host: Element, listener: WatchListener): OrderWatch {
  let wish: WatchWish = { feed: null, live: '', isPaused: false, pollIntervalSeconds: 0 };
  let order: PortalOrder | null = null;
  let connection: ConnectionState = 'idle';
  let isVisible = false;
  let isFollowing = false;
  /** The feed that has been read once for `live="off"`. */
  let readOnce: OrderFeed | null = null;

  const orderListener: OrderListener = {
    pollIntervalSeconds: () => wish.pollIntervalSeconds,
    orderChanged: (next, source) => {
      const previous = order;
      order = next;
      listener.orderChanged({ order, previous, source });
    },
    connectionChanged: (next) => {
      const previous = connection;
      connection = next;
      if (previous !== next) listener.connectionChanged(next, previous);
    },
    orderFailed: (error) => {
      if (error.code === 'NOT_FOUND') order = null;
      listener.orderFailed(error);
    },
  };

  function leave(): void {
    if (!isFollowing) return;
    isFollowing = false;
    wish.feed?.leave(orderListener);
    orderListener.connectionChanged(wish.isPaused ? 'closed' : 'idle');
  }

  function settle(): void {
    const { feed, live, isPaused } = wish;
    const isWanted = feed && !isPaused && host.isConnected && (live === 'always' || isVisible);
    if (!isWanted || live === 'off') leave();
    else if (!isFollowing) follow(feed);
    if (!isWanted || live !== 'off' || readOnce === feed) return;
    readOnce = feed;
    void feed.refresh(orderListener);
  }

  function follow(feed: OrderFeed): void {
    isFollowing = true;
    feed.follow(orderListener);
    // A listener of the page may have removed the element.
    if (!isFollowing) return;
    orderListener.connectionChanged(feed.connection());
    catchUp();
  }

  /** Shows the state that another element of the page has already received. */
  function catchUp(): void {
    const known = wish.feed?.order();
    if (known && known !== order) orderListener.orderChanged(known, 'snapshot');
  }

  const refresh = async (): Promise<void> => wish.feed?.refresh(orderListener);

  return {
    order: () => order,
    connection: () => connection,
    confirmedAt: () => wish.feed?.confirmedAt() ?? null,
    connect: () => {
      const observer = new IntersectionObserver((entries) => {
        isVisible = entries.at(-1)?.isIntersecting === true;
        settle();
      });
      observer.observe(host);
      return () => {
        observer.disconnect();
        isVisible = false;
        leave();
      };
    },
    want: (next) => {
      const isOther = next.feed !== wish.feed;
      if (isOther || next.pollIntervalSeconds !== wish.pollIntervalSeconds) leave();
      if (isOther) {
        // A read of the order before may still be under way: its late answer is not for this one.
        wish.feed?.leave(orderListener);
        order = null;
      }
      wish = next;
      if (!order) catchUp();
      settle();
    },
    refresh,
    retry: async () => {
      if (isFollowing) await wish.feed?.retry();
      else await refresh();
    },
  };
}
