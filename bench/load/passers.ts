import { setTimeout as wait } from 'node:timers/promises';
import { createViewerTokens } from '../../gateway/auth/viewer-tokens.ts';
import { type Subscribed, subscribeOverSse, subscribeOverWebSocket } from '../../test/support/subscribe.ts';
import { nowMs } from '../support/clock.ts';
import { serveCalls } from '../support/load-process.ts';
import type { OwnedOrder } from './visitor.ts';

/** The process of subscribers that come and go. */
export type PassersCalls = typeof calls;

export interface Passing {
  readonly url: string;
  readonly viewerTokenSecret: string;
  readonly orders: readonly OwnedOrder[];
  /** How many are there at a time. */
  readonly count: number;
  /** How long one stays at most. */
  readonly stayMs: number;
  readonly seconds: number;
}

export interface Passed {
  streams: number;
  items: number;
  /** Streams that were refused or broke off, as while the service is away. */
  broken: number;
  /** Changes that came again, or after a later one: must stay 0. */
  wrong: number;
}

const query = `subscription ($id: ID!, $after: EventCursor) { orderUpdates(orderId: $id, after: $after) {
  cursor kind order { lastEvent { id } } } }`;
const retryMs = 200;
const ttlSeconds = 30;

const calls = {
  /** Each subscribes to one order after the other over SSE and WebSocket, leaves, and comes back with its cursor. */
  pass: async (passing: Passing): Promise<Passed> => {
    const passed: Passed = { streams: 0, items: 0, broken: 0, wrong: 0 };
    const endMs = nowMs() + passing.seconds * 1000;
    await Promise.all(
      Array.from({ length: passing.count }, (_, index) => passOne(passing, { index, endMs, passed })),
    );
    return passed;
  },
};

interface One {
  readonly index: number;
  readonly endMs: number;
  readonly passed: Passed;
}

/** The place in an order's stream at which a subscriber left. */
interface Place {
  cursor: string | undefined;
  version: number;
}

async function passOne(passing: Passing, { index, endMs, passed }: One): Promise<void> {
  const { mint } = createViewerTokens({ secrets: [passing.viewerTokenSecret], provider: null });
  // Orders of its own, a few: it comes back to each.
  const own = passing.orders.filter((_, at) => at % passing.count === index).slice(0, 3);
  const places = own.map((): Place => ({ cursor: undefined, version: 0 }));
  const subscribe = index % 2 === 0 ? subscribeOverSse : subscribeOverWebSocket;
  for (let turn = 0; nowMs() < endMs; turn += 1) {
    const [order, place] = [own[turn % own.length], places[turn % own.length]];
    if (order === undefined || place === undefined) return;
    const { userId, id } = order;
    const { token } = await mint({
      userId,
      scopes: ['read:orders'],
      ttlSeconds,
      orderIds: null,
      origins: null,
    });
    const variables = { id, after: place.cursor };
    const stream = await subscribe({ url: passing.url, token, query, variables }).catch(() => null);
    // No subscriber stays longer than the test.
    const stayMs = Math.min(Math.random() * passing.stayMs, endMs - nowMs());
    const leaving = setTimeout(() => void stream?.close().catch(() => undefined), stayMs);
    const isWhole = stream !== null && (await listen(stream, place, passed));
    clearTimeout(leaving);
    await stream?.close().catch(() => undefined);
    if (!isWhole) {
      passed.broken += 1;
      await wait(retryMs);
    }
  }
}

/** Until it left: true; false where it was refused. */
async function listen(stream: Subscribed, place: Place, passed: Passed): Promise<boolean> {
  passed.streams += 1;
  for (;;) {
    // A cut connection ends with or without an error.
    const result = await stream.next().catch(() => null);
    if (result === null) return true;
    if (result.errors !== undefined) return false;
    const { cursor, kind, order } = result.data.orderUpdates;
    const version = Number(order.lastEvent.id);
    if (kind === 'CHANGED' && version <= place.version) passed.wrong += 1;
    place.cursor = cursor;
    place.version = version;
    passed.items += 1;
  }
}

serveCalls(calls);
