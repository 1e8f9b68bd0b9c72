import { once } from 'node:events';
import { createServer, type IncomingMessage, request as send } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { Upstream } from '../../../gateway/service/client.ts';
import { listenAnywhere } from '../../support/listening.ts';
import { startSecureService, trustSecureServices } from '../../support/secure-service.ts';

beforeAll(trustSecureServices);
afterEach(() => vi.unstubAllEnvs());

const list = { operation: 'order.list', method: 'GET', path: '/orders' } as const;
const rights = { rights: 'team', reader: (sent: unknown) => sent };

interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** What it was asked to reach, and all headers that it could read. */
  readonly seen: readonly string[];
}

/** A real proxy: tunnels for https, and requests with a whole address for http. */
async function startProxy(refusal?: string): Promise<Proxy> {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const note = ({ method, url, headers }: IncomingMessage) =>
    seen.push(`${method} ${url} ${Object.keys(headers).toSorted().join(' ')}`);
  const server = createServer((request, response) => {
    note(request);
    const { method, headers } = request;
    const passed = send(request.url ?? '', { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(passed);
  });
  server.on('connect', (request, client: Socket) => {
    note(request);
    sockets.add(client);
    client.on('error', () => {});
    if (refusal !== undefined) return client.end(`HTTP/1.1 ${refusal}\r\n\r\n`);
    const [host = '', port = ''] = (request.url ?? '').split(':');
    const service = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(service).pipe(client);
    });
    service.on('error', () => client.destroy());
  });
  return {
    url: await listenAnywhere(server),
    seen,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const openUpstream = (url: string, usesProxy = true) =>
  new Upstream({ url, usesProxy, apiKey: 'key', apiKeyHeader: 'x-service-api-key', retryDelayMs: 1 });

test('calls go through a tunnel of the proxy, which reads neither key nor path', async () => {
  await using proxy = await startProxy();
  vi.stubEnv('HTTPS_PROXY', proxy.url);
  await using service = await startSecureService((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ key: request.headers['x-service-api-key'] }));
  });
  const upstream = openUpstream(service.url);

  const answers = await Promise.all([
    upstream.read(list, rights),
    upstream.read({ ...list, path: '/b' }, rights),
  ]);
  await upstream.close();

  expect(answers).toEqual([{ key: 'key' }, { key: 'key' }]);
  expect(new Set(proxy.seen.map((line) => line.split(' ')[0]))).toEqual(new Set(['CONNECT']));
  expect(proxy.seen.join()).not.toMatch(/orders|x-service-api-key/);
});

test('a service without TLS is asked through the proxy, too', async () => {
  await using proxy = await startProxy();
  vi.stubEnv('HTTP_PROXY', proxy.url);
  const plain = createServer((_, response) => response.end('{"plain":true}'));
  const url = await listenAnywhere(plain);
  const upstream = openUpstream(url);

  const read = await upstream.read(list, rights);
  const written = await upstream.write({ ...list, method: 'POST', body: { user_id: 'u1' } });
  await upstream.close();
  plain.close();

  expect([read, written]).toEqual([{ plain: true }, { plain: true }]);
  expect(proxy.seen.length).toBeGreaterThan(0);
});

test.each([
  ['NO_PROXY names it', true, '127.0.0.1'],
  ['no proxy is asked for', false, ''],
])('the service is reached directly where %s', async (_, usesProxy, excepted) => {
  await using proxy = await startProxy();
  vi.stubEnv('HTTPS_PROXY', proxy.url);
  vi.stubEnv('NO_PROXY', excepted);
  await using service = await startSecureService((_request, response) => void response.end('{}'));
  const upstream = openUpstream(service.url, usesProxy);

  expect(await upstream.read(list, rights)).toEqual({});
  await upstream.close();

  expect(proxy.seen).toEqual([]);
});

test('a proxy that refuses, or is not there, is a service that cannot be reached; the logged cause says which', async () => {
  await using refusing = await startProxy('407 Proxy Authentication Required');
  const gone = await startProxy();
  await gone[Symbol.asyncDispose]();
  const failures: unknown[] = [];
  for (const { url } of [refusing, gone]) {
    vi.stubEnv('HTTPS_PROXY', url);
    const upstream = openUpstream('https://service.invalid');
    failures.push(await upstream.read(list, rights).catch(({ code, cause }) => `${code}: ${cause.message}`));
    await upstream.close();
  }

  expect(failures).toEqual([
    'UPSTREAM_UNAVAILABLE: Proxy response (407) !== 200 when HTTP Tunneling',
    expect.stringMatching(/^UPSTREAM_UNAVAILABLE: connect ECONNREFUSED/),
  ]);
});
