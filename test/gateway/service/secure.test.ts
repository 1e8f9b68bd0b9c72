import { once } from 'node:events';
import { beforeAll, describe, expect, test } from 'vitest';
import { Upstream, type UpstreamOptions } from '../../../gateway/service/client.ts';
import {
  type SecureAnswer,
  type SecureService,
  startSecureService,
  trustSecureServices,
} from '../../support/secure-service.ts';

beforeAll(trustSecureServices);

const list = { operation: 'order.list', method: 'GET', path: '/orders' } as const;
const rights = { rights: 'team', reader: (sent: unknown) => sent };

interface Opened extends AsyncDisposable {
  readonly service: SecureService;
  readonly upstream: Upstream;
}

async function open(
  answer: SecureAnswer,
  more: Partial<UpstreamOptions> & { readonly speaks?: 'h2' | 'http/1.1' } = {},
): Promise<Opened> {
  const service = await startSecureService(answer, more);
  const key = { apiKey: 'key-of-the-team', apiKeyHeader: 'x-service-api-key' };
  const upstream = new Upstream({ url: service.url, ...key, retryDelayMs: 1, ...more });
  return {
    service,
    upstream,
    [Symbol.asyncDispose]: async () => {
      await upstream.close();
      await service[Symbol.asyncDispose]();
    },
  };
}

const echo: SecureAnswer = async (request, response) => {
  const { method, url, headers } = request;
  const key = headers['x-service-api-key'];
  const body = Buffer.concat(await request.toArray()).toString();
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ method, url, key, body }));
};
const hang: SecureAnswer = () => {};

test('a service that speaks HTTP/2 is spoken to in it: many reads at once over one connection', async () => {
  await using opened = await open(echo);

  const paths = Array.from({ length: 50 }, (_, index) => `/orders/${index}`);
  const answers = await Promise.all(paths.map((path) => opened.upstream.read({ ...list, path }, rights)));

  expect(answers).toEqual(paths.map((url) => ({ method: 'GET', url, key: 'key-of-the-team', body: '' })));
  expect(opened.service.calls().toSorted()).toEqual(paths.map((path) => `2.0 GET ${path}`).toSorted());
  expect(opened.service.connections()).toBe(1);
});

test('one that does not is spoken to in HTTP/1.1', async () => {
  await using opened = await open(echo, { speaks: 'http/1.1' });

  expect(await opened.upstream.read(list, rights)).toMatchObject({ url: '/orders' });

  expect(opened.service.calls()).toEqual(['1.1 GET /orders']);
});

describe('over HTTP/2', () => {
  test('a write carries its body and is sent once, with any outcome', async () => {
    await using opened = await open((request, response) => {
      if (request.url === '/lost') return void request.socket.destroy();
      return echo(request, response);
    });
    const write = { operation: 'order.create', method: 'POST', body: { user_id: 'u1' } } as const;

    expect(await opened.upstream.write({ ...write, path: '/v3/order' })).toMatchObject({
      method: 'POST',
      body: '{"user_id":"u1"}',
    });
    await expect(opened.upstream.write({ ...write, path: '/lost' })).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      notSent: false,
    });

    expect(opened.service.calls()).toEqual(['2.0 POST /v3/order', '2.0 POST /lost']);
  });

  test('a response that does not come in time is aborted, and the connection stays open', async () => {
    const given = Promise.withResolvers<unknown>();
    await using opened = await open(
      (request, response) => {
        if (request.url !== '/late') return echo(request, response);
        given.resolve(once(response, 'close'));
        return hang(request, response);
      },
      { deadlineMs: 300 },
    );

    await expect(opened.upstream.read({ ...list, path: '/late' }, rights)).rejects.toMatchObject({
      code: 'UPSTREAM_TIMEOUT',
    });
    await given.promise;

    expect(await opened.upstream.read(list, rights)).toMatchObject({ url: '/orders' });
    expect(opened.service.connections()).toBe(1);
  });

  test('a client that leaves ends its call, and no other', async () => {
    const [begun, ended] = [Promise.withResolvers<unknown>(), Promise.withResolvers<unknown>()];
    await using opened = await open((request, response) => {
      if (request.url !== '/slow') return echo(request, response);
      begun.resolve(null);
      return response.once('close', ended.resolve);
    });
    const client = new AbortController();
    const slow = opened.upstream.read({ ...list, path: '/slow' }, { ...rights, signal: client.signal });
    const other = opened.upstream.read(list, rights);
    await begun.promise;

    client.abort(new Error('left'));

    await expect(slow).rejects.toMatchObject({ code: 'ABANDONED' });
    await ended.promise;
    expect(await other).toMatchObject({ url: '/orders' });
  });

  test('a read goes on over a new connection when the service sends the old one away', async () => {
    await using opened = await open(echo);
    await opened.upstream.read(list, rights);

    opened.service.sendAway();

    expect(await opened.upstream.read({ ...list, path: '/again' }, rights)).toMatchObject({ url: '/again' });
    expect(opened.service.calls()).toEqual(['2.0 GET /orders', '2.0 GET /again']);
  });

  test('more than the gateway reads is refused', async () => {
    await using opened = await open(
      (_request, response) => response.end(JSON.stringify('x'.repeat(100_000))),
      { maxBodyBytes: 50_000 },
    );

    await expect(opened.upstream.read(list, rights)).rejects.toMatchObject({ code: 'UPSTREAM_UNREADABLE' });
  });

  test('a file comes as it is sent', async () => {
    await using opened = await open((_request, response) => {
      response.setHeader('content-type', 'application/pdf');
      response.end('%PDF-1.7');
    });
    const file = await opened.upstream.open({ ...list, path: '/file' }, { accept: 'application/pdf' });

    const chunks = await Array.fromAsync(file?.body ?? []);

    expect(Buffer.concat(chunks).toString()).toBe('%PDF-1.7');
  });
});
