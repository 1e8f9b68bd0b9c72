import { once } from 'node:events';
import { WebSocket } from 'ws';
import { nowMs } from '../support/clock.ts';
import { serveCalls } from '../support/load-process.ts';

/** A process of subscribers: bare sockets that record only the arrival of items. */
export type ListenerCalls = typeof calls;

/** A subscription whose one field has the alias `item`. */
export interface Wanted {
  readonly url: string;
  readonly token: string;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** One received item: `<order id>:<event id>`, and the time at which its bytes arrived. */
export interface Arrival {
  readonly key: string;
  readonly atMs: number;
}

/** How many sockets are opened at once. */
const opening = 50;

const sockets = new Set<WebSocket>();
let arrivals: Arrival[] = [];

const calls = {
  /** Opens subscriptions that begin with a snapshot; resolves when each has shown its own. */
  open: async ({ wanted }: { wanted: readonly Wanted[] }) => {
    const queue = wanted.values();
    const work = async () => {
      for (const each of queue) await openOne(each);
    };
    await Promise.all(Array.from({ length: opening }, work));
  },
  /** Subscribes and never reads. */
  openStalled: async ({ wanted }: { wanted: Wanted }) => {
    const socket = await connect(wanted);
    socket.pause();
  },
  /** The items since the last call. */
  takeArrivals: async (_: null): Promise<readonly Arrival[]> => {
    const taken = arrivals;
    arrivals = [];
    return taken;
  },
  /** Follows one subscription as fast as it comes until so many items were there. */
  take: async ({ wanted, count }: { wanted: Wanted; count: number }) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    let [items, firstMs] = [0, 0];
    const startedMs = nowMs();
    const socket = await connect(wanted, (item) => {
      if (items === 0) firstMs = nowMs();
      items += 1;
      if (items === count) resolve(item.cursor);
    });
    const cursor = await promise;
    const lastMs = nowMs();
    socket.terminate();
    return { cursor, startedMs, firstMs, lastMs };
  },
  closeAll: async (_: null) => {
    const open = [...sockets];
    const closed = open.map((socket) => once(socket, 'close'));
    for (const socket of open) socket.terminate();
    await Promise.all(closed);
  },
};

async function openOne(wanted: Wanted): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await connect(wanted, (item, atMs) => {
    if (item.event) arrivals.push({ key: `${item.order?.id}:${item.event.id}`, atMs });
    else resolve();
  });
  await promise;
}

interface Item {
  readonly cursor: string;
  readonly order?: { readonly id: string };
  readonly event?: { readonly id: string } | null;
}

/** Speaks `graphql-transport-ws` with one subscription. Resolves when it was asked for. */
async function connect(
  { url, token, query, variables }: Wanted,
  onItem?: (item: Item, atMs: number) => void,
): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
    perMessageDeflate: false,
  });
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const say = (message: object) => socket.send(JSON.stringify(message));
  socket.once('error', reject);
  socket.once('close', (code) => reject(new Error(`The gateway closed a socket with ${code}.`)));
  socket.once('open', () => say({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }));
  socket.on('message', (bytes: Buffer) => {
    const atMs = nowMs();
    const message = JSON.parse(bytes.toString());
    if (message.type === 'connection_ack') {
      say({ id: '1', type: 'subscribe', payload: { query, variables } });
      resolve();
    } else if (message.type === 'next' && message.payload.errors === undefined) {
      onItem?.(message.payload.data.item, atMs);
    } else if (message.type !== 'ping') {
      throw new Error(`A subscriber was answered ${JSON.stringify(message)}.`);
    }
  });
  await promise;
  return socket;
}

serveCalls(calls);
