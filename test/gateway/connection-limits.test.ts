import { once } from 'node:events';
import { Agent, IncomingMessage, type RequestListener, request, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { queryObjects } from 'node:v8';
import { afterEach, expect, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { type CutReason, createBoundedServer } from '../../gateway/http/connection-limits.ts';
import { listenAnywhere } from '../support/listening.ts';

const mebibyte = 1024 * 1024;
const windowMs = 10_000;
const lookMs = 500;

afterEach(() => {
  vi.useRealTimers();
});

interface Place extends AsyncDisposable {
  readonly server: Server;
  readonly port: number;
  readonly cuts: readonly CutReason[];
}

/** A bounded server whose clock is moved by hand; its sockets and those of the test are real. */
async function serve(answer: RequestListener, keepAliveSeconds?: number): Promise<Place> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  const cuts: CutReason[] = [];
  const server = createBoundedServer({ answer }, (reason) => cuts.push(reason), keepAliveSeconds);
  const { port } = new URL(await listenAnywhere(server));
  return {
    server,
    port: Number(port),
    cuts,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Connects, and asks as often as wanted, one request behind the other; reads nothing by itself. */
function ask({ port }: Place, paths: readonly string[]): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: gateway\r\n\r\n`).join(''));
  return socket;
}

/** Resolves when so many more bytes were read; false when the connection has ended before. */
async function read(socket: Socket, bytes: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let received = 0;
  const onData = (chunk: Buffer) => {
    received += chunk.length;
    if (received >= bytes) resolve(true);
  };
  const end = () => resolve(false);
  socket.on('data', onData).once('close', end);
  socket.resume();
  const isRead = await promise;
  socket.pause();
  socket.off('data', onData).off('close', end);
  return isRead;
}

/** The server's side of the next connection, once so many bytes of its answer lie there. */
async function unreadSocket(server: Server): Promise<Socket> {
  const [socket]: Socket[] = await once(server, 'connection');
  if (socket === undefined) throw new Error('There is no connection.');
  await vi.waitFor(() => expect(socket.writableLength).toBeGreaterThan(0), 150_000);
  return socket;
}

const turns = async () => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

const answerBytes = (bytes: number): RequestListener => {
  const body = Buffer.alloc(bytes);
  return (_request, response) => response.end(body);
};

test('requests sent ahead on one connection are answered one after the other, in their order', async () => {
  const [begun, ended]: [string[], string[]] = [[], []];
  let [inHand, mostInHand] = [0, 0];
  await using place = await serve((request, response) => {
    inHand += 1;
    mostInHand = Math.max(mostInHand, inHand);
    begun.push(request.url ?? '');
    setImmediate(() => response.end('done'));
    response.once('finish', () => {
      inHand -= 1;
      ended.push(request.url ?? '');
    });
  });
  const paths = Array.from({ length: 20 }, (_, index) => `/${index}`);
  const socket = ask(place, paths);
  socket.resume();
  await vi.waitFor(() => expect(ended).toEqual(paths), 150_000);
  expect(begun).toEqual(paths);
  expect(mostInHand).toBe(1);
  expect(place.cuts).toEqual([]);
  socket.destroy();
});

test('a connection with 1,000 pipelined requests and no reading is reset after one answer', async () => {
  let begun = 0;
  await using place = await serve((_request, response) => {
    begun += 1;
    response.end(Buffer.alloc(mebibyte));
  });
  const socket = ask(place, Array(1000).fill('/'));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.resume();
  await closed;
  expect(begun).toBe(1);
  expect(place.cuts).toEqual(['pipelined']);
});

test('a client that reads nothing of its answer is disconnected after ten seconds', async () => {
  await using place = await serve(answerBytes(24 * mebibyte));
  const client = ask(place, ['/']);
  const socket = await unreadSocket(place.server);
  const closed = once(socket, 'close');
  vi.advanceTimersByTime(windowMs);
  expect(socket.destroyed).toBe(false);
  vi.advanceTimersByTime(lookMs);
  await closed;
  expect(place.cuts).toEqual(['stalled']);
  client.destroy();
});

test('a client that reads a large answer slowly gets all of it', async () => {
  const bytes = 31 * mebibyte;
  await using place = await serve(answerBytes(bytes));
  const client = ask(place, ['/']);
  await unreadSocket(place.server);
  vi.advanceTimersByTime(lookMs);
  // More at a time than the two systems hold between them.
  for (let part = 0; part < 2; part += 1) {
    expect(await read(client, 12 * mebibyte)).toBe(true);
    await turns();
    vi.advanceTimersByTime(windowMs);
  }
  expect(await read(client, 6 * mebibyte)).toBe(true);
  expect(place.cuts).toEqual([]);
  client.destroy();
});

test('a connection without a request is closed after eleven seconds, even if it sends empty lines', async () => {
  await using place = await serve((_request, response) => response.end('done'));
  const client = ask(place, ['/']);
  const [socket]: Socket[] = await once(place.server, 'connection');
  expect(await read(client, 'done'.length)).toBe(true);
  await turns();
  vi.advanceTimersByTime(10_000);
  client.write('\r\n\r\n');
  await turns();
  expect(socket?.writable).toBe(true);
  vi.advanceTimersByTime(6000);
  expect(socket?.writable).toBe(false);
  client.destroy();
});

test('a connection without a request stays open for as long as KEEP_ALIVE_SECONDS says', async () => {
  await using place = await serve((_request, response) => response.end('done'), 65);
  expect(place.server.keepAliveTimeout).toBe(65_000);
  const client = ask(place, ['/']);
  const [socket]: Socket[] = await once(place.server, 'connection');
  expect(await read(client, 'done'.length)).toBe(true);
  await turns();
  vi.advanceTimersByTime(64_000);
  expect(socket?.writable).toBe(true);
  vi.advanceTimersByTime(8000);
  expect(socket?.writable).toBe(false);
  client.destroy();
});

test('an idle stream and an idle socket stay open for an hour', async () => {
  const streams: (() => void)[] = [];
  await using place = await serve((_request, response) => {
    response.write('first');
    streams.push(() => response.write('second'));
  });
  const sockets = new WebSocketServer({ server: place.server });
  sockets.on('connection', (socket) => socket.on('message', () => socket.send('there')));
  const stream = ask(place, ['/']);
  expect(await read(stream, 'first'.length)).toBe(true);
  const webSocket = new WebSocket(`ws://127.0.0.1:${place.port}`);
  await once(webSocket, 'open');

  vi.advanceTimersByTime(3_600_000);
  for (const write of streams) write();
  expect(await read(stream, 'second'.length)).toBe(true);
  webSocket.send('still there?');
  expect(String((await once(webSocket, 'message'))[0])).toBe('there');
  expect(place.cuts).toEqual([]);
  webSocket.terminate();
  stream.destroy();
});

test('a WebSocket client that does not read is disconnected too', async () => {
  await using place = await serve(() => {});
  const sockets = new WebSocketServer({ server: place.server });
  sockets.on('connection', (socket) => socket.send(Buffer.alloc(24 * mebibyte)));
  const client = new WebSocket(`ws://127.0.0.1:${place.port}`);
  client.on('error', () => {});
  client.on('open', () => client.pause());
  const socket = await unreadSocket(place.server);
  const closed = once(socket, 'close');
  vi.advanceTimersByTime(windowMs + lookMs);
  await closed;
  expect(place.cuts).toEqual(['stalled']);
  client.terminate();
});

test('connections beyond the limits of unread bytes, their own or the total, are reset at the next check', async () => {
  const body = { '/large': Buffer.alloc(44 * mebibyte), '/': Buffer.alloc(30 * mebibyte) };
  await using place = await serve((request, response) =>
    response.end(request.url === '/large' ? body['/large'] : body['/']),
  );
  const clients: Socket[] = [];
  const sockets: Socket[] = [];
  for (const path of ['/large', '/', '/', '/']) {
    clients.push(ask(place, [path]));
    sockets.push(await unreadSocket(place.server));
  }
  vi.advanceTimersByTime(lookMs);
  await vi.waitFor(() => expect(sockets.filter(({ destroyed }) => destroyed)).toHaveLength(2), 150_000);
  expect(sockets[0]?.destroyed).toBe(true);
  expect(place.cuts).toEqual(['unread', 'unread']);
  for (const client of clients) client.destroy();
});

test('requests that one connection sends ahead do not hold up those of another', async () => {
  const order: string[] = [];
  await using place = await serve(({ url = '' }, response) => {
    order.push(url);
    response.end('answered');
  });
  const [ahead, other] = [ask(place, ['/first']), ask(place, ['/first'])];
  expect(await Promise.all([read(ahead, 1), read(other, 1)])).toEqual([true, true]);
  order.length = 0;
  // Both are with the server before it looks for either.
  ahead.write('GET /ahead HTTP/1.1\r\nhost: gateway\r\n\r\n'.repeat(20));
  other.write('GET /other HTTP/1.1\r\nhost: gateway\r\n\r\n');
  await vi.waitFor(() => expect(order).toHaveLength(21), 150_000);
  expect(order.indexOf('/other')).toBeLessThan(2);
  ahead.destroy();
  other.destroy();
});

test('a thousand short requests on one connection are not all answered in one round of the event loop', async () => {
  let begun = 0;
  let [inRound, mostInRound] = [0, 0];
  await using place = await serve(async (_request, response) => {
    begun += 1;
    inRound += 1;
    mostInRound = Math.max(mostInRound, inRound);
    setImmediate(() => {
      inRound = 0;
    });
    await Promise.resolve();
    response.end('answered');
  });
  const socket = connect(place.port, '127.0.0.1');
  socket.on('error', () => {}).resume();
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const body = '{"query":"{ viewer { kind } }"}';
  const head = `POST / HTTP/1.1\r\nhost: gateway\r\ncontent-length: ${body.length}\r\n\r\n`;
  socket.write((head + body).repeat(1000));
  await closed;
  expect(mostInRound).toBe(1);
  expect(begun).toBeLessThan(40);
  expect(place.cuts).toEqual(['pipelined']);
});

/** Sends bytes of a body without end, as fast as they are taken, until the connection is closed. */
function sendWithoutEnd({ port }: Place): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {}).resume();
  socket.write('POST / HTTP/1.1\r\nhost: gateway\r\ncontent-length: 10000000000\r\n\r\n');
  const chunk = Buffer.alloc(65_536);
  const send = () => {
    while (socket.writable) if (!socket.write(chunk)) return void socket.once('drain', send);
  };
  send();
  return socket;
}

test.each<[string, RequestListener]>([
  ['unread', (_request, response) => void response.writeHead(401).end()],
  ['after its first bytes', (request, response) => request.once('data', () => response.writeHead(413).end())],
])('a body that is refused %s is read no further, and its connection is closed', async (_when, answer) => {
  await using place = await serve(answer);
  const client = sendWithoutEnd(place);
  const closed = new Promise((resolve) => client.once('close', resolve));
  const [socket]: Socket[] = await once(place.server, 'connection');
  await closed;
  // What comes in two reads: the one before the answer, and one that was under way.
  expect(socket?.bytesRead).toBeLessThan(150_000);
});

test('a client whose long body was refused reads the answer, and sends its next request over another connection', async () => {
  await using place = await serve(({ method }, response) => {
    response.writeHead(method === 'POST' ? 413 : 200).end('answer');
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = async (method: string, body: Buffer) => {
    const headers = { 'content-length': String(body.length) };
    const asking = request({ port: place.port, agent, method, headers }).end(body);
    const [response] = await once(asking, 'response');
    return [response.statusCode, await text(response)];
  };
  expect(await ask('POST', Buffer.alloc(mebibyte))).toEqual([413, 'answer']);
  expect(await ask('GET', Buffer.alloc(0))).toEqual([200, 'answer']);
  agent.destroy();
});

test('a refused body that ends soon leaves its connection open', async () => {
  await using place = await serve((_request, response) => void response.writeHead(401).end('refused'));
  const socket = connect(place.port, '127.0.0.1');
  const body = 'x'.repeat(40_000);
  socket.write(`POST / HTTP/1.1\r\nhost: gateway\r\ncontent-length: ${body.length}\r\n\r\n`);
  expect(await read(socket, 1)).toBe(true);
  socket.write(`${body}GET / HTTP/1.1\r\nhost: gateway\r\n\r\n`);
  expect(await read(socket, 1)).toBe(true);
  socket.destroy();
});

test('nothing of a refused request is held after its connection has ended', async () => {
  await using place = await serve((_request, response) => void response.writeHead(401).end());
  const before = queryObjects(IncomingMessage, { format: 'count' });
  for (let index = 0; index < 20; index += 1) {
    const client = sendWithoutEnd(place);
    await once(client, 'data');
    client.destroy();
  }
  // Less than the ten seconds that a request may take.
  await vi.waitFor(
    () => expect(queryObjects(IncomingMessage, { format: 'count' }) - before).toBeLessThan(5),
    8000,
  );
});

test('nothing of a refused request is held while its connection stays open', async () => {
  await using place = await serve((_request, response) => void response.writeHead(401).end());
  const served = once(place.server, 'connection');
  const client = connect(place.port, '127.0.0.1');
  const [socket] = await served;
  const before = queryObjects(IncomingMessage, { format: 'count' });
  for (let index = 0; index < 30; index += 1) {
    client.write('POST / HTTP/1.1\r\nhost: gateway\r\ncontent-length: 2\r\n\r\n');
    await once(client, 'data');
    client.write('{}');
  }
  expect(socket.listenerCount('close')).toBeLessThan(10);
  // Less than the ten seconds that a request may take.
  await vi.waitFor(
    () => expect(queryObjects(IncomingMessage, { format: 'count' }) - before).toBeLessThan(5),
    8000,
  );
  client.destroy();
});
