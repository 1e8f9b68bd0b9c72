import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pipeline } from '../siege/pipelining.ts';
import { leaveUnread } from '../siege/unread-answers.ts';
import { type Folder, makeFolder } from '../support/folder.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';
import { watchMemory } from '../support/memory.ts';

const token = 'a-gateway-key-of-the-siege';
const query =
  '{ users(first: 100) { nodes { clientUserId orders(first: 40) { nodes { id status { label } } } } } }';
let folder: Folder;
let gateway: GatewayProcess;

beforeAll(async () => {
  folder = makeFolder();
  gateway = await startGatewayProcess(folder.path, {
    PORT: '0',
    GATEWAY_API_KEYS: token,
    EVENT_LOG: 'memory:',
    LOG_LEVEL: 'error',
  });
});

afterAll(async () => {
  await gateway.end('SIGTERM');
  folder[Symbol.dispose]();
});

describe('a gateway whose clients do not read', () => {
  test.each([
    ['widget files, by anybody', { path: '/widget/portal-widget.js' }],
    ['pages, by anybody', { path: '/' }],
    ['queries, with a key', { query, token }],
  ])('cuts them and fills no memory: 20 connections with 500 requests each for %s', async (_name, ask) => {
    const attack = leaveUnread({
      url: gateway.url,
      connections: 20,
      requests: 500,
      ask,
      signal: AbortSignal.timeout(30_000),
    });
    const { result, mostMiB } = await watchMemory(gateway.pid, attack);
    expect(result).toMatchObject({ opened: 20, closedByGateway: 20 });
    expect(mostMiB).toBeLessThan(400);
  });

  test('answers thirty requests that were sent ahead, on each of 20 connections', async () => {
    const report = await pipeline({
      url: gateway.url,
      connections: 20,
      requests: 30,
      ask: { query: '{ viewer { kind } }', token },
      signal: AbortSignal.timeout(30_000),
    });
    expect(report).toEqual({ sent: 600, answered: 600, cut: 0 });
  });

  test('resets connections that send one request and read nothing', async () => {
    const attack = leaveUnread({
      url: gateway.url,
      connections: 50,
      requests: 1,
      ask: { path: '/widget/portal-widget.js' },
      signal: AbortSignal.timeout(30_000),
    });
    expect(await attack).toMatchObject({ opened: 50, closedByGateway: 50 });
  });
});
