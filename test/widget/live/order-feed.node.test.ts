import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { OrderGateway, openPage } from '../support/order-gateway.ts';
import { ORDER_ID } from '../support/orders.ts';

const NOON = Date.UTC(2026, 2, 2, 12);
const HOUR_MS = 3_600_000;
const pass = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers({ now: NOON });
});

afterEach(() => {
  vi.useRealTimers();
});

describe.each(['NOT_FOUND', 'BAD_USER_INPUT'])('an order that the gateway refuses with %s', (refusal) => {
  const reported = refusal === 'NOT_FOUND' ? refusal : 'INPUT_REJECTED';

  test('is reported once and not asked for again over the socket', async () => {
    const gateway = new OrderGateway();
    gateway.refusal = refusal;
    const { feed, seen } = openPage(gateway).follow();

    await pass(HOUR_MS);

    expect([seen.errors, gateway.asked, feed.connection()]).toEqual([
      [reported],
      { live: 1, read: 0 },
      'closed',
    ]);
  });

  test('is reported once and not asked for again where it is read over HTTP', async () => {
    const gateway = new OrderGateway();
    gateway.refusal = refusal;
    gateway.opens = false;
    const { seen } = openPage(gateway).follow();

    await pass(HOUR_MS);
    const { length } = gateway.sockets;
    await pass(HOUR_MS);

    expect([seen.errors, gateway.asked.read, gateway.sockets.length]).toEqual([[reported], 1, length]);
  });

  test('is asked for once more by retry, and then followed where it is there', async () => {
    const gateway = new OrderGateway();
    gateway.refusal = refusal;
    const { feed } = openPage(gateway).follow();
    await pass(HOUR_MS);
    gateway.refusal = null;

    await feed.retry();
    await pass();

    expect([gateway.asked, feed.connection()]).toEqual([{ live: 2, read: 0 }, 'live']);
  });
});

test('an order that no token may read is not reported as live between two refusals', async () => {
  const gateway = new OrderGateway();
  gateway.refusal = 'FORBIDDEN';
  const { seen } = openPage(gateway).follow();

  await pass(HOUR_MS);

  expect([gateway.asked.live > 100, seen.connections]).toEqual([true, ['connecting', 'live', 'connecting']]);
});

describe('an order whose stream is complete', () => {
  test('is gone at once where it has moved to another user: nothing of it stays on screen', async () => {
    const gateway = new OrderGateway();
    const { feed, seen } = openPage(gateway).follow();
    await pass(1000);
    gateway.hasMoved = true;

    gateway.complete();
    await pass();

    const shown = [seen.errors, feed.order(), feed.connection(), gateway.asked];
    expect(shown).toEqual([['NOT_FOUND'], null, 'closed', { live: 2, read: 0 }]);
  });

  test('is gone at once where it has moved while the page was away', async () => {
    const gateway = new OrderGateway();
    const { page, follow } = openPage(gateway);
    const { feed, seen } = follow();
    await pass(1000);
    page.dispatchEvent(new Event('pagehide'));
    gateway.hasMoved = true;

    page.dispatchEvent(new Event('pageshow'));
    await pass();

    expect([seen.errors, feed.order(), feed.connection()]).toEqual([['NOT_FOUND'], null, 'closed']);
  });

  test('goes on where it is still there', async () => {
    const gateway = new OrderGateway();
    const { feed, seen } = openPage(gateway).follow();
    await pass(1000);

    gateway.complete();
    await pass();

    expect([seen.errors, feed.connection(), gateway.asked.live]).toEqual([[], 'live', 2]);
  });
});

describe('an element that comes later', () => {
  test('gets the reason why the order is not there, without another question', async () => {
    const gateway = new OrderGateway();
    gateway.refusal = 'NOT_FOUND';
    const { follow } = openPage(gateway);
    follow();
    await pass();

    const { seen } = follow();
    await pass();

    expect([seen.errors, gateway.asked.live]).toEqual([['NOT_FOUND'], 1]);
  });

  test('asks anew when every element before it has left', async () => {
    const gateway = new OrderGateway();
    gateway.refusal = 'NOT_FOUND';
    const { follow } = openPage(gateway);
    const { leave } = follow();
    await pass();
    leave();
    gateway.refusal = null;

    const { feed } = follow();
    await pass();

    expect(feed.connection()).toBe('live');
  });
});

describe('an order that is read over HTTP', () => {
  test('is not called checked while reading fails, and shows the time of the last answer', async () => {
    const gateway = new OrderGateway();
    gateway.opens = false;
    const { feed, seen } = openPage(gateway).follow();
    await pass(30_000);
    expect(feed.connection()).toBe('polling');
    const checkedAt = feed.confirmedAt();

    gateway.isReachable = false;
    await pass(5 * 60_000);
    const whileFailing = [feed.connection(), feed.confirmedAt()];
    gateway.isReachable = true;
    await pass(30_000);

    expect([whileFailing, feed.connection(), seen.errors.length > 0]).toEqual([
      ['stale', checkedAt],
      'polling',
      true,
    ]);
  });

  test('is read as soon as one open socket has carried nothing for 20 s, as behind some proxies', async () => {
    const gateway = new OrderGateway();
    gateway.answersSockets = false;
    const { feed } = openPage(gateway).follow();

    // The next socket opens 0.8 s after the first has ended, or later.
    await pass(20_500);

    expect([feed.connection(), feed.order()?.id, gateway.sockets.length]).toEqual(['polling', ORDER_ID, 1]);
  });

  test('is never called checked before the first answer', async () => {
    const gateway = new OrderGateway();
    gateway.opens = false;
    gateway.isReachable = false;
    const { seen } = openPage(gateway).follow();

    await pass(10 * 60_000);

    expect(seen.connections).toEqual(['connecting']);
  });
});

describe('a connection that died unnoticed', () => {
  /** The events by which a page learns that somebody looks at it, and the object that they come to. */
  const looks = [
    ['visibilitychange', 'document'],
    ['resume', 'document'],
    ['pageshow', 'window'],
    ['focus', 'window'],
    ['online', 'window'],
  ] as const;

  /** An order that is live over a connection that then carries nothing more. */
  async function followUntilDead() {
    const gateway = new OrderGateway();
    const { page, follow } = openPage(gateway);
    const { feed } = follow();
    await pass(1000);
    gateway.answersPings = false;
    gateway.opens = false;
    return { gateway, page, feed };
  }

  test.each(looks)('is known within 5 s of %s', async (name, place) => {
    const { page, feed } = await followUntilDead();

    const target = place === 'window' ? page : globalThis.document;
    target.dispatchEvent(new Event(name));
    await pass(5000);

    expect(feed.connection()).not.toBe('live');
  });

  test('leaves the time at which the gateway was last heard, not the time at which it was noticed', async () => {
    const { gateway, page, feed } = await followUntilDead();
    gateway.isReachable = false;
    // A computer sleeps: the clock goes on, and no timer runs.
    vi.setSystemTime(NOON + 8 * HOUR_MS);

    page.dispatchEvent(new Event('focus'));
    await pass(5000);

    expect([feed.connection(), feed.confirmedAt()]).toEqual(['stale', NOON]);
  });

  test('is not taken for dead when it answers', async () => {
    const gateway = new OrderGateway();
    const { page, follow } = openPage(gateway);
    follow();
    await pass(1000);

    for (let time = 0; time < 10; time += 1) {
      page.dispatchEvent(new Event('focus'));
      await pass(3000);
    }

    expect(gateway.sockets).toHaveLength(1);
  });
});

describe('a page with more orders than one socket carries', () => {
  const followMany = (gateway: OrderGateway, count: number) => {
    const { follow } = openPage(gateway);
    return Array.from({ length: count }, (_, index) => follow(`order-${index}`));
  };

  test('has a socket for each 50 of them, and all are live', async () => {
    const gateway = new OrderGateway();
    const followed = followMany(gateway, 120);
    await pass(1000);

    expect(new Set(followed.map(({ feed }) => feed.connection()))).toEqual(new Set(['live']));
    expect([gateway.sockets.length, followed.flatMap(({ seen }) => seen.errors)]).toEqual([3, []]);
  });

  test('reads the others over HTTP where the gateway allows fewer', async () => {
    const gateway = new OrderGateway();
    gateway.operationsPerSocket = 20;
    const followed = followMany(gateway, 30);
    await pass(1000);

    const connections = followed.map(({ feed }) => feed.connection());
    expect(connections.filter((connection) => connection === 'live')).toHaveLength(20);
    expect(connections.filter((connection) => connection === 'polling')).toHaveLength(10);
    expect(followed.flatMap(({ seen }) => seen.errors)).toEqual([]);
  });
});

test('a mistake of the page in one listener costs neither the connection nor the other elements', async () => {
  const gateway = new OrderGateway();
  const mistakes: unknown[] = [];
  vi.stubGlobal('reportError', (mistake: unknown) => mistakes.push(mistake));
  const { follow } = openPage(gateway);
  const { feed } = follow();
  const mistake = new Error('No words.');
  feed.follow({
    pollIntervalSeconds: () => 30,
    orderChanged: () => {
      throw mistake;
    },
    connectionChanged: () => {},
    orderFailed: () => {},
  });
  const { seen } = follow();
  await pass(60_000);
  vi.unstubAllGlobals();

  expect([mistakes, gateway.sockets.length, seen.orders, feed.connection()]).toEqual([
    [mistake],
    1,
    1,
    'live',
  ]);
});
