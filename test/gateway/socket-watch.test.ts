import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, expect, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { type WatchedSocket, watchSockets } from '../../gateway/websocket/socket-watch.ts';
import { listenAnywhere } from '../support/listening.ts';

const mebibyte = 1024 * 1024;
const pingMs = 15_000;

afterEach(() => {
  vi.useRealTimers();
});

interface Opened {
  readonly client: WebSocket;
  readonly socket: WebSocket;
  readonly watched: WatchedSocket;
}

interface Server extends AsyncDisposable {
  /** A watched socket and its client. */
  readonly open: () => Promise<Opened>;
}

/** Its sockets are real; the clock of their watch is moved by hand. */
async function serve(): Promise<Server> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const sockets = watchSockets();
  const http = createServer();
  const server = new WebSocketServer({ server: http });
  const url = (await listenAnywhere(http)).replace('http', 'ws');
  const clients: WebSocket[] = [];
  return {
    open: async () => {
      const accepted = once(server, 'connection');
      const client = new WebSocket(url);
      clients.push(client);
      client.on('error', () => {});
      await once(client, 'open');
      const [socket]: WebSocket[] = await accepted;
      if (socket === undefined) throw new Error('There is no socket.');
      return { client, socket, watched: sockets.add(socket) };
    },
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) client.terminate();
      sockets.stop();
      server.close();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

type Watch = Opened & AsyncDisposable;

async function watch(): Promise<Watch> {
  const server = await serve();
  return { ...(await server.open()), [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}

const isOpen = ({ socket }: Opened) => socket.readyState === WebSocket.OPEN;

test('a client that answers pings stays', async () => {
  await using open = await watch();
  for (let ping = 0; ping < 10; ping += 1) {
    const answered = once(open.socket, 'pong');
    vi.advanceTimersByTime(pingMs);
    await answered;
  }
  expect(isOpen(open)).toBe(true);
});

test('an idle client that does not answer a ping is disconnected at the next one', async () => {
  await using open = await watch();
  open.client.pause();
  vi.advanceTimersByTime(2 * pingMs - 500);
  expect(isOpen(open)).toBe(true);
  vi.advanceTimersByTime(500);
  expect(isOpen(open)).toBe(false);
});

test('a client that reads on in a large answer stays, although no ping gets through', async () => {
  await using open = await watch();
  open.client.pause();
  vi.advanceTimersByTime(pingMs);
  void open.watched.send('a'.repeat(24 * mebibyte));
  await until(() => open.socket.bufferedAmount > 0);
  vi.advanceTimersByTime(10 * pingMs);
  expect(isOpen(open)).toBe(true);

  const received = once(open.client, 'message');
  open.client.resume();
  await received;
  const answered = once(open.socket, 'pong');
  vi.advanceTimersByTime(pingMs);
  await answered;
  vi.advanceTimersByTime(pingMs);
  expect(isOpen(open)).toBe(true);
});

test('a ping behind an answer that the operating system holds may be answered later: 15 s for each 256 KiB', async () => {
  await using open = await watch();
  open.client.pause();
  await open.watched.send('a'.repeat(mebibyte));
  expect(open.socket.bufferedAmount).toBe(0);
  vi.advanceTimersByTime(5 * pingMs);
  expect(isOpen(open)).toBe(true);

  const answered = once(open.socket, 'pong');
  open.client.resume();
  await answered;
  vi.advanceTimersByTime(pingMs);
  expect(isOpen(open)).toBe(true);
});

test('a client that has died with an answer unread is disconnected then', async () => {
  await using open = await watch();
  open.client.pause();
  await open.watched.send('a'.repeat(mebibyte));
  vi.advanceTimersByTime(6 * pingMs - 500);
  expect(isOpen(open)).toBe(true);
  // What is sent after the ping gives it no more time.
  await open.watched.send('a');
  vi.advanceTimersByTime(500);
  expect(isOpen(open)).toBe(false);
});

test('a client to which nothing is read for a while is not blamed for it', async () => {
  await using open = await watch();
  vi.advanceTimersByTime(2 * pingMs - 500);
  open.socket.pause();
  const answered = once(open.socket, 'pong');
  vi.advanceTimersByTime(500);
  expect(isOpen(open)).toBe(true);
  await answered;
});

test('many sockets are pinged one after the other, and not all at once', async () => {
  await using server = await serve();
  let pings = 0;
  for (let count = 0; count < 60; count += 1) {
    const { client } = await server.open();
    client.on('ping', () => {
      pings += 1;
    });
  }
  vi.advanceTimersByTime(pingMs - 500);
  await until(() => pings >= 58);
  expect(pings).toBe(58);
  vi.advanceTimersByTime(500);
  await until(() => pings >= 60);
});
