import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { Rights } from '../../../gateway/auth/rights.ts';
import { createLabReport } from '../../../gateway/domain/lab-report/rest.ts';
import type { Upstream } from '../../../gateway/service/client.ts';
import { bindService } from '../../../gateway/service/service.ts';
import { type Answer, json, openUpstream, silence, text } from '../../support/misbehaving-service.ts';

const call = { operation: 'file.get', method: 'GET', path: '/file' } as const;
const wanted = { accept: 'application/pdf' };
const pdfHead = { 'content-type': 'application/pdf; charset=binary' };

/** Begins a file and hands the rest of the work to the test. */
function begin(): { readonly answer: Answer; readonly begun: Promise<ServerResponse> } {
  const { promise, resolve } = Promise.withResolvers<ServerResponse>();
  const answer: Answer = (response) => {
    response.writeHead(200, pdfHead);
    response.write('%PDF-', () => resolve(response));
  };
  return { answer, begun: promise };
}

async function openFile(upstream: Upstream, signal?: AbortSignal) {
  const file = await upstream.open(call, { ...wanted, signal });
  if (file === undefined) throw new Error('There is no file.');
  return file;
}

const textOf = (chunk: IteratorResult<Uint8Array>) => Buffer.from(chunk.value ?? []).toString();

test('the first bytes of a file are there before the last ones are sent', async () => {
  const { answer, begun } = begin();
  await using open = await openUpstream([answer]);
  const file = await openFile(open.upstream);
  const chunks = file.body[Symbol.asyncIterator]();
  expect(textOf(await chunks.next())).toBe('%PDF-');
  (await begun).end('rest');
  expect(textOf(await chunks.next())).toBe('rest');
  expect((await chunks.next()).done).toBe(true);
  expect(open.service.seen[0]?.headers).toMatchObject({
    accept: 'application/pdf',
    'x-service-api-key': 'key-of-the-team',
  });
});

test('a file of known length says so', async () => {
  await using open = await openUpstream([text('%PDF-1', 200, { ...pdfHead, 'content-length': '6' })]);
  const file = await openFile(open.upstream);
  expect(file.bytes).toBe(6);
  file.cancel();
});

test.each(['leaving the iteration', 'cancelling', 'the signal'])('%s ends the transfer', async (way) => {
  const { answer, begun } = begin();
  await using open = await openUpstream([answer]);
  const left = new AbortController();
  const file = await openFile(open.upstream, left.signal);
  await begun;
  if (way === 'cancelling') file.cancel();
  if (way === 'leaving the iteration') for await (const _chunk of file.body) break;
  if (way === 'the signal') {
    left.abort();
    await expect(file.body[Symbol.asyncIterator]().next()).rejects.toThrow();
  }
  await (await open.service.request(0)).abandoned;
});

test('a transfer that breaks in the middle is an error to who reads it', async () => {
  const { answer, begun } = begin();
  await using open = await openUpstream([answer]);
  const file = await openFile(open.upstream);
  const chunks = file.body[Symbol.asyncIterator]();
  await chunks.next();
  (await begun).socket?.destroy();
  await expect(chunks.next()).rejects.toThrow();
});

test('a passing fault before the file begins is tried again', async () => {
  await using open = await openUpstream([text('busy', 503), text('%PDF-', 200, pdfHead)]);
  const file = await openFile(open.upstream);
  expect(textOf(await file.body[Symbol.asyncIterator]().next())).toBe('%PDF-');
  expect(open.service.calls()).toEqual(['GET /file', 'GET /file']);
});

test.each([
  ['no answer', silence, 'UPSTREAM_TIMEOUT'],
  ['another type', json({ detail: 'not yet' }), 'UPSTREAM_UNREADABLE'],
  ['no type', text('%PDF-'), 'UPSTREAM_UNREADABLE'],
  ['a redirect', text('', 302, { location: 'http://127.0.0.1/elsewhere' }), 'UPSTREAM_UNREADABLE'],
  ['401', json({ detail: 'key' }, 401), 'UPSTREAM_UNAUTHORIZED'],
] as const)('%s in place of a file is %s', async (_name, answer, code) => {
  // Short only where nothing comes: a busy machine may take longer for an answer.
  const times = answer === silence ? { attemptMs: 50, deadlineMs: 100 } : {};
  await using open = await openUpstream([answer], times);
  await expect(open.upstream.open(call, wanted)).rejects.toMatchObject({ code });
});

test('where the service has no such file there is none', async () => {
  await using open = await openUpstream([json({ detail: 'none' }, 404)]);
  expect(await open.upstream.open(call, wanted)).toBeUndefined();
});

test('a form is sent as multipart with its fields and files, once', async () => {
  await using open = await openUpstream([json({ id: 'j' })]);
  const file = new Blob(['some bytes'], { type: 'image/png' });
  await open.upstream.write({
    operation: 'form.send',
    method: 'POST',
    path: '/form',
    form: [
      { name: 'user_id', value: 'u' },
      { name: 'file', file, fileName: 'report-1.png' },
    ],
  });
  const [seen] = open.service.seen;
  expect(seen?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
  expect(Number(seen?.headers['content-length'])).toBe(seen?.body.length);
  expect(seen?.body).toContain('name="user_id"\r\n\r\nu\r\n');
  expect(seen?.body).toContain(
    'name="file"; filename="report-1.png"\r\nContent-Type: image/png\r\n\r\nsome bytes',
  );
});

test('a lab report goes out under neutral file names and its true types', async () => {
  await using open = await openUpstream([json({ id: 'j', status: 'started' })]);
  const service = bindService(open.upstream, {
    rights: new Rights({ kind: 'TEAM' }),
  });
  const named = new File(['bytes'], 'Avery Sample HIV.jpg', { type: 'text/html' });
  await createLabReport(service, {
    userId: 'u',
    needsHumanReview: true,
    files: [{ content: named.slice(0, named.size, 'image/jpeg'), extension: 'jpeg' }],
  });
  const sent = open.service.seen[0]?.body;
  expect(sent).toContain('name="file"; filename="report-1.jpeg"\r\nContent-Type: image/jpeg\r\n');
  expect(sent).toContain('name="needs_human_review"\r\n\r\ntrue\r\n');
  expect(sent).not.toContain('Avery');
});
