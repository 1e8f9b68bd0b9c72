import { createPortalClient } from '../../../widget/src/client/client.ts';
import type { FakeSocket, SocketServer } from '../../../widget/src/testing/fake-socket.ts';
import { kitAfter } from './orders.ts';
import { installPage } from './scripted-page.ts';

interface Subscription {
  readonly after: unknown;
  readonly id: string;
  readonly socket: FakeSocket;
  readonly orderId: string;
}

/** A gateway for the tests of orders in Node. It refuses as the real one does: errors in a `next`, then `complete`. */
export class OrderGateway implements SocketServer {
  readonly sockets: FakeSocket[] = [];
  subscriptions: readonly Subscription[] = [];
  /** The number of questions so far: subscriptions and reads. */
  readonly asked = { live: 0, read: 0 };
  /** The orders have moved to another user, so a subscription that is resumed ends at once. */
  hasMoved = false;
  /** What every question is refused with. */
  refusal: string | null = null;
  opens = true;
  answersPings = true;
  /** Whether sockets carry messages. Some proxies open a socket and carry none. */
  answersSockets = true;
  /** The network is there for HTTP. */
  isReachable = true;
  operationsPerSocket = 50;

  accepts(socket: FakeSocket): boolean {
    this.sockets.push(socket);
    return this.opens;
  }

  received(socket: FakeSocket, { type, id, payload }: Readonly<Record<string, unknown>>): void {
    if (!this.answersSockets) return;
    if (type === 'connection_init') socket.say({ type: 'connection_ack' });
    if (type === 'ping' && this.answersPings) socket.say({ type: 'pong' });
    if (type === 'complete') this.subscriptions = this.subscriptions.filter((each) => each.id !== id);
    if (type !== 'subscribe') return;
    const { variables } = payload as { variables: { orderId: string; after: unknown } };
    this.#subscribe({ ...variables, id: String(id), socket });
  }

  readonly answer = async (): Promise<Response> => {
    this.asked.read += 1;
    if (!this.isReachable) throw new TypeError('Failed to fetch');
    if (this.refusal) return Response.json({ data: null, errors: readErrors(this.refusal) });
    return Response.json({ data: { order: kitAfter(3) } });
  };

  /** Ends every subscription without an error, as when its order has moved to another user. */
  complete(): void {
    for (const { socket, id } of this.subscriptions) socket.say({ type: 'complete', id });
    this.subscriptions = [];
  }

  #subscribe(subscription: Subscription): void {
    const { id, socket, orderId, after } = subscription;
    this.asked.live += 1;
    const isFull =
      this.subscriptions.filter((each) => each.socket === socket).length >= this.operationsPerSocket;
    if (isFull) {
      socket.say({ type: 'error', id, payload: readErrors('RATE_LIMITED') });
      return;
    }
    const refusal = this.hasMoved ? 'NOT_FOUND' : this.refusal;
    const isResumed = this.hasMoved && after !== null;
    if (refusal && !isResumed)
      socket.say({ type: 'next', id, payload: { data: null, errors: readErrors(refusal) } });
    if (refusal) {
      socket.say({ type: 'complete', id });
      return;
    }
    this.subscriptions = [...this.subscriptions, subscription];
    const order = { ...kitAfter(3), id: orderId };
    const orderUpdates = { kind: 'SNAPSHOT', order, event: null, cursor: 'cursor' };
    socket.say({ type: 'next', id, payload: { data: { orderUpdates } } });
  }
}

function readErrors(code: string): readonly object[] {
  return [{ message: 'Refused.', extensions: { code } }];
}

/** A page whose elements follow orders at this gateway. */
export function openPage(gateway: OrderGateway) {
  const page = installPage(gateway);
  const client = createPortalClient({
    endpoint: 'https://gateway.test/graphql',
    tokenProvider: () => 'token',
  });
  /** Follows an order, and gives what was reported of it. */
  const follow = (orderId = 'order-1') => {
    const feed = client.feed(orderId, false);
    const seen = { orders: 0, connections: [] as string[], errors: [] as string[] };
    const listener = {
      pollIntervalSeconds: () => 30,
      orderChanged: () => {
        seen.orders += 1;
      },
      connectionChanged: (connection: string) => void seen.connections.push(connection),
      orderFailed: ({ code }: { readonly code: string }) => void seen.errors.push(code),
    };
    feed.follow(listener);
    return { feed, seen, leave: () => feed.leave(listener) };
  };
  return { page, follow };
}
