import { Pool } from 'undici';
import { listOrdersPath, listUsersPath, orderPath, userPath } from './rest.js';

/** The service over a pool of undici, for the peers whose documentation names no client of their own. */
export function createService(serviceUrl) {
  const pool = new Pool(serviceUrl, { connections: 64 });

  async function call(path, options) {
    const { statusCode, body } = await pool.request({ method: 'GET', path, ...options });
    if (statusCode === 404) {
      await body.dump();
      return null;
    }
    if (statusCode >= 400) throw new Error(`The service answered ${statusCode}.`);
    return await body.json();
  }

  return {
    listUsers: async (first) => (await call(listUsersPath(first))).users,
    listOrders: async (userId, first) => (await call(listOrdersPath(userId, first))).orders,
    getUser: (id) => call(userPath(id)),
    getOrder: (id) => call(orderPath(id)),
    updateOrder: (id, day) =>
      call(orderPath(id), {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ activate_by: day ?? null }),
      }),
  };
}
