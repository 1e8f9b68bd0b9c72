import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, type Server } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { createWebhookPost } from '../../test/support/post-webhook.ts';
import { createReadWorld, type ReadWorld, type ServiceOrder, type WorldSize } from '../reads/world.ts';
import { nowMs } from '../support/clock.ts';
import { serveCalls } from '../support/load-process.ts';
import { type Fault, misbehave } from './misbehave.ts';

/** The process of a service that changes: it accepts writes and sends webhooks about changes. */
export type LiveServiceCalls = typeof calls;

/** A receiver of webhooks. */
export interface Receiver {
  readonly url: string;
  readonly secret: string;
  /** One message of so many comes twice at once; left out: none does. */
  readonly twiceEvery?: number;
}

const mostEvents = 10;
const timeoutMs = 15_000;
/** Like the service: a keep-alive connection may be closed as it is used again. */
const attempts = 3;
const agent = new Agent({ keepAlive: true });

let world: ReadWorld | null = null;
let counted = 0;
let lastEventId = 1_000_000;
let server: Server | null = null;
let fault: Fault | null = null;

const calls = {
  /** Listens over a world of this size; resolves with its address. */
  listen: async (size: WorldSize): Promise<string> => {
    world = await createReadWorld(size);
    server = createServer(async (request, response) => {
      if (fault !== null && (await misbehave(fault, response))) return;
      const answer = await answerOf(request);
      response.writeHead(answer === null ? 404 : 200, { 'content-type': 'application/json' });
      response.end(answer ?? '{"detail":"Not Found"}');
    });
    await listen(server, 0);
    const address = server.address();
    if (typeof address !== 'object' || address === null) throw new Error('The service has no port.');
    return `http://127.0.0.1:${address.port}`;
  },
  /** From now on everything is answered with this fault, or as it should be. */
  misbehave: async (next: Fault | null): Promise<void> => {
    fault = next;
  },
  /** Closes the port for this time, and all connections. */
  closeFor: async (ms: number): Promise<void> => {
    const address = server?.address();
    if (!server || typeof address !== 'object' || address === null) throw new Error('It does not listen.');
    const closed = once(server.close(), 'close');
    server.closeAllConnections();
    await closed;
    await wait(ms);
    await listen(server, address.port);
  },
  /** The number of calls to the service up to now. */
  countCalls: async (): Promise<number> => counted,
  /** Changes the first orders at this rate and notifies the receiver, if any; resolves with the number of unacknowledged webhooks. */
  change: async ({
    perSecond,
    seconds,
    orders,
    receiver,
  }: {
    perSecond: number;
    seconds: number;
    orders: number;
    receiver: Receiver | null;
  }): Promise<number> => {
    const startedMs = nowMs();
    const sent = Array.from({ length: Math.floor(perSecond * seconds) }, async (_, index) => {
      await wait(Math.max(0, startedMs + (index * 1000) / perSecond - nowMs()));
      const order = advance(worldOf().orderIds[index % orders] ?? '');
      const isTwice = receiver?.twiceEvery !== undefined && index % receiver.twiceEvery === 0;
      return receiver === null || (await notify(order, receiver, isTwice));
    });
    return (await Promise.all(sent)).filter((isAcknowledged) => !isAcknowledged).length;
  },
};

async function listen(listener: Server, port: number): Promise<void> {
  listener.listen(port, '127.0.0.1');
  await once(listener, 'listening');
}

function worldOf(): ReadWorld {
  if (world === null) throw new Error('The service does not listen yet.');
  return world;
}

async function answerOf(request: IncomingMessage): Promise<string | null> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://service');
  counted += 1;
  const { userList, userAlone, ordersOfUser, ordersById, orderAlone } = worldOf();
  const orderId = /^\/v3\/order\/([^/]+)$/.exec(pathname)?.[1];
  if (orderId !== undefined && request.method === 'PATCH') {
    return update(orderId, JSON.parse((await request.toArray()).join('')));
  }
  if (orderId !== undefined) return orderAlone(orderId);
  if (pathname === '/v2/user/')
    return userList(Number(searchParams.get('offset')), Number(searchParams.get('limit')));
  const alone = /^\/v2\/user\/([^/]+)$/.exec(pathname)?.[1];
  if (alone !== undefined) return userAlone(alone);
  if (pathname !== '/orders') return null;
  const userId = searchParams.get('user_id');
  if (userId === null) return ordersById(searchParams.getAll('order_ids'));
  return ordersOfUser(userId, Number(searchParams.get('size') ?? 100));
}

/** Moves an order to another day. */
function update(orderId: string, { activate_by }: { readonly activate_by: string | null }): string | null {
  const before = worldOf().order(orderId);
  if (before === undefined) return null;
  const order = { ...before, activate_by, updated_at: new Date().toISOString() };
  worldOf().change(order);
  return JSON.stringify({ order, status: 'success', message: 'The order was updated.' });
}

/** Appends an event to an order, with its current status. */
function advance(orderId: string): ServiceOrder {
  const before = worldOf().order(orderId);
  if (before === undefined) throw new Error('There is no such order.');
  lastEventId += 1;
  const now = new Date().toISOString();
  const event = { id: lastEventId, created_at: now, status: before.events.at(-1)?.status ?? '' };
  const events = [...before.events.slice(1 - mostEvents), event];
  const order = { ...before, events, last_event: event, updated_at: now };
  worldOf().change(order);
  return order;
}

async function notify(order: ServiceOrder, { url, secret }: Receiver, isTwice: boolean): Promise<boolean> {
  const post = createWebhookPost({ address: () => url, agent, timeoutMs });
  const { teamId } = worldOf();
  const envelope = {
    event_type: 'labtest.order.updated',
    team_id: teamId,
    user_id: order.user_id,
    data: order,
  };
  const message = { id: `msg_${randomUUID()}`, body: JSON.stringify(envelope) };
  const deliver = async () => {
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const status = await post(message, secret);
      if (status >= 200 && status < 300) return true;
    }
    return false;
  };
  const delivered = await Promise.all(isTwice ? [deliver(), deliver()] : [deliver()]);
  return delivered.every(Boolean);
}

serveCalls(calls);
