import { describeRequest, type GraphQLRequest, openConnection, type Target } from './connections.ts';

export interface UnreadOptions extends Target {
  readonly connections: number;
  /** Requests that each connection sends at once, one behind the other. */
  readonly requests: number;
  /** What is asked for: a path by anybody, or a query with a token. */
  readonly ask: { readonly path: string } | GraphQLRequest;
}

export interface UnreadReport {
  readonly opened: number;
  readonly closedByGateway: number;
  /** From the first request to the end of the last connection that the gateway closed. */
  readonly slowestMs: number;
}

/** A client that does not read notices the end of its connection only when it writes. */
const probeMs = 250;

/** Asks over many connections and reads no answer; resolves when the gateway has closed them all, or the signal aborts. */
export async function leaveUnread(options: UnreadOptions): Promise<UnreadReport> {
  const { url, ask, connections, requests } = options;
  const bytes = Buffer.from(describeRequest(url, ask).repeat(requests));
  const times = await Promise.all(Array.from({ length: connections }, () => askUnread(options, bytes)));
  const closed = times.filter((ms) => ms !== null);
  return {
    opened: connections,
    closedByGateway: closed.length,
    slowestMs: Math.round(Math.max(0, ...closed)),
  };
}

/** Milliseconds until the gateway closed the connection; null when the signal aborted first. */
function askUnread(target: Target, bytes: Buffer): Promise<number | null> {
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const socket = openConnection(target);
  const startedAt = performance.now();
  socket.pause();
  socket.write(bytes);
  // An empty line before a request says nothing.
  const probe = setInterval(() => socket.writableLength === 0 && socket.write('\r\n'), probeMs);
  socket.once('close', () => {
    clearInterval(probe);
    resolve(target.signal.aborted ? null : performance.now() - startedAt);
  });
  return promise;
}
