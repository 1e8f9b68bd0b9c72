import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { type CutReason, createBoundedServer } from '../http/connection-limits.ts';
import { closeServer, listen } from '../http/server.ts';
import type { Core } from './core.ts';

type Fetch = (request: Request, connection?: object) => Response | Promise<Response>;

export interface ServersParts {
  readonly fetch: Fetch;
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>;
  /** Answers `/metrics` at METRICS_PORT. */
  readonly fetchMetrics: Fetch;
}

/** The HTTP servers of a gateway: one for everything, and one for metrics if they have an address of their own. */
export class Servers {
  readonly #core: Core;
  readonly #main: Server;
  readonly #metrics: Server | null;
  readonly #answer: RequestListener;
  /** Until GraphQL is loaded, every request takes this way, and waits where it must. */
  #direct: RequestListener | null = null;

  constructor(core: Core, { fetch, upgrade, fetchMetrics }: ServersParts) {
    const onCut = (reason: CutReason) => core.metrics.connectionsCut.inc({ reason });
    this.#core = core;
    this.#answer = toListener(fetch);
    this.#main = createBoundedServer((request, response) => this.#take(request, response), onCut);
    this.#main.on('upgrade', async (request, socket, head) => {
      socket.on('error', destroy);
      await upgrade(request, socket, head);
    });
    const hasOwnAddress = core.config.metricsAddress !== null;
    this.#metrics = hasOwnAddress ? createBoundedServer(toListener(fetchMetrics), onCut) : null;
  }

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

  /** From now on ordinary JSON requests are answered straight from node:http. */
  useDirectPath(create: (otherwise: RequestListener) => RequestListener): void {
    this.#direct = create(this.#answer);
  }

  async close(): Promise<void> {
    await Promise.all([closeServer(this.#main), this.#metrics && closeServer(this.#metrics)]);
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const listener = this.#direct ?? this.#answer;
    listener(request, response);
  }
}

function toListener(fetch: Fetch): RequestListener {
  return getRequestListener((request, connection) => fetch(request, connection), {
    overrideGlobalObjects: false,
  });
}

/** One function for all: a closure for each of ten thousand sockets would take 0.1 kB more. */
function destroy(this: Duplex): void {
  this.destroy();
}
