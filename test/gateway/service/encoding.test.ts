import process from 'node:process';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { UpstreamCall } from '../../../gateway/service/calls.ts';
import type { UpstreamFile } from '../../../gateway/service/file.ts';
import { type Answer, openUpstream } from '../../support/misbehaving-service.ts';

const call: UpstreamCall = { operation: 'order.list', method: 'GET', path: '/orders' };
const rights = { rights: 'team', reader: (sent: unknown) => sent };
const orders = { orders: Array.from({ length: 50 }, (_, index) => ({ id: index, name: 'naïve – 訂單' })) };

/** An answer in an encoding, in pieces. */
function encoded(body: Buffer, encoding: string, status = 200, type = 'application/json'): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': type, 'content-encoding': encoding });
    const middle = Math.floor(body.length / 2);
    response.write(body.subarray(0, middle));
    response.end(body.subarray(middle));
  };
}

const text = JSON.stringify(orders);

test('the service is asked for compressed answers', async () => {
  await using open = await openUpstream([encoded(gzipSync(text), 'gzip')]);
  await open.upstream.read({ ...call, headers: { 'Accept-Encoding': 'identity' } }, rights);
  await open.upstream.write({ operation: 'order.create', method: 'POST', path: '/order', body: {} });
  expect(open.service.seen.map(({ headers }) => headers['accept-encoding'])).toEqual([
    'gzip, br',
    'gzip, br',
  ]);
});

test.each<readonly [string, Buffer]>([
  ['gzip', gzipSync(text)],
  ['GZIP', gzipSync(text)],
  ['x-gzip', gzipSync(text)],
  ['br', brotliCompressSync(text)],
  ['deflate', deflateSync(text)],
  ['identity', Buffer.from(text)],
  ['', Buffer.from(text)],
])('an answer in the encoding "%s" is read', async (encoding, body) => {
  await using open = await openUpstream([encoded(body, encoding)]);
  expect(await open.upstream.read(call, rights)).toEqual(orders);
});

test('a refusal that comes compressed says what was wrong', async () => {
  const detail = [{ type: 'missing', loc: ['body', 'zip'], msg: 'Field required' }];
  const body = gzipSync(JSON.stringify({ detail }));
  await using open = await openUpstream([encoded(body, 'gzip', 422)]);
  await expect(open.upstream.read(call, rights)).rejects.toMatchObject({
    code: 'UPSTREAM_REJECTED',
    issues: [{ location: ['body', 'zip'], message: 'Field required' }],
  });
});

test('a failure whose body cannot be decoded is recognized by its status', async () => {
  await using open = await openUpstream([encoded(Buffer.from('<html>'), 'gzip', 403)]);
  await expect(open.upstream.read(call, rights)).rejects.toMatchObject({ code: 'UPSTREAM_FORBIDDEN' });
});

test('an empty body is none, with any encoding', async () => {
  await using open = await openUpstream([
    (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(),
  ]);
  expect(await open.upstream.write({ operation: 'user.delete', method: 'DELETE', path: '/u' })).toBeNull();
});

test.each<readonly [string, string, Buffer]>([
  ['in an encoding that was not asked for', 'zstd', Buffer.from(text)],
  ['in several encodings', 'gzip, br', Buffer.from(text)],
  ['that is not what it says', 'gzip', Buffer.from(text)],
  ['that ends early', 'gzip', gzipSync(text).subarray(0, 60)],
])('an answer %s is unreadable, and no crash', async (_name, encoding, body) => {
  await using open = await openUpstream([encoded(body, encoding)], { deadlineMs: 2000 });
  await expect(open.upstream.read(call, rights)).rejects.toMatchObject({ code: 'UPSTREAM_UNREADABLE' });
});

test.each<readonly [string, (body: Buffer) => Buffer]>([
  ['gzip', gzipSync],
  ['br', (body) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })],
])('%s that unfolds to more than an answer may have is refused before it is unfolded', async (name, pack) => {
  const bomb = pack(Buffer.alloc(64 * 1024 * 1024));
  expect(bomb.length).toBeLessThan(100_000);
  await using open = await openUpstream([encoded(bomb, name)], { maxBodyBytes: 1024 * 1024 });

  const before = process.memoryUsage().rss;
  const answer = open.upstream.read(call, rights);

  await expect(answer).rejects.toMatchObject({
    code: 'UPSTREAM_UNREADABLE',
    message: 'The service answered with more than the gateway reads.',
  });
  expect(process.memoryUsage().rss - before).toBeLessThan(48 * 1024 * 1024);
  expect(open.service.calls()).toHaveLength(1);
});

test('the limit applies to the decompressed answer, to the byte', async () => {
  const exact = JSON.stringify('x'.repeat(998));
  await using open = await openUpstream([encoded(gzipSync(exact), 'gzip')], { maxBodyBytes: 1000 });
  expect(await open.upstream.read(call, rights)).toHaveLength(998);
  open.service.willAnswer(encoded(gzipSync(`${exact} `), 'gzip'));
  await expect(open.upstream.read(call, rights)).rejects.toMatchObject({ code: 'UPSTREAM_UNREADABLE' });
});

const pdf = Buffer.from(`%PDF-1.4 ${'page '.repeat(10_000)}`);
const file: UpstreamCall = { operation: 'result.pdf', method: 'GET', path: '/pdf' };
const accept = 'application/pdf';

async function bytesOf(opened: UpstreamFile | undefined): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(opened?.body ?? []));
}

test('a file is requested uncompressed, and clients get its length', async () => {
  await using open = await openUpstream([
    (response) => response.writeHead(200, { 'content-type': accept, 'content-length': pdf.length }).end(pdf),
  ]);
  const opened = await open.upstream.open(file, { accept });
  expect(open.service.seen[0]?.headers['accept-encoding']).toBe('identity');
  expect(opened?.bytes).toBe(pdf.length);
  expect(await bytesOf(opened)).toEqual(pdf);
});

test.each<readonly [string, Buffer]>([
  ['gzip', gzipSync(pdf)],
  ['br', brotliCompressSync(pdf)],
])(
  'a file that comes in %s all the same is decoded, and sent without a wrong length',
  async (encoding, packed) => {
    await using open = await openUpstream([
      (response) =>
        response
          .writeHead(200, {
            'content-type': accept,
            'content-encoding': encoding,
            'content-length': packed.length,
          })
          .end(packed),
    ]);
    const opened = await open.upstream.open(file, { accept });
    expect(opened?.bytes).toBeNull();
    expect(await bytesOf(opened)).toEqual(pdf);
  },
);

test('a broken compressed file breaks the stream, and an unread one is released', async () => {
  const half = gzipSync(pdf).subarray(0, 50);
  await using open = await openUpstream([encoded(half, 'gzip', 200, accept)]);
  const broken = await open.upstream.open(file, { accept });
  await expect(bytesOf(broken)).rejects.toThrow();
  (await open.upstream.open(file, { accept }))?.cancel();
  open.service.willAnswer(encoded(half, 'zstd', 200, accept));
  await expect(open.upstream.open(file, { accept })).rejects.toMatchObject({ code: 'UPSTREAM_UNREADABLE' });
  await expect(open.upstream.open(file, { accept: 'image/png' })).rejects.toMatchObject({
    code: 'UPSTREAM_UNREADABLE',
  });
});

test('a compressed refusal of a file is bounded like every answer', async () => {
  const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024));
  await using open = await openUpstream([encoded(bomb, 'gzip', 422)], { maxBodyBytes: 1024 * 1024 });
  await expect(open.upstream.open(file, { accept })).rejects.toMatchObject({
    code: 'UPSTREAM_UNREADABLE',
    message: 'The service answered with more than the gateway reads.',
  });
});
