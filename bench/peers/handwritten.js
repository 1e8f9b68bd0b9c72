import { createServer } from 'node:http';
import { readSettings, reportReady } from './rest.js';
import { createService } from './service.js';

/**
 * An endpoint for each question, written by hand on node:http and undici: the limit of what Node can do. It has no
 * GraphQL; a question is a path, and its variables are the body's.
 */
const { serviceUrl, port } = readSettings();
const service = createService(serviceUrl);

const toPage = (user, orders) => ({
  clientUserId: user.client_user_id,
  orders: { nodes: orders.map(toPageOrder) },
});
const toPageOrder = ({ id, sample_id, events }) => ({ id, sampleId: sample_id, events: events.map(toEvent) });
const toEvent = ({ id, created_at }) => ({ id: String(id), createdAt: new Date(created_at).toISOString() });
const toOrder = ({ id, sample_id, lab_test }) => ({
  ...{ id, sampleId: sample_id },
  labTest: lab_test && { name: lab_test.name },
});

/** Both reads at once: the id is known. */
async function readPage(id) {
  const [user, orders] = await Promise.all([service.getUser(id), service.listOrders(id, 3)]);
  return user === null ? null : toPage(user, orders);
}

async function readUserWithOrders(user) {
  const orders = await service.listOrders(user.user_id, 20);
  return {
    ...{ id: user.user_id, clientUserId: user.client_user_id },
    orders: { nodes: orders.map(toOrder) },
  };
}

const questions = {
  '/trivial': () => ({ __typename: 'Query' }),
  '/order': async ({ id }) => ({ order: toOrder(await service.getOrder(id)) }),
  '/page': async ({ id }) => ({ user: await readPage(id) }),
  '/pages': async (ids) => {
    const pages = await Promise.all(
      Object.entries(ids).map(async ([name, id]) => [name.replace('i', 'u'), await readPage(id)]),
    );
    return Object.fromEntries(pages);
  },
  '/nested': async ({ first, id, day }) => {
    if (id !== undefined) {
      const { order } = await service.updateOrder(id, day);
      return { updateOrder: { order: { id: order.id, activateBy: order.activate_by } } };
    }
    const users = await service.listUsers(first);
    return { users: { nodes: await Promise.all(users.map(readUserWithOrders)) } };
  },
};

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { variables } = JSON.parse(Buffer.concat(chunks).toString());
  const data = await questions[request.url](variables);
  const body = JSON.stringify({ data });
  response
    .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    .end(body);
}).listen(port, '127.0.0.1', reportReady);
