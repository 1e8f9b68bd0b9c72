import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ExecutionResult } from 'graphql';
import { CloseCode, handleProtocols, MessageType, makeServer, parseMessage } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Authenticate } from '../auth/authenticate.ts';
import type { ActiveCredentials } from '../auth/revocations.ts';
import type { Caller } from '../auth/rights.ts';
import { GatewayError, isGatewayError } from '../errors.ts';
import { formatForStream } from '../execution/mask.ts';
import { observeSend, type RunStream } from '../execution/streams.ts';
import { hasOneHost, refuseRequest } from '../http/connection-limits.ts';
import { traceHeader } from '../http/yoga.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { isOwnOrigin } from '../parse/origin.ts';
import {
  createRequestScope,
  currentRequest,
  type RequestScope,
  requestIdHeader,
  requestIdOf,
  runInScope,
} from '../telemetry/request.ts';
import { type OperationsOptions, prepareOperation, takeEnveloped } from './operations.ts';
import { describeResult, SentResults } from './sent-results.ts';
import { type WatchedSocket, watchSockets } from './socket-watch.ts';

const path = '/graphql';
const maxPayloadBytes = 100_000;
/** Together with the timeout of the close, no longer than the timeout of a request over HTTP. */
const initWaitMs = 8000;
const restartCode = 1012;
/** Clients reconnect after this code, with growing delays. */
const tryLaterCode = 1013;
/**
 * How long a client may take to answer the close; one that never does would delay the end of the process. An option of ws
 * that its types do not know.
 */
const closeOptions = { closeTimeout: 2000 };

export interface SocketsOptions extends OperationsOptions {
  readonly runStream: RunStream;
  readonly authenticate: Authenticate;
  readonly endOf: ActiveCredentials['endOf'];
  readonly isAllowedOrigin: (origin: string) => boolean;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** An open socket and its caller. Ten thousand are usual: each byte counts. */
interface Session extends Record<PropertyKey, unknown> {
  readonly socket: WebSocket;
  readonly watched: WatchedSocket;
  readonly origin: string | null;
  /** Of its upgrade. */
  readonly scope: RequestScope;
  readonly left: AbortController;
  caller: Caller | null;
  /** The credential of the upgrade, until the socket is authenticated. */
  authorization: string | null;
  /** Removes it from the caller's count of connections; null while it is not counted. */
  leave: (() => void) | null;
}

/**
 * GraphQL over WebSocket (`graphql-transport-ws`). The credential comes in `connectionParams.authorization`, or in the header
 * of the upgrade, which browsers cannot set. Only allowed origins and the gateway's own may connect: React Native and
 * Starscream send the latter. A socket closes with 4403 when its token ends or is revoked, or its key is removed; clients
 * reconnect after that.
 */
export class Sockets {
  readonly #options: SocketsOptions;
  readonly #protocol: Protocol;
  readonly #watch = watchSockets();
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: maxPayloadBytes,
    handleProtocols,
    ...closeOptions,
  });

  constructor(options: SocketsOptions) {
    this.#options = options;
    this.#protocol = createProtocol(options);
    this.#server.on('headers', (headers, request) => {
      headers.push(`${requestIdHeader}: ${requestIdOf(request)}`);
    });
    this.#server.on('connection', (socket, request) => this.#open(socket, request));
  }

  /** Takes a request to upgrade, or refuses it. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const refusal = this.#findRefusal(request);
    if (refusal !== null) refuseRequest(socket, refusal, requestIdOf(request));
    else
      this.#server.handleUpgrade(request, socket, head, (accepted) =>
        this.#server.emit('connection', accepted, request),
      );
  }

  #findRefusal(request: IncomingMessage): string | null {
    const { origin, host = '' } = request.headers;
    if ((request.url ?? '').split('?')[0] !== path) return '404 Not Found';
    if (!hasOneHost(request)) return '400 Bad Request';
    const isAllowed =
      origin === undefined || this.#options.isAllowedOrigin(origin) || isOwnOrigin(origin, host);
    return isAllowed ? null : '403 Forbidden';
  }

  /** Closes every socket with 1012, so that clients resume elsewhere with their cursor. */
  close(): void {
    for (const socket of this.#server.clients) socket.close(restartCode, 'Service restart');
    this.#server.close();
    this.#watch.stop();
  }

  #open(socket: WebSocket, request: IncomingMessage): void {
    const left = new AbortController();
    const watched = this.#watch.add(socket);
    const { origin = null, authorization = null } = request.headers;
    const scope = currentRequest() ?? createRequestScope(request);
    const session: Session = {
      socket,
      watched,
      origin,
      scope,
      left,
      caller: null,
      authorization,
      leave: null,
    };
    const closed = this.#protocol.opened(
      {
        protocol: socket.protocol,
        send: watched.send,
        close: (code, reason) => socket.close(code, reason),
        onMessage: (handle) => this.#listen(session, handle),
      },
      session,
    );
    socket.on('error', terminate);
    this.#options.metrics.sockets.inc();
    // It comes once; `once` would hold a wrapper for each idle socket.
    socket.on('close', (code, reason) => {
      this.#options.metrics.sockets.dec();
      left.abort();
      session.leave?.();
      closed(code, String(reason)).catch((error: unknown) => this.#logFailure(error));
    });
  }

  #listen(session: Session, handle: (message: string) => Promise<void>): void {
    const { socket, scope } = session;
    socket.on('message', (data, isBinary) => {
      if (!isOpen(session)) return;
      // The text of a text message is checked by ws.
      if (isBinary && Buffer.isBuffer(data) && !isUtf8(data))
        return socket.close(CloseCode.BadRequest, 'Invalid message received');
      const message = String(data);
      runInScope(scope, () => handle(message)).catch((error: unknown) => {
        // graphql-ws throws for these as it does for a fault of its own.
        if (isOfServers(message)) return socket.close(CloseCode.BadRequest, 'Invalid message received');
        this.#logFailure(error);
        socket.close(CloseCode.InternalServerError, 'The gateway failed.');
      });
    });
  }

  #logFailure(error: unknown): void {
    this.#options.log.error('socket.failed', { error });
  }
}

function terminate(this: WebSocket): void {
  this.terminate();
}

/** False once it is closing: a client that does not answer the close stays for a while, and goes on sending. */
function isOpen({ socket, watched }: Session): boolean {
  return socket.readyState === socket.OPEN && !watched.end?.aborted;
}

const typesOfServers: readonly MessageType[] = [
  MessageType.ConnectionAck,
  MessageType.Next,
  MessageType.Error,
];

/** Whether only servers send such a message, which graphql-ws has parsed. */
function isOfServers(message: string): boolean {
  return typesOfServers.includes(parseMessage(message).type);
}

type Params = Record<string, unknown>;
type Protocol = ReturnType<typeof createProtocol>;

function createProtocol(options: SocketsOptions) {
  return makeServer<Params, Session>({
    connectionInitWaitTimeout: initWaitMs,
    onConnect: ({ connectionParams, extra }) => connect(options, extra, connectionParams),
    onSubscribe: (context, id, payload) =>
      prepareOperation(options, payload, {
        session: context.extra,
        isTraced: context.connectionParams?.[traceHeader] === 'upstream',
        id,
        context,
      }),
    onError: (_context, _id, _payload, errors) => errors.map(formatForStream),
    onOperation: ({ extra }, id, _payload, _args, results) =>
      // `runStream` makes them.
      Symbol.asyncIterator in results
        ? new SentResults(results as AsyncGenerator<ExecutionResult>, async (result) => {
            observeSend(options.metrics, 'websocket', result);
            await extra.watched.send(describeResult(id, result));
            return isOpen(extra);
          })
        : undefined,
    onNext: (_context, _id, _payload, _args, { data = null, errors, extensions }) => {
      if (errors === undefined) return undefined;
      const formatted = errors.map(formatForStream);
      return { data, errors: formatted, ...(extensions === undefined ? {} : { extensions }) };
    },
    execute: (args) => takeEnveloped(args).execute(args),
    subscribe: (args) => {
      takeEnveloped(args);
      return options.runStream(args);
    },
  });
}

/** @returns false for a caller who may not connect: the socket is closed */
async function connect(
  { authenticate, endOf, rateLimits }: SocketsOptions,
  session: Session,
  params: Params | undefined,
): Promise<boolean> {
  const authorization = takeAuthorization(params) ?? session.authorization;
  session.authorization = null;
  const caller = await tryAuthenticate(authenticate, session, authorization);
  if (caller === null || !takeSeat(session, () => rateLimits.connect(caller))) return false;
  session.watched.end = endOf(caller);
  session.caller = caller;
  session.scope.caller = caller;
  return true;
}

/** The credential, named `authorization` in any case of letters. It is removed, so that the socket does not hold a secret. */
function takeAuthorization(params: Params = {}): unknown {
  let authorization: unknown;
  for (const name of Object.keys(params)) {
    if (name.toLowerCase() !== 'authorization') continue;
    authorization = params[name];
    Reflect.deleteProperty(params, name);
  }
  return authorization;
}

/** @returns null for a refused credential, after closing the socket. The reason is the message, which is always short enough */
async function tryAuthenticate(
  authenticate: Authenticate,
  { socket, origin }: Session,
  authorization: unknown,
): Promise<Caller | null> {
  try {
    return await authenticate({
      authorization: typeof authorization === 'string' ? authorization : null,
      origin,
    });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    socket.close(CloseCode.Forbidden, error.message);
    return null;
  }
}

/**
 * Counts the socket until it closes. A socket beyond the limit is closed at once, with a code after which its client
 * reconnects later.
 */
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
