import { afterAll, beforeAll, expect, test } from 'vitest';
import { READ_ORDER } from '../../widget/src/gateway/operations.ts';
import { type Folder, makeFolder } from '../support/folder.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';

let folder: Folder;
let gateway: GatewayProcess;

beforeAll(async () => {
  folder = makeFolder();
  gateway = await startGatewayProcess(folder.path, { PORT: '0', PERSISTED_OPERATIONS: 'enforce' });
});

afterAll(async () => {
  await gateway.end('SIGTERM');
  folder[Symbol.dispose]();
});

async function post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return await response.json();
}

test('a gateway over a built widget lets viewers ask what the widget asks, and nothing else', async () => {
  const { people } = await (await fetch(`${gateway.url}/demo/people`)).json();
  const [{ userId, orders }] = people;
  const { token } = await post('/demo/token', { userId });
  const authorization = `Bearer ${token}`;
  const variables = { orderId: orders[0].orderId, full: true };

  expect(await post('/graphql', { query: READ_ORDER, variables }, { authorization })).toMatchObject({
    data: { order: { id: orders[0].orderId } },
  });
  expect(await post('/graphql', { query: '{ viewer { kind } }' }, { authorization })).toMatchObject({
    errors: [{ extensions: { code: 'OPERATION_NOT_LISTED' } }],
  });
});
