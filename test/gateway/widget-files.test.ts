import { createHash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { WidgetFiles } from '../../gateway/http/pages/widget-files.ts';
import { type Folder, makeFolder } from '../support/folder.ts';

const text = 'export const words = "all the same, ";\n'.repeat(50);

function openFiles(folder: Folder): WidgetFiles {
  return new WidgetFiles(pathToFileURL(`${folder.path}/`));
}

function ask(acceptEncoding?: string): Request {
  const headers = acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding };
  return new Request('http://localhost/widget/portal-widget.js', { headers });
}

async function readBytes(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

test('a widget file is read from the disk once, and each answer has all of it', async () => {
  using folder = makeFolder();
  writeFileSync(folder.file('portal-widget.js'), text);
  const files = openFiles(folder);
  await (await files.answerNewest(ask(), 'portal-widget.js')).text();
  rmSync(folder.file('portal-widget.js'));

  const again = await files.answerNewest(ask(), 'portal-widget.js');

  expect(again.status).toBe(200);
  expect(again.headers.get('content-length')).toBe(String(text.length));
  expect(await again.text()).toBe(text);
});

test('answers share the bytes of a widget file', async () => {
  using folder = makeFolder();
  writeFileSync(folder.file('portal-widget.js'), text);
  const files = openFiles(folder);
  const readFirst = async () =>
    (await (await files.answerNewest(ask(), 'portal-widget.js')).body?.getReader().read())?.value;

  expect((await readFirst())?.buffer).toBe((await readFirst())?.buffer);
});

test('a widget file that is built later is there without a restart', async () => {
  using folder = makeFolder();
  const files = openFiles(folder);
  expect((await files.answerNewest(ask(), 'portal-widget.js')).status).toBe(404);

  writeFileSync(folder.file('portal-widget.js'), text);

  expect((await files.answerNewest(ask(), 'portal-widget.js')).status).toBe(200);
});

test('the compressed form is the one that the build has written', async () => {
  using folder = makeFolder();
  const built = brotliCompressSync(text, { params: {} });
  writeFileSync(folder.file('portal-widget.js'), text);
  writeFileSync(folder.file('portal-widget.js.br'), built);

  const answer = await openFiles(folder).answerNewest(ask('br'), 'portal-widget.js');

  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-encoding': 'br',
    'content-length': String(built.length),
    vary: 'accept-encoding',
  });
  expect(await readBytes(answer)).toEqual(built);
});

test('the compressed form of an earlier build is not sent', async () => {
  using folder = makeFolder();
  writeFileSync(folder.file('portal-widget.js'), text);
  writeFileSync(folder.file('portal-widget.js.br'), brotliCompressSync('an earlier build'));
  writeFileSync(folder.file('portal-widget.js.gz'), 'no gzip at all');
  const files = openFiles(folder);

  const [br, gzip] = await Promise.all(
    ['br', 'gzip'].map((coding) => files.answerNewest(ask(coding), 'portal-widget.js')),
  );

  expect(brotliDecompressSync(await readBytes(br ?? Response.error())).toString()).toBe(text);
  expect(gunzipSync(await readBytes(gzip ?? Response.error())).toString()).toBe(text);
});

test('a form that is not smaller than the file is not offered', async () => {
  using folder = makeFolder();
  writeFileSync(folder.file('portal-widget.js'), 'x');

  const answer = await openFiles(folder).answerNewest(ask('br, gzip'), 'portal-widget.js');

  expect(answer.headers.get('content-encoding')).toBe(null);
  expect(answer.headers.get('vary')).toBe('accept-encoding');
});

test('each form has an ETag of its own, because their bytes differ', async () => {
  using folder = makeFolder();
  writeFileSync(folder.file('portal-widget.js'), text);
  const files = openFiles(folder);

  const tags = await Promise.all(
    ['br', 'gzip', 'identity'].map(async (coding) =>
      (await files.answerNewest(ask(coding), 'portal-widget.js')).headers.get('etag'),
    ),
  );

  expect(new Set(tags).size).toBe(3);
  expect(tags.every((tag) => /^"[^"]+"$/.test(tag ?? ''))).toBe(true);
});

test('a client that refuses every form gets 406, and the refusal is not cached', async () => {
  using folder = makeFolder();
  writeFileSync(folder.file('portal-widget.js'), text);

  const answer = await openFiles(folder).answerNewest(ask('identity;q=0'), 'portal-widget.js');

  expect(answer.status).toBe(406);
  expect(answer.headers.get('cache-control')).toBe('no-store');
});

test('an address with a version answers only with the bytes that sri.json lists for it', async () => {
  using folder = makeFolder();
  const integrity = `sha384-${createHash('sha384').update(text).digest('base64')}`;
  const hashes = { 'portal-widget.js': integrity, '1.0.0-a/portal-widget.js': integrity };
  writeFileSync(folder.file('sri.json'), JSON.stringify(hashes));
  writeFileSync(folder.file('portal-widget.js'), text);
  const files = openFiles(folder);

  const known = await files.answerVersion(ask(), '1.0.0-a', 'portal-widget.js');
  const others = await Promise.all(
    ['1.0.0-b', '1.0.0', '__proto__'].map((version) =>
      files.answerVersion(ask(), version, 'portal-widget.js'),
    ),
  );

  expect(known.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(others.map(({ status }) => status)).toEqual([404, 404, 404]);
  expect(others.map(({ headers }) => headers.get('cache-control'))).toEqual(Array(3).fill('no-store'));
});

test('a file that was rebuilt after sri.json was read has no address with a version', async () => {
  using folder = makeFolder();
  writeFileSync(folder.file('sri.json'), JSON.stringify({ '1.0.0-a/portal-widget.js': 'sha384-other' }));
  writeFileSync(folder.file('portal-widget.js'), text);

  const answer = await openFiles(folder).answerVersion(ask(), '1.0.0-a', 'portal-widget.js');

  expect(answer.status).toBe(404);
});
