import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createPortalClient } from '../../../widget/src/client/client.ts';
import type { FakeSocket } from '../../../widget/src/testing/fake-socket.ts';
import { kitAfter, ORDER_ID, REGISTRABLE_KIT } from '../support/orders.ts';
import { installPage } from '../support/scripted-page.ts';

const LAST = REGISTRABLE_KIT.length;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A gateway whose order has that many events; each step decides what it reports of the order. */
class Gateway {
  count = 1;
  /** How the next subscription with a cursor begins; afterwards in good order again. */
  resumption: 'replay' | 'resync' | 'bad cursor' | 'refused token' | 'ended' = 'replay';
  /** Answers to reads that were asked for and not given yet, each with what was true when it was asked. */
  readonly reads: (() => void)[] = [];
  #open: { readonly id: string; readonly socket: FakeSocket } | null = null;
  #left: readonly FakeSocket[] = [];
  #token = '';
  readonly #refusedTokens = new Set<string>();

  accepts(): boolean {
    return true;
  }

  received(socket: FakeSocket, message: Readonly<Record<string, unknown>>): void {
    if (message.type === 'connection_init') this.#greet(socket, message.payload as { authorization: string });
    if (message.type === 'ping') socket.say({ type: 'pong' });
    if (message.type !== 'subscribe') return;
    const { variables } = message.payload as { variables: { after: string | null } };
    this.#open = { id: String(message.id), socket };
    this.#begin(variables.after);
  }

  #greet(socket: FakeSocket, { authorization }: { authorization: string }): void {
    this.#token = authorization;
    if (this.#refusedTokens.has(authorization)) socket.fall(4403);
    else socket.say({ type: 'connection_ack' });
  }

  readonly answer = (): Promise<Response> => {
    const order = kitAfter(this.count);
    return new Promise((resolve) => {
      this.reads.push(() => resolve(Response.json({ data: { order } })));
    });
  };

  say(kind: string, count: number): void {
    if (this.#open) this.#sayOn(this.#open.socket, kind, count);
  }

  /** What an earlier socket still had on the way. */
  sayLate(count: number): void {
    for (const socket of this.#left) this.#sayOn(socket, 'SNAPSHOT', count);
  }

  /** A message that is cut off on its way. */
  garble(): void {
    this.#arrive(this.#open?.socket, '{"type":"next","id":"1","payl');
  }

  fall(code: number): void {
    if (!this.#open) return;
    const { socket } = this.#open;
    if (code === 4403) this.#refusedTokens.add(this.#token);
    this.#left = [...this.#left, socket];
    this.#open = null;
    socket.fall(code);
  }

  #begin(after: string | null): void {
    const { resumption } = this;
    this.resumption = 'replay';
    if (after === null) this.say('SNAPSHOT', this.count);
    else if (resumption === 'resync') this.say('RESYNC', this.count);
    else if (resumption === 'bad cursor') this.#end('error', 'BAD_CURSOR');
    else if (resumption === 'ended') this.#end('complete');
    else if (resumption === 'refused token') {
      this.#refusedTokens.add(this.#token);
      this.#end('error', 'UNAUTHENTICATED');
    } else {
      const from = Number(after.replace('cursor-', ''));
      for (let count = from + 1; count <= this.count; count += 1) this.say('CHANGED', count);
    }
  }

  #end(type: 'error' | 'complete', code = ''): void {
    const { id, socket } = this.#open ?? {};
    this.#open = null;
    socket?.say({ type, id, payload: [{ message: 'Refused.', extensions: { code } }] });
  }

  #sayOn(socket: FakeSocket, kind: string, count: number): void {
    const orderUpdates = { kind, order: kitAfter(count), event: null, cursor: `cursor-${count}` };
    const payload = { data: { orderUpdates } };
    this.#arrive(socket, JSON.stringify({ type: 'next', id: this.#open?.id ?? '1', payload }));
  }

  /** A browser passes nothing on that comes after a socket has begun to close. */
  #arrive(socket: FakeSocket | undefined, data: string): void {
    if (socket?.readyState === WebSocket.OPEN) socket.onmessage?.({ data });
  }
}

/** The order at a gateway, as one element follows it. */
function followOrder(gateway: Gateway) {
  const page = installPage(gateway);
  let tokens = 0;
  const client = createPortalClient({
    endpoint: 'https://gateway.test/graphql',
    tokenProvider: () => {
      tokens += 1;
      return { token: `token-${tokens}`, expiresAt: Date.now() + 60_000 };
    },
  });
  const shown: number[] = [];
  const listener = {
    pollIntervalSeconds: () => 30,
    orderChanged: (order: { readonly events: readonly unknown[] }) => shown.push(order.events.length),
    connectionChanged: () => {},
    orderFailed: () => {},
  };
  const feed = client.feed(ORDER_ID, false);
  feed.follow(listener);
  const leave = () => feed.leave(listener);
  return { page, feed, shown, listener, leave };
}

type Followed = ReturnType<typeof followOrder>;
/** One thing that happens; as values, so that a counterexample can be read. */
type Step =
  | { readonly kind: 'moves' | 'asks' | 'answers' | 'garbles' }
  | { readonly kind: 'says'; readonly as: string; readonly count: number }
  | { readonly kind: 'says late'; readonly count: number }
  | { readonly kind: 'falls'; readonly code: number }
  | { readonly kind: 'resumes'; readonly by: Gateway['resumption'] }
  | { readonly kind: 'waits'; readonly ms: number }
  | { readonly kind: 'page'; readonly event: string };

const anyCount = fc.integer({ min: 1, max: LAST });
const oneOf = <const Value>(...values: readonly Value[]) => fc.constantFrom(...values);

/** Everything that may happen between a gateway and a page, in any order. */
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: oneOf('moves', 'asks', 'answers', 'garbles') }),
  fc.record({ kind: oneOf('says'), as: oneOf('CHANGED', 'RECONCILED'), count: anyCount }),
  fc.record({ kind: oneOf('says late'), count: anyCount }),
  fc.record({ kind: oneOf('falls'), code: oneOf(1006, 1012, 4403) }),
  fc.record({ kind: oneOf('resumes'), by: oneOf('resync', 'bad cursor', 'refused token', 'ended') }),
  fc.record({ kind: oneOf('waits'), ms: oneOf(100, 5000, 60_000) }),
  fc.record({ kind: oneOf('page'), event: oneOf('online', 'offline', 'pagehide', 'pageshow') }),
);

async function take(step: Step, gateway: Gateway, { page, feed, listener }: Followed): Promise<void> {
  // The order moves; another step decides whether its subscriber is notified.
  if (step.kind === 'moves') gateway.count = Math.min(LAST, gateway.count + 1);
  if (step.kind === 'asks') void feed.refresh(listener);
  if (step.kind === 'answers') gateway.reads.shift()?.();
  if (step.kind === 'says') gateway.say(step.as, Math.min(step.count, gateway.count));
  if (step.kind === 'says late') gateway.sayLate(Math.min(step.count, gateway.count));
  if (step.kind === 'garbles') gateway.garble();
  if (step.kind === 'falls') gateway.fall(step.code);
  if (step.kind === 'resumes') gateway.resumption = step.by;
  if (step.kind === 'page') page.dispatchEvent(new Event(step.event));
  await vi.advanceTimersByTimeAsync(step.kind === 'waits' ? step.ms : 0);
}

/** The page is there, the network holds, time passes, and then one more update arrives. */
async function settle(gateway: Gateway, { page }: Followed): Promise<void> {
  page.dispatchEvent(new Event('pageshow'));
  gateway.resumption = 'replay';
  await vi.advanceTimersByTimeAsync(120_000);
  gateway.say('CHANGED', gateway.count);
}

describe('an order that is followed over any network', () => {
  test('ends in the state of the gateway, and never shows an older event after a newer one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 60, size: 'max' }), async (steps) => {
        vi.clearAllTimers();
        const gateway = new Gateway();
        const followed = followOrder(gateway);
        await vi.advanceTimersByTimeAsync(0);
        for (const step of steps) await take(step, gateway, followed);
        await settle(gateway, followed);

        expect(followed.shown).toEqual(followed.shown.toSorted((a, b) => a - b));
        expect(followed.feed.order()?.events.length).toBe(gateway.count);
        expect(followed.feed.connection()).toBe('live');
        followed.leave();
        // The socket closes in a microtask, so that an element may be moved.
        await Promise.resolve();
        expect(vi.getTimerCount()).toBe(0);
      }),
      { numRuns: 400 },
    );
  });
});
