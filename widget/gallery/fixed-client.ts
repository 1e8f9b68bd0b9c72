import type { PortalClient } from '../src/client/client.ts';
import { PortalError, type PortalErrorCode } from '../src/gateway/errors.ts';
import type { Fields } from '../src/gateway/fields.ts';
import { readOrder } from '../src/live/order.ts';
import type { OrderFeed } from '../src/live/order-feed.ts';
import type { ConnectionState, OrderListener } from '../src/live/order-listener.ts';
import type { FakeOrder } from '../src/testing/fake-order.ts';
import type { FakeResults } from '../src/testing/fake-results.ts';

/** What an element is to see, now and for good. */
export interface Fixed {
  readonly order?: FakeOrder;
  readonly connection?: ConnectionState;
  /** What the status fails with; without order and failure it loads for ever. */
  readonly fails?: PortalErrorCode;
  /** What a launch fails with; without one it opens for ever. */
  readonly launchFails?: PortalErrorCode;
  /** The address that a launch is given. */
  readonly portalUrl?: string;
  /** The results of the order; null: there are none. Without any they load for ever. */
  readonly results?: FakeResults | null;
  /** What the reading of the results fails with. */
  readonly resultsFail?: PortalErrorCode;
}

/** Five minutes before the page was opened. */
const CONFIRMED_AT = Date.now() - 300_000;

/** A client with a fixed state: no network, no timer. */
export function createFixedClient(fixed: Fixed): PortalClient {
  const feed = createFixedFeed(fixed);
  return {
    endpoint: 'https://gateway.test/graphql',
    // The same one every time, or the element would begin anew at every update.
    feed: () => feed,
    execute: async ({ query, variables, read }) => read(await answer(fixed, query, variables)),
  };
}

async function answer(fixed: Fixed, query: string, variables: Fields = {}): Promise<Fields> {
  if (query.startsWith('query PortalResults')) return answerResults(fixed, variables.full === true);
  if (query.startsWith('mutation PortalDocument')) return { document: { __typename: 'DocumentNotReady' } };
  const { launchFails, portalUrl } = fixed;
  if (launchFails) throw new PortalError(launchFails);
  return portalUrl ? { launch: { __typename: 'PortalUrl', url: portalUrl } } : new Promise(() => {});
}

async function answerResults({ order, results, resultsFail }: Fixed, isFull: boolean): Promise<Fields> {
  if (resultsFail) throw new PortalError(resultsFail);
  if (results === undefined) return new Promise(() => {});
  const part = isFull ? { results } : { resultMetadata: results?.metadata ?? null };
  return { order: { status: order?.status, ...part } };
}

function createFixedFeed({ order, connection = 'live', fails }: Fixed): OrderFeed {
  const shown = readOrder(order, true);
  const tell = async (listener: OrderListener) => {
    if (shown) listener.orderChanged(shown, 'snapshot');
    if (fails) listener.orderFailed(new PortalError(fails));
  };
  return {
    order: () => shown,
    connection: () => (shown ? connection : 'connecting'),
    confirmedAt: () => CONFIRMED_AT,
    follow: (listener) => queueMicrotask(() => tell(listener)),
    leave: () => {},
    refresh: tell,
    retry: async () => {},
  };
}
