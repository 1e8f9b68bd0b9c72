import { connect } from 'node:net';
import { createYoga } from 'graphql-yoga';
import { expect, test } from 'vitest';
import type { Caller } from '../../gateway/auth/rights.ts';
import { schema } from '../../gateway/domain/schema.ts';
import { createUploadGate, isUpload, type UploadTimeouts, useUploads } from '../../gateway/http/uploads.ts';
import { partBombs, sendPartBombs } from '../siege/part-bombs.ts';
import { gatewayKey, startLab } from '../support/lab.ts';

const team: Caller = { kind: 'TEAM' };
const viewer = (scopes: readonly string[], userId = 'u'): Caller => ({
  kind: 'USER',
  userId,
  orderIds: null,
  scopes,
  issuedAt: new Date(),
  expiresAt: new Date(Date.now() + 60_000),
  tokenId: null,
  origins: null,
});

test('ten uploads at once are let in, the eleventh is asked to wait until one has ended', () => {
  const begin = createUploadGate();
  const ends = Array.from({ length: 10 }, () => begin(team));
  expect(() => begin(team)).toThrow(
    expect.objectContaining({ code: 'UPSTREAM_RATE_LIMITED', retryAfterMs: 2000 }),
  );
  ends[0]?.();
  expect(() => begin(viewer(['write:lab-reports']))).not.toThrow();
});

test('one user has two uploads at once at most, with any number of tokens; another user can still upload', () => {
  const begin = createUploadGate();
  const upload = (userId: string) => begin(viewer(['write:lab-reports'], userId));
  const [end] = [upload('u'), upload('u')];
  expect(() => upload('u')).toThrow(expect.objectContaining({ code: 'UPSTREAM_RATE_LIMITED' }));
  expect(() => upload('v')).not.toThrow();
  end();
  expect(() => upload('u')).not.toThrow();
  expect(() => upload('u')).toThrow();
});

test('ten sockets of one viewer that send headers and nothing more prevent no other upload', async () => {
  await using lab = await startLab();
  const [one, two] = lab.sandbox.users().map(({ userId }) => userId);
  const scopes = { scopes: ['write:lab-reports'] };
  const [stalling, uploading] = [
    await lab.tokenFor(one ?? '', scopes),
    await lab.tokenFor(two ?? '', scopes),
  ];
  const { hostname, port } = new URL(lab.url);
  const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${stalling}\r\n`;
  const sockets = Array.from({ length: 10 }, () => connect(Number(port), hostname));
  const refusals = sockets.map(
    (socket) => new Promise<void>((resolve) => socket.once('data', () => resolve())),
  );
  for (const socket of sockets) {
    socket.on('error', () => undefined);
    socket.write(
      `${head}Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n--b\r\n`,
    );
  }
  // The first refusal says that the share is taken.
  await Promise.any(refusals);

  const form = new FormData();
  form.set('operations', JSON.stringify({ query: '{ viewer { kind } }' }));
  form.set('map', '{}');
  const response = await fetch(`${lab.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${uploading}` },
    body: form,
  });
  expect(await response.json()).toEqual({ data: { viewer: { kind: 'USER' } } });
  for (const socket of sockets) socket.destroy();
});

/** An upload with the given source of bytes; resolves with the answer, and reports whether the rest was cancelled. */
async function uploadSlowly(
  timeouts: UploadTimeouts,
  { boundary = 'b', ...source }: UnderlyingDefaultSource<Uint8Array> & { readonly boundary?: string },
) {
  const yoga = createYoga({
    schema,
    fetchAPI: { Request, Response, Headers, ReadableStream },
    plugins: [useUploads(timeouts)],
    multipart: false,
    logging: false,
  });
  const cancelled = Promise.withResolvers<true>();
  const body = new ReadableStream<Uint8Array>({ ...source, cancel: () => cancelled.resolve(true) });
  const response = await yoga.fetch('http://gateway.test/graphql', {
    method: 'POST',
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body,
    duplex: 'half',
  } as RequestInit);
  return {
    status: response.status,
    text: await response.text(),
    isGivenUp: response.status < 408 || (await cancelled.promise),
  };
}

const bytes = (text: string) => new TextEncoder().encode(text);

const dripUntil = (isEnough: () => boolean) => async (body: ReadableStreamDefaultController<Uint8Array>) => {
  await new Promise((resolve) => setImmediate(resolve));
  if (isEnough()) body.close();
  else body.enqueue(bytes('more '));
};
const begin = (body: ReadableStreamDefaultController<Uint8Array>) =>
  body.enqueue(bytes('--b\r\ncontent-disposition: form-data; name="0"; filename="r.pdf"\r\n\r\n'));
const usual: UploadTimeouts = { everyMs: 60_000, minBytes: 1, wholeMs: 60_000 };
const forEver = dripUntil(() => false);

test('an upload that stops coming is aborted', async () => {
  const answer = await uploadSlowly(
    { everyMs: 20, minBytes: 10, wholeMs: 60_000 },
    { start: (body) => body.enqueue(bytes('--b\r\nwith a good beginning')) },
  );
  expect(answer).toMatchObject({ status: 408, isGivenUp: true });
  expect(answer.text).toContain('The upload came too slowly.');
});

test('an upload that drips is aborted long before its total timeout', async () => {
  const timeouts = { everyMs: 20, minBytes: 2 ** 30, wholeMs: 60_000 };
  expect(await uploadSlowly(timeouts, { start: begin, pull: forEver })).toMatchObject({
    status: 408,
    isGivenUp: true,
  });
});

test('an upload that comes fast enough and never ends is aborted', async () => {
  const timeouts = { everyMs: 60_000, minBytes: 1, wholeMs: 20 };
  expect(await uploadSlowly(timeouts, { start: begin, pull: forEver })).toMatchObject({
    status: 408,
    isGivenUp: true,
  });
});

test('an upload that keeps coming fast enough is read to its end', async () => {
  let windows = 0;
  const counting = setInterval(() => {
    windows += 1;
  }, 50);
  const pull = dripUntil(() => windows > 3);
  const { status } = await uploadSlowly(
    { everyMs: 50, minBytes: 1, wholeMs: 60_000 },
    { start: begin, pull },
  );
  clearInterval(counting);
  expect(status).toBe(400);
});

test.each(Object.entries(partBombs))(
  'a body of 32 MB made of %s is refused after its beginning',
  async (_name, { start, piece, boundary }) => {
    const chunk = bytes(piece.repeat(Math.ceil(65_536 / piece.length)));
    let given = 0;
    const pull = (body: ReadableStreamDefaultController<Uint8Array>) => {
      if (given >= 32_000_000) return body.close();
      given += chunk.length;
      body.enqueue(chunk);
    };
    const answer = await uploadSlowly(usual, {
      boundary,
      start: (body) => body.enqueue(bytes(start)),
      pull,
    });
    expect(answer.status).toBe(413);
    expect(answer.text).toMatch(/The form has too (many parts|many bytes outside its files)\./);
    expect(given).toBeLessThan(1_000_000);
  },
);

test('a gateway answers each part bomb before it has all of it', async () => {
  await using lab = await startLab();
  const target = { url: lab.url, token: gatewayKey, signal: AbortSignal.timeout(30_000) };
  const reports = await sendPartBombs({ ...target, bytes: 16_000_000 });
  expect(reports.map(({ name, status }) => ({ name, status }))).toEqual(
    Object.keys(partBombs).map((name) => ({ name, status: 413 })),
  );
  expect(Math.max(...reports.map(({ sentBytes }) => sentBytes))).toBeLessThan(16_000_000);
});

test('a caller that may not upload is refused and takes no place', () => {
  const begin = createUploadGate();
  for (let attempt = 0; attempt < 20; attempt += 1) {
    expect(() => begin(viewer(['read:results']))).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
  }
  expect(() => begin(team)).not.toThrow();
});

test.each([
  ['multipart/form-data; boundary=x', true],
  ['Multipart/Form-Data;boundary=x', true],
  ['multipart/form-data', false],
  ['multipart/form-datax; boundary=x', false],
  ['application/json', false],
  ['application/json; multipart/form-data;', false],
])('%s: an upload? %s', (type, expected) => {
  const request = new Request('http://gateway.test/graphql', {
    method: 'POST',
    headers: { 'content-type': type },
    body: 'x',
  });
  expect(isUpload(request)).toBe(expected);
});
