import { vi } from 'vitest';
import { type FakeResults, fakeResults } from '../../../widget/src/testing/fake-results.ts';
import type { FakeSocket, SocketServer } from '../../../widget/src/testing/fake-socket.ts';
import { kitAfter, type WireOrder } from './orders.ts';
import { createFakeSocketClass } from './socket-class.ts';

/** One POST as the gateway saw it. */
export interface SeenRequest {
  readonly operation: string;
  readonly token: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly init: RequestInit;
}

/** One subscription as the gateway saw it. */
export interface SeenSubscription {
  readonly id: string;
  readonly socket: FakeSocket;
  readonly variables: Readonly<Record<string, unknown>>;
}

type Answer = (request: SeenRequest) => Response | Promise<Response>;

/** A gateway in script form behind `fetch` and `WebSocket`; everything of the widget in front of it is real. */
export class FakeGateway implements SocketServer, Disposable {
  /** Behind a path, as a proxy of the page's own host may have it. */
  readonly endpoint: string = `https://gateway-${crypto.randomUUID()}.test/api/graphql`;
  readonly requests: SeenRequest[] = [];
  readonly sockets: FakeSocket[] = [];
  readonly socketTokens: string[] = [];
  readonly subscriptions: SeenSubscription[] = [];
  readonly completed: string[] = [];
  order: WireOrder | null = kitAfter(3);
  portalResult: unknown = { __typename: 'PortalUrl', url: 'https://portal.test/launch?secret=1' };
  results: FakeResults | null = fakeResults();
  /** Answers to the next reads of results, one each, instead of the results. */
  readonly resultAnswers: (object | Promise<object>)[] = [];
  documentResult: unknown = { __typename: 'DocumentTicket', url: '/documents/ticket-1' };
  ticketResult: unknown = { __typename: 'LaunchTicket', ticket: 'ticket-1' };
  acceptsSockets = true;
  /** Tokens that are refused, on both ways. */
  readonly refusedTokens = new Set<string>();
  /** The codes the next subscriptions with a cursor are refused with, one each. */
  readonly cursorRefusals: string[] = [];
  /** Held back until the test lets it go. */
  portalGate: Promise<void> = Promise.resolve();
  #cursor = 0;
  readonly #fetch = window.fetch;
  readonly #webSocket = window.WebSocket;

  constructor() {
    window.fetch = ((input, init) => this.#answer(String(input), init ?? {})) as typeof fetch;
    window.WebSocket = createFakeSocketClass(this);
  }

  [Symbol.dispose](): void {
    document.body.replaceChildren();
    window.fetch = this.#fetch;
    window.WebSocket = this.#webSocket;
  }

  accepts(socket: FakeSocket): boolean {
    if (this.acceptsSockets) this.sockets.push(socket);
    return this.acceptsSockets;
  }

  received(socket: FakeSocket, message: Readonly<Record<string, unknown>>): void {
    if (message.type === 'connection_init') this.#greet(socket, message.payload as Record<string, string>);
    if (message.type === 'complete') this.completed.push(String(message.id));
    if (message.type === 'subscribe') {
      const { variables } = message.payload as { variables: Record<string, unknown> };
      this.#subscribe({ id: String(message.id), socket, variables });
    }
  }

  /** Sends an update of the order to every open subscription. */
  push(kind: string, order: WireOrder): void {
    this.order = order;
    this.#cursor += 1;
    for (const { id, socket } of this.subscriptions) this.#send(socket, id, kind);
  }

  /** What a subscription asked to resume from, in turn. */
  get resumedFrom(): readonly unknown[] {
    return this.subscriptions.map(({ variables }) => variables.after);
  }

  /** The newest socket, once there are this many. */
  async socket(count = 1): Promise<FakeSocket> {
    return vi.waitFor(() => {
      const socket = this.sockets[count - 1];
      if (!socket || this.subscriptions.every((subscription) => subscription.socket !== socket))
        throw new Error('No socket yet.');
      return socket;
    });
  }

  #greet(socket: FakeSocket, payload: Record<string, string>): void {
    const token = String(payload.authorization).replace('Bearer ', '');
    this.socketTokens.push(token);
    if (this.refusedTokens.has(token)) socket.fall(4403);
    else socket.say({ type: 'connection_ack' });
  }

  #subscribe(subscription: SeenSubscription): void {
    this.subscriptions.push(subscription);
    const { id, socket, variables } = subscription;
    if (!this.order) this.#refuse(subscription, 'NOT_FOUND');
    else if (variables.after) this.#refuse(subscription, this.cursorRefusals.shift());
    else this.#send(socket, id, 'SNAPSHOT');
  }

  #refuse({ id, socket }: SeenSubscription, code: string | undefined): void {
    if (code) socket.say({ type: 'error', id, payload: [{ message: 'Refused.', extensions: { code } }] });
  }

  #send(socket: FakeSocket, id: string, kind: string): void {
    const { order } = this;
    const event = kind === 'SNAPSHOT' || kind === 'RESYNC' ? null : (order?.events.at(-1) ?? null);
    const orderUpdates = { cursor: `cursor-${this.#cursor}`, kind, order, event, receivedAt: null };
    socket.say({ type: 'next', id, payload: { data: { orderUpdates } } });
  }

  async #answer(url: string, init: RequestInit): Promise<Response> {
    if (url !== this.endpoint) return this.#fetch(url, init);
    const { query, variables } = JSON.parse(String(init.body)) as {
      query: string;
      variables: Record<string, unknown>;
    };
    const operation = /(?:query|mutation) (\w+)/.exec(query)?.[1] ?? '';
    const token = new Headers(init.headers).get('authorization')?.replace('Bearer ', '') ?? '';
    const request: SeenRequest = { operation, token, variables, init };
    this.requests.push(request);
    const requestId = `request-${this.requests.length}`;
    const response = await this.#answerRequest(request);
    response.headers.set('x-request-id', requestId);
    return response;
  }

  #answerRequest(request: SeenRequest): Response | Promise<Response> {
    if (this.refusedTokens.has(request.token)) return new Response('{}', { status: 401 });
    return this.#answers[request.operation]?.(request) ?? new Response('{}', { status: 400 });
  }

  readonly #answers: Record<string, Answer> = {
    PortalOrder: () => Response.json({ data: { order: this.order } }),
    PortalLaunch: async ({ init }) => {
      await Promise.race([this.portalGate, rejectOnAbort(init.signal)]);
      return Response.json({ data: { launch: this.portalResult } });
    },
    PortalResults: async ({ variables: { full } }) => {
      const { order, results } = this;
      const part = full ? { results } : { resultMetadata: results?.metadata ?? null };
      const found = order && { id: order.id, status: order.status, ...part };
      return Response.json(await (this.resultAnswers.shift() ?? { data: { order: found } }));
    },
    PortalDocument: async () => Response.json({ data: { document: await this.documentResult } }),
    PortalTicket: () => Response.json({ data: { launch: this.ticketResult } }),
  };
}

function rejectOnAbort(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
  });
}
