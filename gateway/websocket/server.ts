import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ExecutionArgs, GraphQLError } from 'graphql';
import { CloseCode, handleProtocols, makeServer, type SubscribePayload } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Authenticate } from '../auth/authenticate.ts';
import type { Caller } from '../auth/caller.ts';
import type { RateLimits } from '../auth/rate-limits.ts';
import type { ActiveTokens } from '../auth/revocations.ts';
import { GatewayError, isGatewayError } from '../errors.ts';
import type { DocumentCache } from '../execution/document/prepared-document.ts';
import type { ListedOperations } from '../execution/document/trusted-documents.ts';
import { formatForStream, type Mask } from '../execution/mask.ts';
import { observeSend } from '../execution/observe.ts';
import type { RunStream } from '../execution/streams.ts';
import { findDocument } from '../http/operation-ids.ts';
import { hasOneHost, refuseRequest } from '../http/timeouts.ts';
import { type Asking, type GraphQLServer, traceHeader } from '../http/yoga.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { type WatchedSocket, watchSockets } from './socket-watch.ts';

const path = '/graphql';
const maxPayloadBytes = 100_000;
/** With the time for a goodbye no longer than the whole of a request over HTTP. */
const initWaitMs = 8000;
const restartCode = 1012;
/** Clients come back after this one, later and later. */
const tryLaterCode = 1013;
/** How long a client may take to answer the close; one that never does would hold up the end of the process. */
const goodbyeMs = 2000;
/** An option of ws that its types do not know. */
const goodbye = { closeTimeout: goodbyeMs };

export interface SocketsOptions {
  readonly graphql: GraphQLServer;
  readonly runStream: RunStream;
  readonly mask: Mask;
  readonly authenticate: Authenticate;
  readonly endOf: ActiveTokens['endOf'];
  readonly rateLimits: RateLimits;
  readonly documents: DocumentCache;
  readonly listed: ListedOperations;
  readonly isAllowedOrigin: (origin: string) => boolean;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface Sockets {
  /** Takes a request to upgrade, or refuses it. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Closes every socket with 1012, so that clients resume elsewhere with their cursor. */
  readonly close: () => void;
}

/** One open socket: who it belongs to, and when it is left. Ten thousand are a usual day: each byte counts. */
interface Session extends Record<PropertyKey, unknown> {
  readonly socket: WebSocket;
  readonly watched: WatchedSocket;
  readonly origin: string | null;
  readonly left: AbortController;
  caller: Caller | null;
  /** Gives its place back; null while it has none. */
  leave: (() => void) | null;
}

/**
 * GraphQL over WebSocket (`graphql-transport-ws`). The token comes in `connectionParams.authorization`; browsers
 * are let in from exact origins only. A socket closes with 4403 when its token ends or
 * is revoked, and clients retry that.
 */
export function createSockets(options: SocketsOptions): Sockets {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxPayloadBytes,
    handleProtocols,
    ...goodbye,
  });
  const protocol = createProtocol(options);
  const watch = watchSockets();

  sockets.on('connection', (socket: WebSocket, request: IncomingMessage) => {
    const left = new AbortController();
    const watched = watch.add(socket);
    const { origin = null } = request.headers;
    const session: Session = { socket, watched, origin, left, caller: null, leave: null };
    const closed = protocol.opened(
      {
        protocol: socket.protocol,
        send: watched.send,
        close: (code, reason) => socket.close(code, reason),
        onMessage: (handle) =>
          socket.on('message', (data) => {
            // Who does not answer the close may go on sending for a while.
            if (socket.readyState !== socket.OPEN || watched.end?.aborted) return;
            handle(String(data)).catch((error: unknown) => {
              options.log.error('socket.failed', { error });
              socket.close(CloseCode.InternalServerError, 'The gateway failed.');
            });
          }),
      },
      session,
    );
    socket.on('error', () => socket.terminate());
    socket.once('close', (code, reason) => {
      left.abort();
      session.leave?.();
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
    upgrade,
    close: () => {
      for (const socket of sockets.clients) socket.close(restartCode, 'Service restart');
      sockets.close();
      watch.stop();
    },
  };
}

function createProtocol(options: SocketsOptions) {
  const { runStream, mask, authenticate, endOf, rateLimits, metrics } = options;
  return makeServer<Record<string, unknown>, Session>({
    connectionInitWaitTimeout: initWaitMs,
    onConnect: async ({ connectionParams, extra }) => {
      const authorization = connectionParams?.authorization;
      const caller = await admit(authenticate, { authorization, origin: extra.origin });
      // Read once; a secret is not kept for the socket's life.
      if (connectionParams !== undefined) Reflect.deleteProperty(connectionParams, 'authorization');
      if (caller === null || !takeSeat(extra, () => rateLimits.connect(caller))) return false;
      extra.watched.end = endOf(caller);
      extra.caller = caller;
      return true;
    },
    onSubscribe: async ({ extra, connectionParams, subscriptions }, _id, payload) => {
      if (extra.caller === null) return [new GraphQLError('Not authenticated.')];
      const refusal = await findRefusal(rateLimits, extra.caller, Object.keys(subscriptions).length);
      if (refusal !== null) return [mask(refusal)];
      const { origin } = extra;
      const { signal } = extra.left;
      const isTraced = connectionParams?.[traceHeader] === 'upstream';
      const transport = 'websocket' as const;
      const asking: Asking = {
        caller: extra.caller,
        origin,
        left: signal,
        over: signal,
        isTraced,
        transport,
      };
      const prepared = await prepare(options, asking, payload);
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
    execute: (args) => takeEnveloped(args).execute(args),
    subscribe: (args) => {
      takeEnveloped(args);
      return runStream(args);
    },
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
function takeSeat(session: Session, connect: () => () => void): boolean {
  if (session.left.signal.aborted) return false;
  try {
    session.leave = connect();
    return true;
  } catch (error) {
    if (!isGatewayError(error, 'RATE_LIMITED')) throw error;
    session.socket.close(tryLaterCode, 'Too many connections');
    return false;
  }
}

/** What stands in the way of one more operation, before anything of it is read. */
async function findRefusal(
  rateLimits: RateLimits,
  caller: Caller,
  underWay: number,
): Promise<GatewayError | null> {
  try {
    rateLimits.checkOperations(caller, underWay);
    await rateLimits.pay(caller, 1);
    return null;
  } catch (error) {
    if (isGatewayError(error, 'RATE_LIMITED')) return error;
    throw error;
  }
}

type Enveloped = ReturnType<GraphQLServer['getEnveloped']>;
type Prepared = { readonly args: ExecutionArgs } | { readonly errors: readonly unknown[] };

async function prepare(
  { graphql, documents, listed }: SocketsOptions,
  asking: Asking,
  payload: SubscribePayload,
): Promise<Prepared> {
  const enveloped = graphql.getEnveloped(asking);
  try {
    const text = findDocument(listed, payload) ?? payload.query;
    await documents.waitForTurn(text);
    const document = enveloped.parse(text);
    const errors = enveloped.validate(enveloped.schema, document);
    if (errors.length > 0) return { errors };
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

/**
 * The enveloped functions of an operation travel as its root value. They are needed once, and a subscription's
 * arguments live as long as its socket.
 */
function takeEnveloped(args: ExecutionArgs): Enveloped {
  // Set by `prepare` for every operation; nothing else makes execution arguments here.
  const enveloped = args.rootValue as Enveloped;
  args.rootValue = undefined;
  return enveloped;
}
