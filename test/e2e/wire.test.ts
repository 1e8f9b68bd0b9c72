import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Browser } from 'playwright';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DemoGateway, startDemoGateway } from './support/demo-gateway.ts';
import { connectToHeadlessShell } from './support/visit.ts';

/** What crosses the network when real clients load files of a gateway as `npm start` runs it. */
const run = promisify(execFile);
const dist = new URL('../../widget/dist/', import.meta.url);
const widget = '/widget/portal-widget.js';
const immutable = 'public, max-age=31536000, immutable';

let gateway: DemoGateway;
let browser: Browser;

beforeAll(async () => {
  gateway = await startDemoGateway();
  browser = await connectToHeadlessShell();
});

afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

/** The answer with its bytes as they were sent. */
async function load(
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method: 'GET' | 'HEAD' = 'GET',
) {
  const { statusCode, headers: received, body } = await request(`${gateway.url}${path}`, { method, headers });
  return { status: statusCode, headers: received, bytes: Buffer.from(await body.arrayBuffer()) };
}

async function findVersion(): Promise<string> {
  const hashes: Readonly<Record<string, string>> = await (
    await fetch(`${gateway.url}/widget/sri.json`)
  ).json();
  const [version = ''] =
    Object.keys(hashes)
      .find((path) => path.includes('/'))
      ?.split('/') ?? [];
  return version;
}

describe('the widget file', () => {
  test.each([
    ['br', '.br', brotliDecompressSync],
    ['gzip', '.gz', gunzipSync],
  ] as const)('has the bytes of the build in %s', async (coding, suffix, decompress) => {
    const { status, headers, bytes } = await load(widget, { 'accept-encoding': coding });

    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-encoding': coding,
      'content-length': String(statSync(new URL(`portal-widget.js${suffix}`, dist)).size),
      'content-type': 'text/javascript; charset=utf-8',
      vary: 'accept-encoding',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'accept-ranges': 'none',
    });
    expect(decompress(bytes)).toEqual(readFileSync(new URL('portal-widget.js', dist)));
  });

  test('is 304 with no bytes on the second load, in the form that the client has', async () => {
    for (const coding of ['br', 'gzip', 'identity']) {
      const first = await load(widget, { 'accept-encoding': coding });
      const tag = String(first.headers.etag);
      const second = await load(widget, { 'accept-encoding': coding, 'if-none-match': `"other", W/${tag}` });
      expect({ status: second.status, length: second.bytes.length }).toEqual({ status: 304, length: 0 });
      expect(second.headers).toMatchObject({
        etag: tag,
        vary: 'accept-encoding',
        'cache-control': 'public, max-age=300',
        'access-control-allow-origin': '*',
      });
      const other = await load(widget, { 'accept-encoding': coding, 'if-none-match': '"other"' });
      expect(other.status).toBe(200);
    }
  });

  test('has the same head for HEAD, and no bytes', async () => {
    const headers = { 'accept-encoding': 'br' };
    const get = await load(widget, headers);
    const head = await load(widget, headers, 'HEAD');

    const ofConnection = { date: '', connection: '', 'keep-alive': '', 'x-request-id': '' };
    expect({ ...head.headers, ...ofConnection }).toEqual({ ...get.headers, ...ofConnection });
    expect(head.bytes).toHaveLength(0);
  });

  test('is sent whole to a client that wants a range', async () => {
    const { status, bytes, headers } = await load(widget, { range: 'bytes=0-9' });

    expect(status).toBe(200);
    expect(headers['accept-ranges']).toBe('none');
    expect(bytes).toEqual(readFileSync(new URL('portal-widget.js', dist)));
  });

  test('is immutable at the address of its version, with the integrity of sri.json', async () => {
    const version = await findVersion();
    const hashes = JSON.parse(readFileSync(new URL('sri.json', dist), 'utf8'));

    const { headers } = await load(`/widget/${version}/portal-widget.js`, { 'accept-encoding': 'br' });

    expect(headers).toMatchObject({ 'cache-control': immutable, 'content-encoding': 'br' });
    expect(hashes[`${version}/portal-widget.js`]).toBe(hashes['portal-widget.js']);
    expect(version).toMatch(/^\d+\.\d+\.\d+-[0-9a-f]{8}$/);
    expect((await load('/widget/0.0.0-00000000/portal-widget.js')).status).toBe(404);
  });

  test('reaches curl and fetch unharmed', async () => {
    const expected = readFileSync(new URL('portal-widget.js', dist), 'utf8');
    const { stdout } = await run('curl', ['-sS', '--compressed', `${gateway.url}${widget}`]);

    expect(stdout).toBe(expected);
    expect(await (await fetch(`${gateway.url}${widget}`)).text()).toBe(expected);
  });
});

describe('Chromium', () => {
  test('loads the widget compressed, checks its integrity, and does not load it a second time', async () => {
    const path = `/widget/${await findVersion()}/portal-widget.js`;
    const { 'portal-widget.js': integrity } = JSON.parse(readFileSync(new URL('sri.json', dist), 'utf8'));
    const page = await browser.newPage();
    /** The bytes of the file that crossed the network, without and with its headers. */
    const visit = async () => {
      await page.goto(`${gateway.url}/health`);
      return await page.evaluate(
        async ([src = '', hash = '']) => {
          const script = Object.assign(document.createElement('script'), { type: 'module', src });
          script.integrity = hash;
          await new Promise((resolve, reject) => {
            Object.assign(script, { onload: resolve, onerror: reject });
            document.head.append(script);
          });
          const [entry] = performance.getEntriesByName(script.src);
          return entry instanceof PerformanceResourceTiming ? entry.toJSON() : null;
        },
        [path, integrity],
      );
    };

    const first = await visit();
    const second = await visit();

    const { size } = statSync(new URL('portal-widget.js.br', dist));
    expect(first).toMatchObject({ encodedBodySize: size });
    expect(first?.transferSize).toBeGreaterThan(size);
    expect(second).toMatchObject({ encodedBodySize: size, transferSize: 0 });
    await page.close();
  });
});

describe('the demo page', () => {
  test.each(['/', '/demo/demo.css', '/demo/demo.js'])(
    '%s is compressed, and 304 on the second load',
    async (path) => {
      const plain = await load(path);
      const { headers, bytes } = await load(path, { 'accept-encoding': 'gzip, br' });

      expect(brotliDecompressSync(bytes)).toEqual(plain.bytes);
      expect(headers).toMatchObject({ 'cache-control': 'no-cache', vary: 'accept-encoding' });
      const second = await load(path, {
        'accept-encoding': 'gzip, br',
        'if-none-match': String(headers.etag),
      });
      expect(second.status).toBe(304);
    },
  );
});

describe('GraphiQL', () => {
  test('is a small page, whose files are compressed and cached for a year', async () => {
    const page = await load('/graphql', { accept: 'text/html', 'accept-encoding': 'br' });
    const files = [
      ...brotliDecompressSync(page.bytes)
        .toString()
        .matchAll(/"(\/graphiql\/[^"]+)"/g),
    ];

    expect(page.headers['cache-control']).toBe('no-store');
    expect(page.bytes.length).toBeLessThan(5000);
    expect(files).toHaveLength(2);
    for (const [, path = ''] of files) {
      const { headers, bytes } = await load(path, { 'accept-encoding': 'br' });
      expect(headers).toMatchObject({ 'cache-control': immutable, 'content-encoding': 'br' });
      expect(bytes.length).toBeLessThan(1_500_000);
      const etag = String(headers.etag);
      expect((await load(path, { 'accept-encoding': 'br', 'if-none-match': etag })).status).toBe(304);
    }
    expect((await load('/graphiql/000000000000/graphiql.js')).status).toBe(404);
  });

  test('edits and sends a query under its policy', async () => {
    const page = await browser.newPage();
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    await page.goto(`${gateway.url}/graphql`);
    await page.getByRole('button', { name: /Execute query/ }).click();
    await page.locator('.result-window').getByText('"data"').waitFor();
    await expect.poll(() => page.workers().length).toBeGreaterThan(0);

    expect(faults).toEqual([]);
    expect(page.workers().every((worker) => worker.url().startsWith(`${gateway.url}/graphiql/`))).toBe(true);
    await page.close();
  });
});
