import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createPortalClient } from '../../widget/src/client.ts';
import type { FakeSocket } from './support/fake-socket.ts';
import { kitAfter, ORDER_ID, REGISTRABLE_KIT } from './support/orders.ts';
import { installPage } from './support/scripted-page.ts';

const LAST = REGISTRABLE_KIT.length;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A gateway whose order is so many events old, and which says of it whatever a step makes it say. */
class Gateway {
  count = 1;
  /** How the next subscription with a cursor begins; afterwards in good order again. */
  resumption: 'replay' | 'resync' | 'bad cursor' | 'refused token' = 'replay';
  /** Answers to reads that were asked for and not given yet, each with what was true when it was asked. */
  readonly reads: (() => void)[] = [];
  #open: { readonly id: string; readonly socket: FakeSocket } | null = null;
  #left: FakeSocket[] = [];

  accepts(): boolean {
    return true;
  }

  received(socket: FakeSocket, message: Readonly<Record<string, unknown>>): void {
    if (message.type === 'connection_init') socket.say({ type: 'connection_ack' });
    if (message.type !== 'subscribe') return;
    const { variables } = message.payload as { variables: { after: string | null } };
    this.#open = { id: String(message.id), socket };
    this.#begin(variables.after);
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

  fall(code: number): void {
    if (!this.#open) return;
    const { socket } = this.#open;
    this.#left = [...this.#left, socket];
    this.#open = null;
    socket.fall(code);
  }

  #begin(after: string | null): void {
    const { resumption } = this;
    this.resumption = 'replay';
    if (after === null) this.say('SNAPSHOT', this.count);
    else if (resumption === 'resync') this.say('RESYNC', this.count);
    else if (resumption === 'bad cursor') this.#refuse('BAD_CURSOR');
    else if (resumption === 'refused token') this.#refuse('UNAUTHENTICATED');
    else {
      const from = Number(after.replace('cursor-', ''));
      for (let count = from + 1; count <= this.count; count += 1) this.say('CHANGED', count);
    }
  }

  #refuse(code: string): void {
    const payload = [{ message: 'Refused.', extensions: { code } }];
    this.#open?.socket.say({ type: 'error', id: this.#open.id, payload });
  }

  #sayOn(socket: FakeSocket, kind: string, count: number): void {
    const orderUpdates = { kind, order: kitAfter(count), event: null, cursor: `cursor-${count}` };
    const payload = { data: { orderUpdates } };
    socket.onmessage?.({ data: JSON.stringify({ type: 'next', id: this.#open?.id ?? '1', payload }) });
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
  const leave = feed.follow(listener);
  return { page, feed, shown, listener, leave };
}

type Followed = ReturnType<typeof followOrder>;
type Step = (gateway: Gateway, followed: Followed) => unknown;

const anyCount = fc.integer({ min: 1, max: LAST });

/** Everything that may happen between a gateway and a page, in any order. */
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  // The order moves; whether its subscriber hears of it is another step.
  fc.constant<Step>((gateway) => {
    gateway.count = Math.min(LAST, gateway.count + 1);
  }),
  fc
    .tuple(fc.constantFrom('CHANGED', 'RECONCILED', 'SNAPSHOT'), anyCount)
    .map(([kind, count]): Step => (gateway) => gateway.say(kind, Math.min(count, gateway.count))),
  anyCount.map((count): Step => (gateway) => gateway.sayLate(Math.min(count, gateway.count))),
  fc.constantFrom(1006, 1012, 4403).map((code): Step => (gateway) => gateway.fall(code)),
  fc.constantFrom('resync' as const, 'bad cursor' as const, 'refused token' as const).map(
    (resumption): Step =>
      (gateway) => {
        gateway.resumption = resumption;
      },
  ),
  fc.constant<Step>((_, { feed, listener }) => void feed.refresh(listener)),
  fc.constant<Step>((gateway) => gateway.reads.shift()?.()),
  fc.constantFrom(100, 5000, 60_000).map((ms): Step => () => vi.advanceTimersByTimeAsync(ms)),
  fc.constant<Step>((_, { page }) => page.dispatchEvent(new Event('online'))),
  fc.constant<Step>((_, { page }) => page.dispatchEvent(new Event('pagehide'))),
  fc.constant<Step>((_, { page }) => page.dispatchEvent(new Event('pageshow'))),
);

/** The page is there, the network holds, and nothing more happens. */
async function settle(gateway: Gateway, { page }: Followed): Promise<void> {
  page.dispatchEvent(new Event('pageshow'));
  for (let round = 0; round < 5; round += 1) {
    page.dispatchEvent(new Event('online'));
    await vi.advanceTimersByTimeAsync(40_000);
  }
  gateway.resumption = 'replay';
  // One more socket: what was lost on the way is told again from the last cursor.
  gateway.fall(1012);
  await vi.advanceTimersByTimeAsync(40_000);
}

describe('an order that is followed over any network', () => {
  test('ends in the state of the gateway, and never shows an older event after a newer one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), async (steps) => {
        const gateway = new Gateway();
        const followed = followOrder(gateway);
        await vi.advanceTimersByTimeAsync(0);
        for (const step of steps) {
          await step(gateway, followed);
          await vi.advanceTimersByTimeAsync(0);
        }
        await settle(gateway, followed);

        expect(followed.shown).toEqual(followed.shown.toSorted((a, b) => a - b));
        expect(followed.feed.order()?.events.length).toBe(gateway.count);
        expect(followed.feed.connection()).toBe('live');
        followed.leave();
        expect(vi.getTimerCount()).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});
