import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AnswerCompression } from '../../gateway/http/compressed-answers.ts';
import type { DirectAnswer } from '../../gateway/http/direct-request.ts';
import { gatewayKey, graphqlRequest, type Lab, startLab } from '../support/lab.ts';
import { pageOrigin } from '../support/launch.ts';

const run = promisify(execFile);

let lab: Lab;
beforeAll(async () => {
  lab = await startLab({ env: { DIRECT_PATH: 'on', ALLOWED_ORIGINS: pageOrigin } });
});
afterAll(() => lab[Symbol.asyncDispose]());

const small = '{ viewer { kind } }';
const long =
  '{ users(first: 5) { nodes { id clientUserId orders(first: 5) { nodes { id status { label } } } } } }';
const longer = long
  .replace('first: 5', 'first: 50')
  .replace('id status', 'id events { id status { label stage } } status');

type Headers = Readonly<Record<string, string>>;

/** The answer as it crossed the network. */
async function ask(query: string, headers: Headers = {}) {
  const {
    statusCode,
    headers: received,
    body,
  } = await request(`${lab.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gatewayKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query }),
  });
  return { status: statusCode, headers: received, bytes: Buffer.from(await body.arrayBuffer()) };
}

describe('the answer of a query', () => {
  test.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const)('has the same bytes in %s, and far fewer of them', async (coding, decompress) => {
    for (const query of [long, longer]) {
      const plain = await ask(query);
      const { headers, bytes } = await ask(query, { 'accept-encoding': coding });

      expect(headers).toMatchObject({
        'content-encoding': coding,
        'content-length': String(bytes.length),
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
      });
      expect(headers.vary).toContain('accept-encoding');
      expect(decompress(bytes)).toEqual(plain.bytes);
      expect(bytes.length).toBeLessThan(plain.bytes.length / 2);
    }
  });

  test('still varies with the origin, so that a page may read it', async () => {
    const { headers } = await ask(long, { 'accept-encoding': 'br', origin: pageOrigin });

    expect(headers['access-control-allow-origin']).toBe(pageOrigin);
    expect([headers.vary].flat().join(', ').toLowerCase()).toBe('accept-encoding, origin');
  });

  test.each(['identity', 'br;q=0', 'identity;q=0', 'deflate', ';;q', `br${', a'.repeat(500)}`])(
    'is plain for Accept-Encoding %j',
    async (acceptEncoding) => {
      const { status, headers, bytes } = await ask(long, { 'accept-encoding': acceptEncoding });

      expect(status).toBe(200);
      expect(headers['content-encoding']).toBeUndefined();
      expect(bytes).toEqual((await ask(long)).bytes);
    },
  );

  test('is plain where it is short', async () => {
    expect((await ask(small, { 'accept-encoding': 'br' })).headers).not.toHaveProperty('content-encoding');
  });

  test('reaches fetch and curl unharmed', async () => {
    const plain = (await ask(longer)).bytes.toString();
    const asked = graphqlRequest(lab.url, { query: longer }, gatewayKey);
    const viaFetch = await fetch(asked);
    const headers = ['-H', 'content-type: application/json', '-H', `authorization: Bearer ${gatewayKey}`];
    const data = ['-d', JSON.stringify({ query: longer })];
    const { stdout } = await run('curl', ['-sS', '--compressed', ...headers, ...data, `${lab.url}/graphql`]);

    expect(viaFetch.headers.get('content-encoding')).toBe('gzip');
    expect(await viaFetch.text()).toBe(plain);
    expect(stdout).toBe(plain);
  });
});

describe('never compressed is', () => {
  const compressing = { 'accept-encoding': 'br, gzip' };

  test('the answer of a mutation, because it has tokens and links', async () => {
    const [user] = lab.sandbox.users();
    const mint = (name: string) =>
      `${name}: createViewerToken(input: { userId: "${user?.userId}" }) { token expiresAt }`;
    const { headers, bytes } = await ask(
      `mutation { ${['a', 'b', 'c', 'd', 'e'].map(mint).join(' ')} }`,
      compressing,
    );

    expect(bytes.length).toBeGreaterThan(1024);
    expect(JSON.parse(bytes.toString()).data.e.token).toEqual(expect.any(String));
    expect(headers).not.toHaveProperty('content-encoding');
  });

  test('an event stream', async () => {
    const { headers, bytes } = await ask(long, { ...compressing, accept: 'text/event-stream' });

    expect(headers['content-type']).toMatch('text/event-stream');
    expect(headers['content-encoding']).toBe('none');
    expect(bytes.toString()).toMatch(/^event: next$/m);
  });

  test('the answer of a GET, which a page of any origin can send', async () => {
    const { headers, body } = await request(`${lab.url}/graphql?query=${encodeURIComponent(long)}`, {
      headers: { authorization: `Bearer ${gatewayKey}`, ...compressing },
    });

    expect(JSON.parse(await body.text()).data.users.nodes).toHaveLength(5);
    expect(headers).not.toHaveProperty('content-encoding');
  });
});

describe('compression', () => {
  const answerOf = (length: number, isQuery = true): DirectAnswer => ({
    status: 200,
    headers: [],
    body: Buffer.alloc(length, 'the same words '),
    isQuery,
  });

  test.each([2000, 100_000])('is done once for an answer of %i bytes that is sent again', async (length) => {
    const compression = new AnswerCompression();
    const answer = answerOf(length);

    const first = compression.encode(answer, 'br');

    expect(compression.encode(answer, 'gzip, br')).toBe(first);
    expect(await compression.encode(answer, 'gzip')).not.toBe(await first);
  });

  test('of a large answer leaves the event loop free, and of more than four at once is left out', async () => {
    const compression = new AnswerCompression();
    const answers = Array.from({ length: 6 }, () => answerOf(1_000_000));

    const encoded = answers.map((answer) => compression.encode(answer, 'br'));

    expect(encoded.map((each) => each instanceof Promise)).toEqual([true, true, true, true, false, false]);
    const sizes = (await Promise.all(encoded)).map(({ body }) => body.length < 1_000_000);
    expect(sizes).toEqual([true, true, true, true, false, false]);
    expect(compression.encode(answerOf(1_000_000), 'br')).toBeInstanceOf(Promise);
  });
});
