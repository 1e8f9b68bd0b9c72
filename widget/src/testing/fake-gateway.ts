import { type FakeAnswer, launchTicket, portalUrl, toResponse } from './answers.ts';
import { type FakeOrder, fakeOrder } from './fake-order.ts';
import type { FakeSocket } from './fake-socket.ts';
import { intercept } from './interception.ts';

/** The operations that the elements send. */
export type FakeOperation =
  | 'order'
  | 'portal-url'
  | 'launch-ticket'
  | 'subscription'
  | 'results'
  | 'document-ticket';

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
  /** Everything that was asked so far, oldest first. Over HTTP, the first has the id `request-1`, and so on. */
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
  PortalResults: 'results',
  PortalDocument: 'document-ticket',
};

let count = 0;

class ScriptedGateway implements FakeGateway {
  readonly endpoint: string;
  readonly requests: FakeRequest[] = [];
  readonly #scripts = new Map<FakeOperation, (FakeAnswer | Promise<FakeAnswer>)[]>();
  readonly #sockets = new Set<FakeSocket>();
  readonly #tokens = new WeakMap<FakeSocket, string>();
  readonly #end: () => void;
  #subscriptions: readonly Subscription[] = [];
  #order: FakeOrder | null;
  #isRefusing = false;
  #cursor = 0;
  #tokenCount = 0;

  constructor(order: FakeOrder | null) {
    count += 1;
    this.endpoint = `https://gateway-${count}.test/graphql`;
    this.#order = order;
    this.#end = intercept({
      endpoint: this.endpoint,
      answer: (init) => this.#answerPost(init),
      accepts: (socket) => {
        if (!this.#isRefusing) this.#sockets.add(socket);
        return !this.#isRefusing;
      },
      received: (socket, message) => this.#receive(socket, message),
    });
  }

  get order(): FakeOrder | null {
    return this.#order;
  }

  // An arrow function: pages hand it to the elements by itself.
  readonly tokenProvider = (): string => {
    this.#tokenCount += 1;
    return `token-${this.#tokenCount}`;
  };

  answer(operation: FakeOperation, ...answers: (FakeAnswer | Promise<FakeAnswer>)[]): void {
    this.#scripts.set(operation, [...(this.#scripts.get(operation) ?? []), ...answers]);
  }

  push(next: FakeOrder | null, kind = 'CHANGED'): void {
    this.#order = next;
    this.#cursor += 1;
    for (const subscription of this.#subscriptions) this.#send(subscription, kind);
  }

  dropSockets({ isRefusing = false, code = 1006 } = {}): void {
    this.#isRefusing = isRefusing;
    this.#subscriptions = [];
    for (const socket of this.#sockets) socket.fall(code);
    this.#sockets.clear();
  }

  acceptSockets(): void {
    this.#isRefusing = false;
  }

  [Symbol.dispose](): void {
    this.#end();
  }

  /** Records the operation and returns its scripted answer. */
  #take(request: FakeRequest): FakeAnswer | Promise<FakeAnswer> | undefined {
    this.requests.push(request);
    return this.#scripts.get(request.operation)?.shift();
  }

  #answerByItself({ operation, variables }: FakeRequest): FakeAnswer {
    const { length } = this.requests;
    if (operation === 'portal-url') return portalUrl(`https://portal.test/launch/${length}`);
    if (operation === 'launch-ticket') return launchTicket(`ticket-${length}`);
    if (operation === 'document-ticket') {
      return { data: { document: { __typename: 'DocumentTicket', url: `/documents/${length}` } } };
    }
    if (!this.#order) return { data: { order: null } };
    const { results = null, ...order } = this.#order;
    if (operation !== 'results') return { data: { order } };
    const part = variables.full ? { results } : { resultMetadata: results?.metadata ?? null };
    return { data: { order: { ...order, ...part } } };
  }

  async #answerPost(init: RequestInit): Promise<Response> {
    const { query, variables = {} } = JSON.parse(String(init.body));
    const operation = readOperation(query);
    // The first question of `diagnose()` names nothing.
    if (!operation) return Response.json({ data: { __typename: 'Query' } });
    const token = (new Headers(init.headers).get('authorization') ?? '').replace('Bearer ', '');
    const request = { operation, token, variables };
    const scripted = this.#take(request);
    const requestId = `request-${this.requests.length}`;
    const answer = await (scripted ?? this.#answerByItself(request));
    return toResponse(answer, { signal: init.signal, requestId });
  }

  #send({ id, socket }: Subscription, kind: string): void {
    const order = this.#order;
    const event = kind === 'CHANGED' ? (order?.events.at(-1) ?? null) : null;
    const orderUpdates = { cursor: `cursor-${this.#cursor}`, kind, order, event };
    socket.say({ type: 'next', id, payload: { data: { orderUpdates } } });
  }

  async #subscribe(subscription: Subscription, variables: FakeRequest['variables']): Promise<void> {
    const { id, socket } = subscription;
    const token = this.#tokens.get(socket) ?? '';
    const answer = await this.#take({ operation: 'subscription', token, variables });
    if (answer === 'unreachable') return socket.fall(1006);
    if (typeof answer === 'object' && 'errors' in answer) {
      return socket.say({ type: 'error', id, payload: answer.errors });
    }
    this.#subscriptions = [...this.#subscriptions, subscription];
    if (answer !== undefined) return;
    // A cursor resumes: what changed since is sent, which here is the order as it is now.
    if (variables.after === `cursor-${this.#cursor}`) return;
    if (this.#order) return this.#send(subscription, variables.after ? 'CHANGED' : 'SNAPSHOT');
    socket.say({ type: 'error', id, payload: [{ message: 'Refused.', extensions: { code: 'NOT_FOUND' } }] });
  }

  #receive(socket: FakeSocket, { type, id, payload }: Readonly<Record<string, unknown>>): void {
    const { authorization = '', variables = {} } = Object(payload);
    if (type === 'connection_init') {
      this.#tokens.set(socket, String(authorization).replace('Bearer ', ''));
      socket.say({ type: 'connection_ack' });
    }
    if (type === 'ping') socket.say({ type: 'pong' });
    if (type === 'complete') this.#subscriptions = this.#subscriptions.filter((each) => each.id !== id);
    if (type === 'subscribe') void this.#subscribe({ id: String(id), socket }, variables);
  }
}

/**
 * Starts a fake gateway; end it with `using` or its `[Symbol.dispose]()`. Until then `fetch` and `WebSocket` of the page
 * lead to it for its own address. By default it has one order, a test kit on its way, and gives every launch
 * an address of `https://portal.test`.
 */
export function createFakeGateway(first: FakeOrder | null = defaultOrder()): FakeGateway {
  return new ScriptedGateway(first);
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
