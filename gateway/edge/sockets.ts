import type { Server as HttpServer, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ExecutionArgs, GraphQLError } from 'graphql';
import { CloseCode, handleProtocols, makeServer, type SubscribePayload } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Authenticate } from '../caller/authenticate.ts';
import type { Caller } from '../caller/caller.ts';
import { GatewayError, isGatewayError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Allowances } from './allowances.ts';
import { type Asking, type GraphQLServer, observeSend, traceHeader } from './graphql.ts';
import { createMask, formatForStream } from './mask.ts';
import { hasOneHost, refuseRequest } from './patience.ts';

const path = '/graphql';
const maxPayloadBytes = 100_000;
const initWaitMs = 10_000;
const keepAliveMs = 15_000;
const restartCode = 1012;
/** Clients come back after this one, later and later. */
const tryLaterCode = 1013;
/** How long a client may take to answer the close; one that never does would hold up the end of the process. */
const goodbyeMs = 2000;

export interface SocketsOptions {
  readonly graphql: GraphQLServer;
  readonly authenticate: Authenticate;
  readonly allowances: Allowances;
  readonly isAllowedOrigin: (origin: string) => boolean;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface Sockets {
  readonly attach: (server: HttpServer) => void;
  /** Closes every socket with 1012, so that clients resume elsewhere with their cursor. */
  readonly close: () => void;
}

/** One open socket: who it belongs to, and when it is left. */
interface Session extends Record<PropertyKey, unknown> {
  readonly socket: WebSocket;
  readonly origin: string | null;
  readonly left: AbortController;
  caller: Caller | null;
}

/**
 * GraphQL over WebSocket (`graphql-transport-ws`). The token comes in `connectionParams.authorization`; browsers
 * are let in from exact origins only. A socket closes with 4403 when its token ends, and clients retry that.
 */
export function createSockets(options: SocketsOptions): Sockets {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxPayloadBytes, handleProtocols });
  const protocol = createProtocol(options);

  sockets.on('connection', (socket: WebSocket, request: IncomingMessage) => {
    const left = new AbortController();
    const session: Session = { socket, origin: request.headers.origin ?? null, left, caller: null };
    const closed = protocol.opened(
      {
        protocol: socket.protocol,
        send: (data) => sendWhenTaken(socket, data),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (handle) =>
          socket.on('message', (data) => {
            handle(String(data)).catch((error: unknown) => {
              options.log.error('socket.failed', { error });
              socket.close(CloseCode.InternalServerError, 'The gateway failed.');
            });
          }),
      },
      session,
    );
    const stopKeepAlive = keepAlive(socket);
    socket.on('error', () => socket.terminate());
    socket.once('close', (code, reason) => {
      stopKeepAlive();
      left.abort();
      closed(code, String(reason)).catch((error: unknown) => options.log.error('socket.failed', { error }));
    });
  });

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const { origin } = request.headers;
    if ((request.url ?? '').split('?')[0] !== path) return refuseRequest(socket, '404 Not Found');
    if (!hasOneHost(request)) return refuseRequest(socket, '400 Bad Request');
    if (origin !== undefined && !options.isAllowedOrigin(origin))
      return refuseRequest(socket, '403 Forbidden');
    sockets.handleUpgrade(request, socket, head, (accepted) => sockets.emit('connection', accepted, request));
  };

  return {
    attach: (server) => {
      server.on('upgrade', upgrade);
    },
    close: () => {
      const open = [...sockets.clients];
      for (const socket of open) socket.close(restartCode, 'Service restart');
      setTimeout(() => open.forEach((socket) => void socket.terminate()), goodbyeMs).unref();
      sockets.close();
    },
  };
}

function createProtocol({ graphql, authenticate, allowances, log, metrics }: SocketsOptions) {
  const mask = createMask(log);
  return makeServer<Record<string, unknown>, Session>({
    connectionInitWaitTimeout: initWaitMs,
    onConnect: async ({ connectionParams, extra }) => {
      const authorization = connectionParams?.authorization;
      const caller = await admit(authenticate, { authorization, origin: extra.origin });
      if (caller === null || !takeSeat(extra, () => allowances.connect(caller))) return false;
      if (caller.kind === 'USER') closeAtExpiry(extra, caller.expiresAt);
      extra.caller = caller;
      return true;
    },
    onSubscribe: async ({ extra, connectionParams, subscriptions }, _id, payload) => {
      if (extra.caller === null) return [new GraphQLError('Not authenticated.')];
      const refusal = await findRefusal(allowances, extra.caller, Object.keys(subscriptions).length);
      if (refusal !== null) return [mask(refusal)];
      const { signal } = extra.left;
      const isTraced = connectionParams?.[traceHeader] === 'upstream';
      const transport = 'websocket' as const;
      const asking: Asking = { caller: extra.caller, left: signal, over: signal, isTraced, transport };
      const prepared = await prepare(graphql, asking, payload);
      return 'errors' in prepared ? prepared.errors.map(mask) : prepared.args;
    },
    onError: (_context, _id, _payload, errors) => errors.map(formatForStream),
    onNext: (_context, _id, _payload, _args, result) => {
      observeSend(metrics, 'websocket', result);
      if (result.errors === undefined) return undefined;
      return {
        data: result.data ?? null,
        errors: result.errors.map(formatForStream),
        ...(result.extensions === undefined ? {} : { extensions: result.extensions }),
      };
    },
    // The enveloped functions of this operation travel as its root value.
    execute: (args) => readEnveloped(args).execute(args),
    subscribe: (args) => readEnveloped(args).subscribe(args),
  });
}

interface Presented {
  readonly authorization: unknown;
  readonly origin: string | null;
}

async function admit(
  authenticate: Authenticate,
  { authorization, origin }: Presented,
): Promise<Caller | null> {
  try {
    return await authenticate({
      authorization: typeof authorization === 'string' ? authorization : null,
      origin,
    });
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}

/** Counts the socket until it is left. One too many is closed: its client tries again later. */
function takeSeat({ socket, left }: Session, connect: () => () => void): boolean {
  if (left.signal.aborted) return false;
  try {
    left.signal.addEventListener('abort', connect(), { once: true });
    return true;
  } catch (error) {
    if (!isGatewayError(error, 'RATE_LIMITED')) throw error;
    socket.close(tryLaterCode, 'Too many connections');
    return false;
  }
}

/** What stands in the way of one more operation, before anything of it is read. */
async function findRefusal(
  allowances: Allowances,
  caller: Caller,
  underWay: number,
): Promise<GatewayError | null> {
  try {
    allowances.checkOperations(caller, underWay);
    await allowances.pay(caller, 1);
    return null;
  } catch (error) {
    if (isGatewayError(error, 'RATE_LIMITED')) return error;
    throw error;
  }
}

/** Nothing is sent after the token has ended: 4403, so that the client comes back with a new one. */
function closeAtExpiry({ socket, left }: Session, expiresAt: Date): void {
  const timer = setTimeout(
    () => socket.close(CloseCode.Forbidden, 'Token expired'),
    expiresAt.getTime() - Date.now(),
  );
  left.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
}

type Enveloped = ReturnType<GraphQLServer['getEnveloped']>;
type Prepared = { readonly args: ExecutionArgs } | { readonly errors: readonly unknown[] };

async function prepare(graphql: GraphQLServer, asking: Asking, payload: SubscribePayload): Promise<Prepared> {
  const enveloped = graphql.getEnveloped(asking);
  try {
    const document = enveloped.parse(payload.query);
    const errors = enveloped.validate(enveloped.schema, document);
    if (errors.length > 0) return { errors: errors.map(markInvalid) };
    return {
      args: {
        schema: enveloped.schema,
        document,
        operationName: payload.operationName,
        variableValues: payload.variables,
        contextValue: await enveloped.contextFactory(),
        rootValue: enveloped,
      },
    };
  } catch (error) {
    return { errors: [error] };
  }
}

/** Over HTTP Yoga sets this code. */
function markInvalid(error: GraphQLError): GraphQLError {
  const extensions = { code: 'GRAPHQL_VALIDATION_FAILED' };
  return new GraphQLError(error.message, { nodes: error.nodes ?? null, extensions });
}

function readEnveloped(args: ExecutionArgs): Enveloped {
  // Set by `prepare` for every operation; nothing else makes execution arguments here.
  return args.rootValue as Enveloped;
}

/** Resolves when the socket has taken the message: the stream goes on only as fast as the client reads. */
function sendWhenTaken(socket: WebSocket, data: string): Promise<void> {
  if (socket.readyState !== socket.OPEN) return Promise.resolve();
  return new Promise((resolve) => socket.send(data, () => resolve()));
}

/** Pings, and ends a socket whose other side is gone without a word. */
function keepAlive(socket: WebSocket): () => void {
  let isAlive = true;
  socket.on('pong', () => {
    isAlive = true;
  });
  const timer = setInterval(() => {
    if (!isAlive) return socket.terminate();
    isAlive = false;
    socket.ping();
  }, keepAliveMs);
  return () => clearInterval(timer);
}
