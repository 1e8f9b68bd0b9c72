import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { AuditKey } from '../audit/line.ts';
import type { Caller } from '../auth/rights.ts';
import type { Config } from '../config/config.ts';
import { GatewayError } from '../errors.ts';
import { type CutReason, createBoundedServer, type Route } from '../http/connection-limits.ts';
import { type AccessLog, createAccessLog } from '../telemetry/access-log.ts';
import { createRequestScope, requestIdHeader, requestIdOf, runInScope } from '../telemetry/request.ts';
import { startRequest, traceAnswer } from '../telemetry/trace-requests.ts';
import { currentTracing } from '../telemetry/tracing.ts';
import type { Core } from './core.ts';

type Fetch = (request: Request, connection?: object) => Response | Promise<Response>;

export interface ServersParts {
  readonly fetch: Fetch;
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>;
  /** Answers at METRICS_PORT. */
  readonly fetchMetrics: Fetch;
}

/** The HTTP servers of a gateway: one for everything, and one for those who run it if it has an address. */
export class Servers {
  readonly #core: Core;
  readonly #route: Route;
  readonly #main: Server;
  readonly #metrics: Server | null;
  readonly #writeAccess: AccessLog | null;
  readonly #tracing = currentTracing();
  #closed: Promise<unknown> | null = null;

  constructor(core: Core, { fetch, upgrade, fetchMetrics }: ServersParts) {
    const onCut = (reason: CutReason) => core.metrics.connectionsCut.inc({ reason });
    this.#core = core;
    this.#route = toRoute(fetch);
    this.#writeAccess = core.config.accessLog
      ? createAccessLog({ log: core.log, nameOf: createCallerNames(core.config) })
      : null;
    this.#main = createBoundedServer({ answer: this.#answer }, onCut, core.config.keepAliveSeconds);
    this.#main.on('upgrade', async (request, socket, head) => {
      socket.on('error', destroy);
      const scope = createRequestScope(request);
      if (this.#tracing !== null) scope.span = startRequest(this.#tracing, request);
      try {
        await runInScope(scope, () => upgrade(request, socket, head));
      } finally {
        scope.span?.end();
      }
    });
    const hasOwnAddress = core.config.metricsAddress !== null;
    this.#metrics = hasOwnAddress ? createBoundedServer(toRoute(fetchMetrics), onCut) : null;
  }

  /** Every request begins here, whichever path answers it. */
  readonly #answer: RequestListener = (request, response) => {
    const scope = createRequestScope(request);
    this.#writeAccess?.({ request, response, scope });
    if (this.#tracing !== null) traceAnswer(this.#tracing, { request, response, scope });
    runInScope(scope, () => this.#route.answer(request, response));
  };

  /** @returns the address of the main server */
  async listen(): Promise<string> {
    const { config, log } = this.#core;
    const { host, port, reusePort, metricsAddress } = config;
    const url = await listen(this.#main, { host, port, reusePort });
    if (this.#metrics !== null && metricsAddress !== null) {
      const address = await listen(this.#metrics, { ...metricsAddress, prefix: 'METRICS_' });
      log.info('metrics.listening', { address });
    }
    return url;
  }

  /**
   * From now on ordinary JSON requests are answered straight from node:http. Before that, requests for GraphQL wait
   * until it is loaded.
   */
  useDirectPath(create: (otherwise: RequestListener) => RequestListener): void {
    this.#route.answer = create(this.#route.answer);
  }

  /**
   * Answers on for a while and ends each connection with its next answer, so that a load balancer sends its next request
   * elsewhere. Then it accepts no new connections.
   */
  async drain(seconds: number): Promise<void> {
    this.#main.prependListener('request', (_request, response) => {
      response.shouldKeepAlive = false;
    });
    await setTimeout(seconds * 1000);
    await untilAllAreAccepted(this.#main);
    void this.#startClosing();
  }

  /** Lets requests in progress end within 4 s, then cuts the others. */
  async close(): Promise<void> {
    const closed = this.#startClosing();
    // Repeated, because a keep-alive connection becomes idle only when its request has ended.
    const idling = setInterval(() => this.#each((server) => server.closeIdleConnections()), 100);
    const outcome = await Promise.race([closed, setTimeout(drainMs, 'late', { ref: false })]);
    if (outcome === 'late') this.#each((server) => server.closeAllConnections());
    await closed;
    clearInterval(idling);
  }

  #each(act: (server: Server) => void): void {
    for (const server of [this.#main, this.#metrics]) if (server !== null) act(server);
  }

  #startClosing(): Promise<unknown> {
    this.#closed ??= Promise.all([closeOne(this.#main), this.#metrics && closeOne(this.#metrics)]);
    return this.#closed;
  }
}

async function closeOne(server: Server): Promise<void> {
  if (server.listening) await new Promise<void>((resolve) => server.close(() => resolve()));
}

/** What still waits to be accepted is reset at the end of this time. A starved process has needed more than one second. */
const acceptWithinMs = 2500;
/** A turn of the event loop in which nothing happened is shorter. */
const quietTurnMs = 0.2;

/**
 * Waits for a turn of the event loop in which nothing came. When the socket closes, the kernel resets connections that wait
 * to be accepted. A proxy may have sent its request over one by then; it does not send a POST again, and answers 502. Node
 * accepts one connection a turn.
 */
async function untilAllAreAccepted(server: Server): Promise<void> {
  let hasAccepted = false;
  const onConnection = () => {
    hasAccepted = true;
  };
  server.on('connection', onConnection);
  const end = performance.now() + acceptWithinMs;
  for (let [now, isQuiet] = [performance.now(), false]; !isQuiet && now < end; ) {
    hasAccepted = false;
    await setImmediate();
    const before = now;
    now = performance.now();
    isQuiet = !hasAccepted && now - before < quietTurnMs;
  }
  server.off('connection', onConnection);
}

/** The names of callers in the access log: of their keys, or the pseudonyms of the audit trail. */
function createCallerNames({ auditTrail }: Config): (caller: Caller) => string {
  const key = auditTrail === null ? null : new AuditKey(auditTrail.keys[0]);
  return (caller) => {
    if (caller.kind !== 'USER') return caller.keyName ?? 'gateway';
    return key === null ? 'viewer' : `user-${key.userPseudonym(caller.userId)}`;
  };
}

function toRoute(fetch: Fetch): Route {
  const answer = getRequestListener(fetch, { overrideGlobalObjects: false });
  return {
    answer: (request, response) => {
      response.setHeader(requestIdHeader, requestIdOf(request));
      return answer(request, response);
    },
  };
}

/** One function for all sockets: ten thousand closures would take 0.1 kB each. */
function destroy(this: Duplex): void {
  this.destroy();
}

/** How long requests in progress may take when the server closes, in milliseconds. */
const drainMs = 4000;

/**
 * Connections that may wait to be accepted, as far as the system lets them: when a gateway ends, all its streams come to
 * the others at once. One that finds no room is tried again by its client's kernel after a second, and after three.
 */
const maxWaiting = 4096;

interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** Whether other processes may listen on the same port; the kernel then spreads connections over them. */
  readonly reusePort?: boolean;
  /** Prefix of the variables for host and port. */
  readonly prefix?: string;
}

/**
 * @returns the address, with the port that was chosen
 * @throws GatewayError CONFIG_INVALID when the port is taken or the host is none of this machine's
 */
async function listen(server: Server, at: ListenAddress): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(describeListenFailure(cause, at)));
    const { port, host, reusePort = false } = at;
    server.listen({ port, host, reusePort, backlog: maxWaiting }, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
  // A server that listens on a TCP port has an address of this shape.
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${name}:${address.port}`;
}

function describeListenFailure(cause: Error, { host, port, prefix = '' }: ListenAddress): Error {
  const isTaken = 'code' in cause && cause.code === 'EADDRINUSE';
  const fault = isTaken
    ? `${prefix}PORT ${port} is taken on ${host}. Stop what uses it, or give another ${prefix}PORT.`
    : `${prefix}HOST ${host} with ${prefix}PORT ${port} cannot be listened on.`;
  return new GatewayError('CONFIG_INVALID', `- ${fault}`, { cause });
}
