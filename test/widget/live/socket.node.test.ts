import { createClient } from 'graphql-ws/client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createOperationSocket } from '../../../widget/src/live/socket.ts';
import type { FakeSocket } from '../../../widget/src/testing/fake-socket.ts';
import { createFakeSocketClass } from '../support/socket-class.ts';

/** Of Node, whose types the tests of the widget do not have. */
declare const process: {
  readonly listeners: (event: string) => readonly (() => void)[];
  readonly removeAllListeners: (event: string) => void;
  readonly on: (event: string, listener: () => void) => void;
};

/** How sockets to this gateway end. Everything else about it is polite. */
class Gateway {
  readonly sockets: FakeSocket[] = [];
  /** The sockets in which an operation runs. */
  readonly following = new Set<FakeSocket>();
  answersPings = true;

  accepts(socket: FakeSocket): boolean {
    this.sockets.push(socket);
    return true;
  }

  received(socket: FakeSocket, { type }: Readonly<Record<string, unknown>>): void {
    if (type === 'connection_init') socket.say({ type: 'connection_ack' });
    if (type === 'ping' && this.answersPings) socket.say({ type: 'pong' });
    if (type === 'subscribe') this.following.add(socket);
  }

  get newest(): FakeSocket {
    const newest = this.sockets.at(-1);
    if (!newest) throw new Error('No socket yet.');
    return newest;
  }
}

interface Follower {
  /** Somebody looks at the page. */
  readonly look: () => void;
}

const operation = { query: 'subscription { orderUpdates { cursor } }' };
const sink = { next: () => {}, error: () => {}, complete: () => {} };

/** One operation over the widget's socket. */
function followByWidget(getToken = async () => 'token'): Follower {
  const { subscribe, probe } = createOperationSocket('wss://gateway.test/graphql', {
    wait: async () => {},
    getToken,
    opened: () => {},
    received: () => {},
    closed: () => {},
  });
  subscribe(operation, sink);
  return { look: probe };
}

/** One operation over the client of graphql-ws with all its options, and nothing else. */
function followByClient(): Follower {
  const client = createClient({
    url: 'wss://gateway.test/graphql',
    lazy: true,
    keepAlive: 15_000,
    connectionAckWaitTimeout: 10_000,
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
    retryWait: async () => {},
    connectionParams: async () => ({ authorization: 'Bearer token' }),
  });
  client.subscribe(operation, sink);
  return { look: () => Reflect.get(client, 'probe')?.() };
}

const pass = (ms = 0) => vi.advanceTimersByTimeAsync(ms);
const { WebSocket } = globalThis;
let gateway = new Gateway();

beforeEach(() => {
  vi.useFakeTimers();
  gateway = new Gateway();
  globalThis.WebSocket = createFakeSocketClass(gateway);
});

afterEach(() => {
  vi.useRealTimers();
  globalThis.WebSocket = WebSocket;
});

/** Does something to the first socket before it opens. */
function onFirstSocket(prepare: (socket: FakeSocket) => void): void {
  let isFirst = true;
  globalThis.WebSocket = new Proxy(globalThis.WebSocket, {
    construct: (target, parameters) => {
      const socket = Reflect.construct(target, parameters);
      const wasFirst = isFirst;
      isFirst = false;
      if (wasFirst) prepare(socket);
      return socket;
    },
  });
}

/** What a socket must do for an order to stay live; each in words that follow "goes on". */
const promises: readonly (readonly [name: string, prove: (follow: () => Follower) => Promise<void>])[] = [
  [
    'after a socket that never opens',
    async (follow) => {
      onFirstSocket((socket) => {
        // Its event never comes.
        socket.readyState = WebSocket.OPEN;
      });
      follow();
      await pass(20_000);
      expect(gateway.following.size).toBe(1);
    },
  ],
  [
    'after a ping without a pong',
    async (follow) => {
      follow();
      await pass();
      gateway.answersPings = false;
      await pass(30_000);
      expect(gateway.sockets.length).toBeGreaterThan(1);
    },
  ],
  [
    'within 5 s of a look at the page, when the connection is dead',
    async (follow) => {
      const { look } = follow();
      await pass();
      gateway.answersPings = false;
      look();
      await pass(5000);
      expect(gateway.sockets).toHaveLength(2);
    },
  ],
  ...[1002, 1009, 1011, 4400, 4401, 4500].map(
    (code) =>
      [
        `after the close code ${code}`,
        async (follow: () => Follower) => {
          follow();
          await pass();
          gateway.newest.fall(code);
          await pass();
          expect(gateway.following.size).toBe(2);
        },
      ] as const,
  ),
  [
    'over one socket after an unreadable message, however late its socket closes',
    async (follow) => {
      follow();
      await pass();
      const first = gateway.newest;
      // On a bad network the answer to a close takes long.
      first.close = () => {
        first.readyState = WebSocket.CLOSING;
      };
      first.onmessage?.({ data: '{"type":"next","id":"1","payl' });
      await pass();
      first.fall(1006);
      await pass();
      expect(gateway.sockets).toHaveLength(2);
    },
  ],
  [
    'after a constructor of WebSocket that throws',
    async (follow) => {
      onFirstSocket(() => {
        throw new DOMException('Not on this page.', 'SecurityError');
      });
      // The client alone leaves the rejection to nobody.
      const others = process.listeners('unhandledRejection');
      process.removeAllListeners('unhandledRejection');
      process.on('unhandledRejection', () => {});
      follow();
      await pass(60_000);
      process.removeAllListeners('unhandledRejection');
      for (const listener of others) process.on('unhandledRejection', listener);
      expect(gateway.following.size).toBe(1);
    },
  ],
];

test('the token is requested while the socket opens', async () => {
  onFirstSocket((socket) => {
    // Its event never comes.
    socket.readyState = WebSocket.OPEN;
  });
  const getToken = vi.fn(async () => 'token');
  followByWidget(getToken);
  await pass();
  expect(getToken).toHaveBeenCalledOnce();
});

test('a token that fails closes its socket while it opens, and the next one gets another', async () => {
  onFirstSocket((socket) => {
    socket.readyState = WebSocket.OPEN;
  });
  followByWidget(vi.fn(async () => 'token').mockRejectedValueOnce(new Error('No token.')));
  await pass();
  expect(gateway.following.size).toBe(1);
});

describe('an operation over the socket of the widget goes on', () => {
  test.each(promises)('%s', (_, prove) => prove(() => followByWidget()));
});

describe('the client of graphql-ws alone does not go on (decision 0098)', () => {
  test.fails.each(promises)('%s', (_, prove) => prove(followByClient));
});
