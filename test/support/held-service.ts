import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenAnywhere } from './listening.ts';

/** An order as the service has it at one time; its version is the id of its last event. */
export interface HeldOrder {
  readonly id: string;
  readonly userId: string;
  readonly version: number;
}

/** Everything the service has, after one change more each time. */
export interface HeldWorld {
  readonly orders: ReadonlyMap<string, HeldOrder>;
  /** The team's reference of each user. */
  readonly references: ReadonlyMap<string, string>;
}

/** One call that waits for its answer. */
export interface HeldCall {
  /** Fixes what it will be answered, or does what it asks for: the world may change before the answer arrives. */
  readonly compute: () => void;
  readonly isComputed: () => boolean;
  readonly answer: () => void;
}

/** A service with users and orders whose answers are computed, and arrive, when the test says so. */
export interface HeldService extends AsyncDisposable {
  readonly url: string;
  readonly teamId: string;
  /** The world after each change, the oldest first. */
  readonly history: readonly HeldWorld[];
  /** Puts an order where it was not, or in a new state. */
  readonly change: (orderId: string, userId: string) => HeldOrder;
  /** Calls that were not answered yet, the oldest first. */
  readonly held: readonly HeldCall[];
  /** Resolves when the next call has come. */
  readonly nextCall: () => Promise<void>;
}

export async function startHeldService(): Promise<HeldService> {
  const teamId = randomUUID();
  const history: HeldWorld[] = [{ orders: new Map(), references: new Map() }];
  const held: HeldCall[] = [];
  const arrivals: (() => void)[] = [];
  const now = () => history.at(-1) ?? { orders: new Map(), references: new Map() };

  const hold = (response: ServerResponse, act: () => unknown) => {
    let computed: unknown;
    const compute = () => {
      computed ??= act();
    };
    const call: HeldCall = {
      compute,
      isComputed: () => computed !== undefined,
      answer: () => {
        compute();
        held.splice(held.indexOf(call), 1);
        send(response, computed);
      },
    };
    held.push(call);
    for (const arrived of arrivals.splice(0)) arrived();
  };
  const rename = (userId: string, reference: string) => {
    const { orders, references } = now();
    history.push({ orders, references: new Map(references).set(userId, reference) });
    return {};
  };
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://service');
    if (request.method === 'GET') return hold(response, () => answerOf(now(), url, teamId));
    const reference = await readReference(request);
    hold(response, () => rename(url.pathname.split('/').at(-1) ?? '', reference));
  });
  return {
    url: await listenAnywhere(server),
    teamId,
    history,
    held,
    change: (id, userId) => {
      const { orders, references } = now();
      const order = { id, userId, version: history.length };
      history.push({ orders: new Map(orders).set(id, order), references });
      return order;
    },
    nextCall: () => new Promise((resolve) => arrivals.push(resolve)),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The order as answers and webhooks show it. */
export function presentHeldOrder({ id, userId, version }: HeldOrder, teamId: string) {
  const event = { id: version, created_at: new Date(version * 1000).toISOString(), status: 'a.b.c' };
  return {
    id,
    team_id: teamId,
    user_id: userId,
    events: [event],
    last_event: event,
    created_at: '2026-01-01T00:00:00Z',
  };
}

/** A missing thing is `false`. */
function answerOf({ orders, references }: HeldWorld, url: URL, teamId: string): unknown {
  const present = (order: HeldOrder) => presentHeldOrder(order, teamId);
  const [, kind, id = ''] = /^\/v(?:2|3)\/(user|order)\/([^/]+)$/.exec(url.pathname) ?? [];
  if (kind === 'order') {
    const order = orders.get(id);
    return order === undefined ? false : present(order);
  }
  if (kind === 'user') return { user_id: id, team_id: teamId, client_user_id: references.get(id) ?? 'first' };
  const userId = url.searchParams.get('user_id');
  const ids = url.searchParams.getAll('order_ids');
  const rows = [...orders.values()].filter(
    (order) => (userId === null || order.userId === userId) && (ids.length === 0 || ids.includes(order.id)),
  );
  return { orders: rows.map(present), total: rows.length, page: 1, size: 100 };
}

function send(response: ServerResponse, answer: unknown): void {
  response.writeHead(answer === false ? 404 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(answer === false ? { detail: 'not found' } : answer));
}

async function readReference(request: IncomingMessage): Promise<string> {
  const body: { readonly client_user_id?: string } = JSON.parse(
    Buffer.concat(await request.toArray()).toString(),
  );
  return body.client_user_id ?? '';
}
