import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Caller } from '../../gateway/auth/rights.ts';
import { GatewayError } from '../../gateway/errors.ts';
import { createDirectPath } from '../../gateway/http/direct-path.ts';
import { createLog } from '../../gateway/log.ts';
import { startLab } from '../support/lab.ts';
import { silence, startMisbehavingService } from '../support/misbehaving-service.ts';
import { send } from './direct-path/two-gateways.ts';

/** The status shows which handler answered: a direct path that accepted nothing would not differ either. */
describe('the direct path', () => {
  const admitted: Caller[] = [];
  const listener = createDirectPath(
    {
      authenticate: async ({ authorization }) => {
        if (authorization === null) throw new GatewayError('UNAUTHENTICATED', 'Say who you are.');
        return { kind: 'TEAM' };
      },
      rateLimits: {
        pay: async (caller) => {
          admitted.push(caller);
          return { settle: () => {} };
        },
        charge: () => {},
        connect: () => () => {},
        checkOperations: () => {},
      },
      answerDirectly: async ({ body }) =>
        body.length === 0 ? null : { status: 200, headers: [], body: Buffer.from('fast'), isQuery: true },
      isAllowedOrigin: () => false,
      log: createLog({ level: 'silent' }),
    },
    (_asked, response) => void response.writeHead(299).end('usual'),
  );
  const server = createServer(listener);
  let url = '';
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${Object(server.address()).port}`;
  });
  afterAll(() => void server.close());

  test.each([
    {},
    { accept: '*/*' },
    { accept: 'application/json' },
    { accept: 'application/graphql-response+json, application/json;q=0.9' },
    { 'content-type': 'application/json; charset=utf-8' },
    { origin: 'https://somewhere.example' },
    { 'x-labgraph-trace': 'upstream' },
  ])('takes a JSON request with %o', async (headers) => {
    expect(await send(url, { headers, body: '{}' })).toMatchObject({ status: 200, text: 'fast' });
  });

  test.each([
    { accept: 'text/event-stream' },
    { accept: 'text/html' },
    { 'content-type': 'multipart/form-data; boundary=x' },
    { 'content-type': 'text/plain' },
    { 'content-encoding': 'gzip' },
    { 'transfer-encoding': 'chunked' },
    { 'last-event-id': 'x' },
    { origin: ['https://a.example', 'https://b.example'] },
  ])('leaves one with %o unread, and nobody has paid', async (headers) => {
    admitted.length = 0;
    expect((await send(url, { headers, body: '{}' })).status).toBe(299);
    expect(admitted).toEqual([]);
  });

  test('hands on what it cannot answer, paid once', async () => {
    admitted.length = 0;
    expect((await send(url, { body: '' })).status).toBe(299);
    expect(admitted).toEqual([{ kind: 'TEAM' }]);
  });

  test('turns away whom nobody knows, without reading', async () => {
    expect(await send(url, { headers: { authorization: [] }, body: '{}' })).toMatchObject({ status: 401 });
  });
});

test.each(['on', 'off'])('a client that leaves ends its reads, DIRECT_PATH=%s', async (DIRECT_PATH) => {
  await using service = await startMisbehavingService(silence);
  await using lab = await startLab({
    env: { EVENT_LOG: 'memory:', DIRECT_PATH },
    serve: async () => service.url,
  });
  const headers = { 'content-type': 'application/json', authorization: 'Bearer test-gateway-key' };
  const asked = request(`${lab.url}/graphql`, { method: 'POST', headers });
  asked.on('error', () => {});
  asked.end('{"query":"{ users(first: 1) { nodes { id } } }"}');
  const { abandoned } = await service.request(0);
  asked.destroy();
  await abandoned;
});
