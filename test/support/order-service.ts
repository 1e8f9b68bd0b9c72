import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { listenAnywhere } from './listening.ts';
import { presentOrder, type World } from './order-world.ts';

/** A subscriber that asks for the user of each order is busy this long with each change. */
const userReadMs = 5;

/** The service's reads over a made-up world: what snapshots are taken from. */
export async function startService(
  world: World,
): Promise<{ readonly url: string; readonly close: () => void }> {
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://service');
    if (pathname.startsWith('/v2/user/')) await wait(userReadMs);
    const answer = answerOf(world, pathname, searchParams);
    response.writeHead(answer === null ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { detail: 'not found' }));
  });
  return {
    url: await listenAnywhere(server),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function answerOf(world: World, path: string, query: URLSearchParams): unknown {
  const present = (order: World['orders'][number]) => presentOrder(order, world.teamId);
  const orderId = /^\/v3\/order\/([^/]+)$/.exec(path)?.[1];
  if (orderId !== undefined) {
    const order = world.orders.find(({ id }) => id === orderId);
    return order === undefined ? null : present(order);
  }
  if (path === '/orders') {
    const owner = query.get('user_id');
    const orders = world.orders.filter((order) => owner === null || order.userId === owner);
    return { orders: orders.map(present), total: orders.length, page: 1, size: 100 };
  }
  const userId = /^\/v2\/user\/([^/]+)$/.exec(path)?.[1];
  if (userId !== undefined) return { user_id: userId, team_id: world.teamId };
  if (path === '/v2/user' || path === '/v2/user/') {
    const users = world.users.map((userId) => ({ user_id: userId, team_id: world.teamId }));
    return { users, total: users.length, offset: 0, limit: 100 };
  }
  return null;
}
