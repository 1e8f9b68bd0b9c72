import { execFile } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { complete } from '../support/configuration.ts';
import { makeFolder } from '../support/folder.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { findFreePort } from '../support/listening.ts';

const gatewayModule = new URL('../../gateway/gateway.ts', import.meta.url).href;

/** Prints what is loaded when the gateway's parts can be put together. */
const listLoaded = `
import { registerHooks } from 'node:module';
registerHooks({ load: (url, context, next) => { console.log(url); return next(url, context); } });
await import(${JSON.stringify(gatewayModule)});
`;

test('the code that accepts webhooks while a gateway starts loads nothing of GraphQL', async () => {
  const args = ['--input-type=module', '--eval', listLoaded];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
  });
  const packages = new Set(stdout.match(/(?<=node_modules\/)(@[^/]+\/)?[^/@]+/g));
  expect([...packages]).toEqual(expect.arrayContaining(['hono', 'zod']));
  expect([...packages].filter((name) => /graphql|pothos|envelop|^ws$/.test(name))).toEqual([]);
  // Nor anything of a broker, because none is configured.
  expect([...packages].filter((name) => /rabbitmq|pubsub|grpc|azure|rhea|protobuf/.test(name))).toEqual([]);
  expect(stdout.match(/\/gateway\/intake\/.*/g)).toBeNull();
});

test('a query and a socket that come before GraphQL is loaded wait for it', async () => {
  using folder = makeFolder();
  const port = await findFreePort();
  const starting = startGatewayProcess(folder.path, {
    ...complete,
    PORT: String(port),
    SERVICE_URL: 'http://127.0.0.1:9',
  });
  const url = `http://127.0.0.1:${port}`;
  await untilAnswered(`${url}/health`);
  const authorization = `Bearer ${complete.GATEWAY_API_KEYS}`;
  const query = encodeURIComponent('{ viewer { kind } }');
  const asked = fetch(`${url}/graphql?query=${query}`, { headers: { authorization } });
  const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws');
  const opened = new Promise<string>((resolve, reject) => {
    socket.once('open', () => resolve('open')).once('error', reject);
  });
  expect(await (await asked).json()).toEqual({ data: { viewer: { kind: 'TEAM' } } });
  expect(await opened).toBe('open');
  socket.close();
  const gateway = await starting;
  expect(await gateway.end('SIGTERM')).toBe(0);
});

async function untilAnswered(url: string): Promise<void> {
  while ((await fetch(url).catch(() => null)) === null) await setTimeout(10);
}
