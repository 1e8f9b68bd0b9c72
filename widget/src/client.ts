import { toSocketAddress } from './addresses.ts';
import { PortalError, toPortalError } from './errors.ts';
import { toGatewayError } from './gateway-error.ts';
import { LiveSocket } from './live-socket.ts';
import { READ_ORDER } from './operations.ts';
import { isFields, type PortalOrder, readOrder } from './order.ts';
import { OrderFeed } from './order-feed.ts';
import { TokenKeeper, type TokenNeed, type TokenProvider } from './token.ts';

const READ_LIMIT_MS = 15_000;

/** One question over HTTP. */
export interface GatewayRequest extends TokenNeed {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Everything the elements of one endpoint and one token source share: the token, the socket, the orders. */
export class PortalClient {
  readonly socket: LiveSocket;
  readonly #endpoint: string;
  readonly #tokens: TokenKeeper;
  readonly #feeds = new Map<string, OrderFeed>();

  constructor(endpoint: string, provider: TokenProvider) {
    this.#endpoint = endpoint;
    this.#tokens = new TokenKeeper(provider);
    this.socket = new LiveSocket(toSocketAddress(endpoint), this.#tokens);
  }

  /** The shared state of one order; kept while the page lives, so that its cursor survives a pause. */
  feed(orderId: string, full: boolean): OrderFeed {
    const key = `${orderId} ${full}`;
    const feed = this.#feeds.get(key) ?? new OrderFeed(this, { orderId, full });
    this.#feeds.set(key, feed);
    return feed;
  }

  /** @throws PortalError NOT_FOUND when the token's user has no such order */
  async readOrder(orderId: string, full: boolean): Promise<PortalOrder> {
    const signal = AbortSignal.timeout(READ_LIMIT_MS);
    const variables = { orderId, full };
    const answer = await this.execute({ query: READ_ORDER, variables, scope: 'status', orderId }, signal);
    const order = readOrder(answer.order);
    if (!order) throw new PortalError('NOT_FOUND');
    return order;
  }

  /**
   * Posts one operation and gives its `data`. A refused token is replaced once.
   * @throws PortalError; TIMEOUT when the signal's time is over
   */
  async execute(request: GatewayRequest, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    const token = await within(signal, this.#tokens.get(request));
    try {
      return await this.#post(request, { token, signal });
    } catch (cause) {
      const error = toRequestError(cause, signal);
      if (error.code !== 'UNAUTHENTICATED') throw error;
    }
    this.#tokens.reject(token);
    const renewed = await within(signal, this.#tokens.get(request));
    return this.#post(request, { token: renewed, signal }).catch((cause: unknown) => {
      throw toRequestError(cause, signal);
    });
  }

  async #post(request: GatewayRequest, { token, signal }: { token: string; signal: AbortSignal }) {
    const response = await fetch(this.#endpoint, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json',
      },
      body: JSON.stringify({ query: request.query, variables: request.variables }),
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      cache: 'no-store',
      signal,
    });
    if (response.status === 401) throw new PortalError('UNAUTHENTICATED');
    const body: unknown = await response.json().catch((cause: unknown) => {
      if (signal.aborted) throw cause;
      throw new PortalError('GATEWAY_ERROR', { cause });
    });
    if (!isFields(body)) throw new PortalError('GATEWAY_ERROR');
    if (body.errors) throw toGatewayError(body.errors);
    if (!isFields(body.data)) throw new PortalError('GATEWAY_ERROR');
    return body.data;
  }
}

function toRequestError(cause: unknown, signal: AbortSignal): PortalError {
  return signal.aborted ? new PortalError('TIMEOUT', { cause }) : toPortalError(cause, 'NETWORK');
}

/** The token is part of the time a person waits. */
function within<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  if (signal.aborted) return Promise.reject(new PortalError('TIMEOUT'));
  const timeout = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new PortalError('TIMEOUT')), { once: true });
  });
  return Promise.race([promise, timeout]);
}

/** Clients by token source, then by endpoint; a source that is gone takes its clients along. */
const clients = new WeakMap<object, Map<string, PortalClient>>();

/** The one client of this endpoint and this source; `source` stands for who gives the tokens. */
export function shareClient(endpoint: string, source: object, provider: TokenProvider): PortalClient {
  const bySource = clients.get(source) ?? new Map<string, PortalClient>();
  clients.set(source, bySource);
  const client = bySource.get(endpoint) ?? new PortalClient(endpoint, provider);
  bySource.set(endpoint, client);
  return client;
}
