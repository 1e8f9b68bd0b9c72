import { connect } from 'node:net';

/** What became of connections that nobody meant to use. */
export interface SlowReport {
  readonly opened: number;
  readonly closedByGateway: number;
  /** Until the last of them was closed. */
  readonly slowestMs: number;
}

export interface SlowOptions {
  readonly url: string;
  readonly count: number;
  readonly token: string;
  /** The time after which the rest of them is dropped. */
  readonly timeoutMs: number;
}

const dripMs = 500;

/** What is sent at once; the rest comes byte by byte and never ends. Each is a way to hold a connection. */
function describeOpenings(host: string, token: string): readonly string[] {
  const start = (line: string, ...headers: readonly string[]) =>
    [line, `host: ${host}`, ...headers].join('\r\n');
  const json = ['content-type: application/json', 'content-length: 5000'];
  const authorization = `authorization: Bearer ${token}`;
  const upload = ['content-type: multipart/form-data; boundary=x', 'content-length: 5000'];
  const upgrade = ['connection: upgrade', 'upgrade: websocket', 'sec-websocket-version: 13'];
  const toSocket = [...upgrade, `sec-websocket-key: ${Buffer.alloc(16).toString('base64')}`];
  return [
    // Nothing at all; half a line; headers without end.
    '',
    'POST /gra',
    start('GET /health HTTP/1.1', 'x-slow: '),
    // Bodies without end, of known callers and of strangers, ten of them with a place among the uploads.
    `${start('POST /graphql HTTP/1.1', authorization, ...json)}\r\n\r\n{`,
    `${start('POST /graphql HTTP/1.1', ...json)}\r\n\r\n{`,
    `${start('POST /webhooks HTTP/1.1', ...json)}\r\n\r\n{`,
    `${start('POST /graphql HTTP/1.1', authorization, ...upload)}\r\n\r\n-`,
    `${start('POST /graphql HTTP/1.1', ...upload)}\r\n\r\n-`,
    `${start('POST /webhooks HTTP/1.1', ...upload)}\r\n\r\n-`,
    `${start('GET /health HTTP/1.1', ...json)}\r\n\r\n{`,
    `${start('POST /demo/token HTTP/1.1', ...json)}\r\n\r\n{`,
    `${start('POST /graphql HTTP/1.1', authorization, 'content-type: application/json', 'transfer-encoding: chunked')}\r\n\r\n1`,
    // Sockets that are refused, or say nothing that a socket says.
    `${start('GET /nowhere HTTP/1.1', ...toSocket)}\r\n\r\n`,
    `${start('GET /graphql HTTP/1.1', 'origin: https://evil.example', ...toSocket)}\r\n\r\n`,
    `${start('GET /graphql HTTP/1.1', 'sec-websocket-protocol: graphql-transport-ws', ...toSocket)}\r\n\r\n`,
  ];
}

/** Opens connections that send next to nothing, and reports when the gateway has closed them. */
export async function holdConnections({ url, count, token, timeoutMs }: SlowOptions): Promise<SlowReport> {
  const { hostname, port, host } = new URL(url);
  const openings = describeOpenings(host, token);
  const timeout = AbortSignal.timeout(timeoutMs);
  const held = Array.from({ length: count }, (_, index) =>
    hold({ hostname, port: Number(port), timeout }, openings[index % openings.length] ?? ''),
  );
  const times = (await Promise.all(held)).filter((ms) => ms !== null);
  return { opened: count, closedByGateway: times.length, slowestMs: Math.round(Math.max(0, ...times)) };
}

interface Place {
  readonly hostname: string;
  readonly port: number;
  readonly timeout: AbortSignal;
}

/** Milliseconds from the connection to its end, null when it was still open at the timeout. */
function hold({ hostname, port, timeout }: Place, opening: string): Promise<number | null> {
  const { promise, resolve } = Promise.withResolvers<number | null>();
  // Its own side stays open when the gateway has ended the other: only what the gateway has let go of is closed.
  const socket = connect({ host: hostname, port, allowHalfOpen: true });
  let openedAt = performance.now();
  const say = () => socket.writable && socket.write('a');
  // A connection that has sent nothing continues to send nothing, and only then checks whether it is still open.
  const drip = setInterval(() => (opening !== '' || socket.readableEnded) && say(), dripMs);
  socket.once('end', say);
  socket.on('connect', () => {
    openedAt = performance.now();
    socket.write(opening);
  });
  socket.on('error', () => {});
  socket.resume();
  socket.once('close', () => {
    clearInterval(drip);
    resolve(timeout.aborted ? null : performance.now() - openedAt);
  });
  timeout.addEventListener('abort', () => socket.destroy(), { once: true });
  return promise;
}
