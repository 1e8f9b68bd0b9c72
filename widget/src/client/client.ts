import { readEndpoint, toSocketAddress } from '../gateway/addresses.ts';
import { PortalError, toPortalError } from '../gateway/errors.ts';
import { type Fields, readFields, readJson } from '../gateway/fields.ts';
import { isRefusal, toGatewayError } from '../gateway/gateway-error.ts';
import { READ_ORDER } from '../gateway/operations.ts';
import {
  createTokenCache,
  type TokenCache,
  type TokenNeed,
  type TokenProvider,
  WAIT_LIMIT_MS,
  withinTime,
} from '../gateway/token.ts';
import { createLiveSockets } from '../live/live-socket.ts';
import { type PortalOrder, readOrder } from '../live/order.ts';
import { type OrderFeed, SharedOrderFeed } from '../live/order-feed.ts';

/** One operation over HTTP. */
export interface GatewayRequest<Value> extends TokenNeed {
  readonly query: string;
  readonly variables?: Fields;
  /** Reads the `data` of the answer. A PortalError that it throws gets the id of the request. */
  readonly read: (data: Fields) => Value;
  /** Every part of the answer is needed: an error in one is the error of all, and SCOPE_MISSING if the token may not read it. */
  readonly isWhole?: boolean;
}

/** Everything the elements of one endpoint and one token source share: the token, the socket, the orders. */
export interface PortalClient {
  /** The gateway's address, absolute. */
  readonly endpoint: string;
  /** The shared state of one order; `full` also brings the name of the test. */
  readonly feed: (orderId: string, full: boolean) => OrderFeed;
  /**
   * Posts one operation and reads its answer. A refused token is replaced once.
   * @throws PortalError, with the id of the request where there is an answer; TIMEOUT when the signal's time is over
   */
  readonly execute: <Value>(request: GatewayRequest<Value>, signal: AbortSignal) => Promise<Value>;
}

/**
 * A client of its own, for hosts that hand it to the elements themselves. Opens nothing until an element needs it.
 * @throws PortalError ENDPOINT_INVALID
 */
export function createPortalClient(options: {
  readonly endpoint: string;
  readonly tokenProvider: TokenProvider;
}): PortalClient {
  const endpoint = readEndpoint(options.endpoint);
  const tokens = createTokenCache(options.tokenProvider);
  const findSocket = createLiveSockets(toSocketAddress(endpoint), tokens);
  const feeds = new Map<string, OrderFeed>();
  const execute: PortalClient['execute'] = (request, signal) => ask({ endpoint, tokens, request, signal });

  return {
    endpoint,
    execute,
    feed: (orderId, full) => {
      const key = orderId + full;
      const read = () => readOneOrder(execute, orderId, full);
      const feed = feeds.get(key) ?? new SharedOrderFeed({ orderId, full, read, findSocket });
      // Stored as long as the client lives, so that the cursor survives a pause.
      feeds.set(key, feed);
      return feed;
    },
  };
}

/** @throws PortalError NOT_FOUND when the token's user has no such order */
function readOneOrder(
  execute: PortalClient['execute'],
  orderId: string,
  full: boolean,
): Promise<PortalOrder> {
  const read = (data: Fields) => {
    const order = readOrder(data.order, full);
    if (!order) throw new PortalError('NOT_FOUND');
    return order;
  };
  const request = {
    query: READ_ORDER,
    variables: { orderId, full },
    scope: 'status',
    orderId,
    read,
  } as const;
  return execute(request, AbortSignal.timeout(WAIT_LIMIT_MS));
}

interface Asked<Value> {
  readonly endpoint: string;
  readonly tokens: TokenCache;
  readonly request: GatewayRequest<Value>;
  readonly signal: AbortSignal;
}

async function ask<Value>(asked: Asked<Value>, isSecondTime = false): Promise<Value> {
  const { tokens, request, signal } = asked;
  let token = '';
  let response: Response | undefined;
  try {
    // The time for the token is part of the time that a person waits.
    token = await withinTime(signal, tokens.get(request));
    response = await post(asked, token);
    return request.read(await readData(response, request));
  } catch (cause) {
    const error = signal.aborted ? new PortalError('TIMEOUT') : toPortalError(cause, 'NETWORK');
    error.requestId ??= response?.headers.get('x-request-id') ?? null;
    // A token without the scope of the question: a new one, asked for with it, may do.
    const isOfToken = error.code === 'UNAUTHENTICATED' || error.code === 'SCOPE_MISSING';
    if (isSecondTime || !isOfToken) throw error;
  }
  tokens.reject(token);
  return ask(asked, true);
}

function post(
  { endpoint, request: { query, variables }, signal }: Asked<unknown>,
  token: string,
): Promise<Response> {
  return fetch(endpoint, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json',
    },
    body: JSON.stringify({ query, variables }),
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    cache: 'no-store',
    signal,
  });
}

async function readData(response: Response, { isWhole }: GatewayRequest<unknown>): Promise<Fields> {
  if (response.status === 401) throw new PortalError('UNAUTHENTICATED');
  const answer = readJson(await response.text()) ?? {};
  if (isWhole && answer.errors) throw toGatewayError(answer.errors, 'SCOPE_MISSING');
  if (!answer.data || isRefusal(answer)) throw toGatewayError(answer.errors);
  return readFields(answer.data);
}

/** A client and the elements that use it. It is dropped when the last of them leaves the page. */
interface Shared {
  readonly client: PortalClient;
  readonly source: object;
  readonly users: Set<HTMLElement>;
}

let pool: readonly Shared[] = [];

/**
 * The shared client of this endpoint and token source. The element uses it until `leaveClients`.
 * @param ask requests a token from `source`, for one of its elements
 * @throws PortalError ENDPOINT_INVALID
 */
export function joinClient(
  user: HTMLElement,
  { endpoint, source }: { readonly endpoint: string; readonly source: object },
  ask: (user: HTMLElement) => TokenProvider,
): PortalClient {
  const address = readEndpoint(endpoint);
  let shared = pool.find((each) => each.client.endpoint === address && each.source === source);
  if (shared?.users.has(user)) return shared.client;
  // An element has one client: another endpoint or token source needs another client.
  leaveClients(user);
  if (!shared) {
    const users = new Set<HTMLElement>();
    const tokenProvider: TokenProvider = (request) => {
      const [first = user] = users;
      return ask(first)(request);
    };
    shared = { client: createPortalClient({ endpoint, tokenProvider }), source, users };
    pool = [...pool, shared];
  }
  // An element that is not in the page would never leave.
  if (user.isConnected) shared.users.add(user);
  return shared.client;
}

/** The element has left. With the last one the client and its token are dropped: the next person may be somebody else. */
export function leaveClients(user: HTMLElement): void {
  pool = pool.filter(({ users }) => {
    users.delete(user);
    return users.size;
  });
}
