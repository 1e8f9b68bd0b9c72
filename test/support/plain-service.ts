import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export const teamId = '7b6fb1a1-7b0a-4a56-8d0c-7f4f7b1f0c11';
export const userId = '1f0a7a52-2c8c-4a7e-9a55-3d1b8f0f4b10';

/**
 * A service with exactly the specification: orders have only its fields, `GET /orders`
 * filters by `interpretation` alone, nothing echoes `passthrough`, and there is no order by id.
 */
export interface PlainService {
  readonly url: string;
  readonly orders: PlainOrder[];
  readonly posts: unknown[];
  /** The answer to the next POST of an order, in place of its order; the order is placed all the same, or `isLost`. */
  spoiltAnswer: { readonly status: number; readonly body: string; readonly isLost?: boolean } | null;
  /** Called before each answer of the list of orders. */
  beforeList: (() => void) | null;
  /** Answers of the list of orders wait for it. */
  held: Promise<void> | null;
  /** The most orders of a page, even if more are requested. */
  maxPageSize: number;
  /** Whether each page is the whole list. */
  ignoresPages: boolean;
  /** Whether the list is filtered by the times of creation and of the last change, like that of the public service. */
  filtersByTime: boolean;
  /** What a page says about the length of the list: nothing, the truth, or that the list is the page. */
  extent: 'total' | 'pages' | 'nothing' | 'one-page';
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

export type PlainOrder = Readonly<Record<string, unknown>> & { readonly id: string };

export function plainOrder(
  index: number,
  owner: string,
  { shipping = null, at = new Date() }: { readonly shipping?: unknown; readonly at?: Date } = {},
): PlainOrder {
  const now = at.toISOString();
  const event = {
    id: 9000 + index,
    created_at: now,
    status: 'received.testkit.ordered',
    status_detail: null,
  };
  return {
    id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    team_id: teamId,
    user_id: owner,
    shipping_details: shipping,
    patient_details: null,
    details: { type: 'testkit', data: null },
    lab_test: { name: 'Plain kit', description: 'A kit.', method: 'testkit' },
    status: 'received',
    events: [event],
    last_event: event,
    health_insurace_id: null,
    created_at: now,
    updated_at: now,
  };
}

export async function startPlainService(): Promise<PlainService> {
  const orders: PlainOrder[] = [];
  const posts: unknown[] = [];
  const service: Omit<PlainService, 'url' | 'orders' | 'posts' | typeof Symbol.asyncDispose> = {
    spoiltAnswer: null,
    beforeList: null,
    held: null,
    maxPageSize: 100,
    ignoresPages: false,
    filtersByTime: false,
    extent: 'total',
  };

  const place = (body: { readonly user_id: string; readonly shipping_details: unknown }) => {
    const order = plainOrder(orders.length + 1, body.user_id, { shipping: body.shipping_details });
    orders.unshift(order);
    return { order, status: 'success', message: 'Order created.' };
  };
  const list = async (query: URLSearchParams) => {
    service.beforeList?.();
    await service.held;
    const [page, asked] = [Number(query.get('page') ?? 1), Number(query.get('size') ?? 50)];
    const size = Math.min(asked, service.maxPageSize);
    const listed = service.filtersByTime ? orders.filter(isInTime(query)) : orders;
    return json({
      orders: service.ignoresPages ? listed : listed.slice((page - 1) * size, page * size),
      ...describeExtent(service.extent, listed.length, size),
      page,
      size,
    });
  };
  const answer = async (request: IncomingMessage): Promise<{ status: number; body: string }> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://plain');
    if (pathname === '/v2/user/') {
      const user = {
        user_id: userId,
        team_id: teamId,
        client_user_id: 'plain',
        created_on: null,
        connected_sources: [],
      };
      return json({ users: [user], total: 1, offset: 0, limit: 100 });
    }
    if (pathname === '/orders') return await list(searchParams);
    if (pathname === '/v3/order/testkit') {
      posts.push(JSON.parse(await readText(request)));
      const spoilt = service.spoiltAnswer;
      service.spoiltAnswer = null;
      if (spoilt?.isLost) return spoilt;
      const placed = json(place(posts.at(-1) as Parameters<typeof place>[0]));
      return spoilt ?? placed;
    }
    return { status: 404, body: JSON.stringify({ detail: 'Not Found' }) };
  };

  const server = createServer((request, response) => {
    void answer(request).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(service, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    orders,
    posts,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  });
}

function describeExtent(extent: PlainService['extent'], total: number, size: number): object {
  const pages = { pages: Math.ceil(total / size) };
  return { total: { total }, pages, nothing: {}, 'one-page': { pages: 1 } }[extent];
}

function isInTime(query: URLSearchParams): (order: PlainOrder) => boolean {
  const between = (name: 'created_at' | 'updated_at', ...bounds: readonly string[]) => {
    const [from, to] = bounds.map((bound) => query.get(bound)).map((text) => text && microsecondsOf(text));
    return (order: PlainOrder) => {
      if (!from && !to) return true;
      const at = microsecondsOf(String(order[name]));
      return (!from || at >= from) && (!to || at <= to);
    };
  };
  const isPlaced = between('created_at', 'start_date', 'end_date');
  const isChanged = between('updated_at', 'updated_start_date', 'updated_end_date');
  return (order) => isPlaced(order) && isChanged(order);
}

/** The service stores and compares microseconds. */
function microsecondsOf(text: string): bigint {
  const [, beyondMs = ''] = /\.\d{3}(\d{1,3})/.exec(text) ?? [];
  return BigInt(Date.parse(text)) * 1000n + BigInt(beyondMs.padEnd(3, '0'));
}

function json(value: unknown): { status: number; body: string } {
  return { status: 200, body: JSON.stringify(value) };
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}
