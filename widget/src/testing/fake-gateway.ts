import { type FakeAnswer, launchTicket, portalUrl, toResponse } from './answers.ts';
import { type FakeOrder, fakeOrder } from './fake-order.ts';
import type { FakeSocket } from './fake-socket.ts';
import { intercept } from './interception.ts';

/** The operations that the elements send. */
export type FakeOperation = 'order' | 'portal-url' | 'launch-ticket' | 'subscription';

/** One operation as the fake gateway received it. */
export interface FakeRequest {
  readonly operation: FakeOperation;
  readonly token: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** A gateway in script form for the tests of a page. The elements in front of it are the real ones. */
export interface FakeGateway extends Disposable {
  /** An address of its own, for `endpoint`. */
  readonly endpoint: string;
  /** For `tokenProvider`: a new token at every call. */
  readonly tokenProvider: () => string;
  /** Everything that was asked so far, oldest first. */
  readonly requests: readonly FakeRequest[];
  /** The order as it is now; null: there is none. */
  readonly order: FakeOrder | null;
  /**
   * Answers the next questions of this kind, one each, in this order; then it goes on by itself. A promise is waited for,
   * so a test decides which answer comes first. `{ data: {} }` leaves a subscription to itself.
   */
  readonly answer: (operation: FakeOperation, ...answers: (FakeAnswer | Promise<FakeAnswer>)[]) => void;
  /** Replaces the order and notifies every subscription. */
  readonly push: (order: FakeOrder | null, kind?: 'CHANGED' | 'RECONCILED' | 'RESYNC') => void;
  /** The network hangs up every socket; with `isRefusing` no new one opens until `acceptSockets()`. */
  readonly dropSockets: (options?: { readonly isRefusing?: boolean; readonly code?: number }) => void;
  readonly acceptSockets: () => void;
}

interface Subscription {
  readonly id: string;
  readonly socket: FakeSocket;
}

const OPERATIONS: Readonly<Record<string, FakeOperation>> = {
  PortalOrder: 'order',
  PortalLaunch: 'portal-url',
  PortalTicket: 'launch-ticket',
  PortalOrderUpdates: 'subscription',
};

let count = 0;

/**
 * Starts a fake gateway; end it with `using` or its `[Symbol.dispose]()`. Until then `fetch` and `WebSocket` of the page
 * lead to it for its own address. Unless told otherwise it has one order, a test kit on its way, and gives every launch
 * an address of `https://portal.test`.
 */
export function createFakeGateway(first: FakeOrder | null = defaultOrder()): FakeGateway {
  count += 1;
  const endpoint = `https://gateway-${count}.test/graphql`;
  const requests: FakeRequest[] = [];
  const scripts = new Map<FakeOperation, (FakeAnswer | Promise<FakeAnswer>)[]>();
  const sockets = new Set<FakeSocket>();
  const tokens = new WeakMap<FakeSocket, string>();
  let subscriptions: readonly Subscription[] = [];
  let order = first;
  let isRefusing = false;
  let cursor = 0;
  let tokenCount = 0;

  /** Records the operation and returns its scripted answer. */
  function hear(request: FakeRequest): FakeAnswer | Promise<FakeAnswer> | undefined {
    requests.push(request);
    return scripts.get(request.operation)?.shift();
  }

  function answerByItself(operation: FakeOperation): FakeAnswer {
    if (operation === 'portal-url') return portalUrl(`https://portal.test/launch/${requests.length}`);
    if (operation === 'launch-ticket') return launchTicket(`ticket-${requests.length}`);
    return { data: { order } };
  }

  async function answerPost(init: RequestInit): Promise<Response> {
    const { query, variables = {} } = JSON.parse(String(init.body));
    const operation = readOperation(query);
    // The first question of `diagnose()` names nothing.
    if (!operation) return Response.json({ data: { __typename: 'Query' } });
    const token = (new Headers(init.headers).get('authorization') ?? '').replace('Bearer ', '');
    const answer = await (hear({ operation, token, variables }) ?? answerByItself(operation));
    return toResponse(answer, init.signal);
  }

  function send({ id, socket }: Subscription, kind: string): void {
    const event = kind === 'CHANGED' ? (order?.events.at(-1) ?? null) : null;
    const orderUpdates = { cursor: `cursor-${cursor}`, kind, order, event };
    socket.say({ type: 'next', id, payload: { data: { orderUpdates } } });
  }

  async function subscribe(subscription: Subscription, variables: FakeRequest['variables']): Promise<void> {
    const { id, socket } = subscription;
    const token = tokens.get(socket) ?? '';
    const answer = await hear({ operation: 'subscription', token, variables });
    if (answer === 'unreachable') return socket.fall(1006);
    if (typeof answer === 'object' && 'errors' in answer) {
      return socket.say({ type: 'error', id, payload: answer.errors });
    }
    subscriptions = [...subscriptions, subscription];
    if (answer !== undefined) return;
    if (order) return variables.after ? undefined : send(subscription, 'SNAPSHOT');
    socket.say({ type: 'error', id, payload: [{ message: 'Refused.', extensions: { code: 'NOT_FOUND' } }] });
  }

  function receive(socket: FakeSocket, { type, id, payload }: Readonly<Record<string, unknown>>): void {
    const { authorization = '', variables = {} } = Object(payload);
    if (type === 'connection_init') {
      tokens.set(socket, String(authorization).replace('Bearer ', ''));
      socket.say({ type: 'connection_ack' });
    }
    if (type === 'ping') socket.say({ type: 'pong' });
    if (type === 'complete') subscriptions = subscriptions.filter((each) => each.id !== id);
    if (type === 'subscribe') void subscribe({ id: String(id), socket }, variables);
  }

  const end = intercept({
    endpoint,
    answer: answerPost,
    accepts: (socket) => {
      if (!isRefusing) sockets.add(socket);
      return !isRefusing;
    },
    received: receive,
  });

  return {
    endpoint,
    requests,
    get order() {
      return order;
    },
    tokenProvider: () => {
      tokenCount += 1;
      return `token-${tokenCount}`;
    },
    answer: (operation, ...answers) => {
      scripts.set(operation, [...(scripts.get(operation) ?? []), ...answers]);
    },
    push: (next, kind = 'CHANGED') => {
      order = next;
      cursor += 1;
      for (const subscription of subscriptions) send(subscription, kind);
    },
    dropSockets: ({ isRefusing: refuses = false, code = 1006 } = {}) => {
      isRefusing = refuses;
      subscriptions = [];
      for (const socket of sockets) socket.fall(code);
      sockets.clear();
    },
    acceptSockets: () => {
      isRefusing = false;
    },
    [Symbol.dispose]: end,
  };
}

function defaultOrder(): FakeOrder {
  return fakeOrder([
    ['RECEIVED', 'ordered'],
    ['COLLECTING_SAMPLE', 'transit_customer'],
  ]);
}

function readOperation(query: string): FakeOperation | undefined {
  return OPERATIONS[/(?:query|mutation|subscription) (\w+)/.exec(query)?.[1] ?? ''];
}
