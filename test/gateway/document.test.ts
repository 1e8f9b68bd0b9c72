import { once } from 'node:events';
import { get as httpGet } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { type Lab, startLab } from '../support/lab.ts';
import { takeTicket } from '../support/launch.ts';

const createTicket = `mutation ($input: CreateDocumentTicketInput!) { createDocumentTicket(input: $input) {
  __typename
  ... on DocumentTicket { url expiresAt }
  ... on UserError { code message }
} }`;

interface Asked {
  readonly orderId?: string | undefined;
  readonly kind?: 'RESULT' | 'REQUISITION';
  readonly token?: string;
}

async function ask(lab: Lab, { orderId, kind = 'RESULT', token }: Asked = {}) {
  const answer = await lab.query(createTicket, {
    variables: { input: { orderId: orderId ?? lab.sandbox.orders()[0]?.orderId, kind } },
    ...(token === undefined ? {} : { token }),
  });
  return answer.data?.createDocumentTicket ?? answer;
}

const get = (lab: Lab, path: string, init?: RequestInit) => fetch(`${lab.url}${path}`, init);

test.each(['RESULT', 'REQUISITION'] as const)(
  'a ticket fetches the PDF of kind %s, once and without a token',
  async (kind) => {
    await using lab = await startLab();
    const asked = Date.now();
    const { url, expiresAt } = await ask(lab, { kind });
    expect(url).toMatch(/^\/documents\/[\w-]{43}$/);
    expect(Date.parse(expiresAt)).toBeGreaterThan(asked);
    expect(Date.parse(expiresAt)).toBeLessThanOrEqual(Date.now() + 60_000);

    const answer = await get(lab, url);
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': `attachment; filename="${kind.toLowerCase()}.pdf"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    const text = await answer.text();
    expect(text).toMatch(/^%PDF-1\.4[\s\S]*%%EOF\n$/);
    expect(answer.headers.get('content-length')).toBe(String(text.length));

    const second = await get(lab, url);
    expect(second.status).toBe(404);
    expect(await second.json()).toEqual({
      error: { code: 'NOT_FOUND', message: 'There is no such document.' },
    });
  },
);

test('an unknown, a malformed and a used ticket, and one of a launch, get one and the same answer', async () => {
  await using lab = await startLab();
  const { url } = await ask(lab);
  await (await get(lab, url)).text();
  const launch = await takeTicket(lab, { userId: lab.sandbox.users()[0]?.userId });
  const unknown = ['A'.repeat(43), 'x', '%00', launch].map((ticket) => `/documents/${ticket}`);
  const answers = await Promise.all(
    [url, ...unknown].map(async (path) => {
      const answer = await get(lab, path);
      return [answer.status, await answer.text()];
    }),
  );
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
});

test('two who come with one ticket at the same time get one document', async () => {
  await using lab = await startLab();
  const { url } = await ask(lab);
  const answers = await Promise.all([get(lab, url), get(lab, url), get(lab, url)]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404, 404]);
});

test('HEAD and POST are refused and spend no ticket', async () => {
  await using lab = await startLab();
  const { url } = await ask(lab);
  for (const method of ['HEAD', 'POST']) expect((await get(lab, url, { method })).status).toBe(405);
  expect((await get(lab, url)).status).toBe(200);
});

const webView =
  'Mozilla/5.0 (Linux; Android 15; Pixel 9; wv) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36';

test('in the WebView of an Android app a navigation spends no ticket: the app asks for the document itself', async () => {
  await using lab = await startLab();
  const { url } = await ask(lab);
  // `fetch` sets `sec-fetch-mode` itself.
  const navigate = async (path: string, userAgent: string) => {
    const [answer] = await once(
      httpGet(`${lab.url}${path}`, { headers: { 'user-agent': userAgent, 'sec-fetch-mode': 'navigate' } }),
      'response',
    );
    return {
      status: answer.statusCode,
      disposition: answer.headers['content-disposition'],
      text: await text(answer),
    };
  };
  const head = { status: 200, disposition: 'attachment; filename="document.pdf"', text: '' };
  expect(await navigate(url, webView)).toEqual(head);
  expect(await navigate('/documents/unknown', webView)).toEqual(head);

  // As `DownloadManager` does, with the name that its app gives it.
  const document = await get(lab, url, { headers: { 'user-agent': webView } });
  expect(await document.text()).toMatch(/^%PDF/);
  expect((await get(lab, url, { headers: { 'user-agent': webView } })).status).toBe(404);

  const browser = await navigate((await ask(lab)).url, webView.replace('; wv', ''));
  expect(browser.text).toMatch(/^%PDF/);
});

test('a document that the service does not have yet is reported as such', async () => {
  await using lab = await startLab();
  const fresh = lab.sandbox.orders().find(({ status }) => status.endsWith('.ordered'));
  for (const kind of ['RESULT', 'REQUISITION'] as const) {
    expect(await ask(lab, { orderId: fresh?.orderId, kind })).toMatchObject({
      __typename: 'DocumentNotReady',
      code: 'DOCUMENT_NOT_READY',
    });
  }
});

test('a feature that is not enabled, a fault and an answer that is no PDF get different errors', async () => {
  await using lab = await startLab();
  const path = /\/result\/pdf$/;
  lab.sandbox.faults.add({ path, times: 1, effect: { kind: 'featureNotEnabled' } });
  expect((await ask(lab)).__typename).toBe('FeatureNotEnabled');
  lab.sandbox.faults.add({ path, times: 1, effect: { kind: 'answer', status: 200, body: '{}' } });
  expect((await ask(lab)).errors[0].extensions.code).toBe('UPSTREAM_UNREADABLE');
  lab.sandbox.faults.add({ path, effect: { kind: 'serverError' } });
  expect((await ask(lab)).errors[0].extensions.code).toBe('UPSTREAM_UNAVAILABLE');
});

test('a fault between ticket and fetch is an answer without upstream text, and a passing one is tried again', async () => {
  await using lab = await startLab();
  const first = await ask(lab);
  lab.sandbox.faults.add({ path: /\/result\/pdf$/, times: 1, effect: { kind: 'serverError' } });
  expect((await get(lab, first.url)).status).toBe(200);
  const second = await ask(lab);
  lab.sandbox.faults.add({ path: /\/result\/pdf$/, effect: { kind: 'serverError' } });
  const answer = await get(lab, second.url);
  expect(answer.status).toBe(502);
  expect(await answer.json()).toEqual({
    error: { code: 'UPSTREAM_UNAVAILABLE', message: 'The service failed to answer.' },
  });
});

test("another's order and a random one get the same refusal, and the service is asked for no document", async () => {
  await using lab = await startLab();
  const own = lab.sandbox.orders()[0];
  const other = lab.sandbox.orders().find(({ userId }) => userId !== own?.userId);
  const token = await lab.tokenFor(own?.userId ?? '', { scopes: ['read:orders', 'read:results'] });
  const foreign = await ask(lab, { orderId: other?.orderId, token });
  expect(foreign).toEqual(await ask(lab, { orderId: crypto.randomUUID(), token }));
  expect(foreign.__typename).toBe('NotFound');
  expect(lab.sandbox.calls.filter((call) => call.includes('/pdf'))).toEqual([]);
});

test.each([
  ['RESULT', 'read:results'],
  ['REQUISITION', 'read:profile'],
] as const)('a document of kind %s needs the scope %s', async (kind, scope) => {
  await using lab = await startLab();
  const userId = lab.sandbox.orders()[0]?.userId ?? '';
  const without = await lab.tokenFor(userId);
  lab.sandbox.clearCalls();
  expect((await ask(lab, { kind, token: without })).errors[0].extensions.code).toBe('FORBIDDEN');
  expect(lab.sandbox.calls).toEqual([]);
  const token = await lab.tokenFor(userId, { scopes: ['read:orders', scope] });
  expect((await ask(lab, { kind, token })).__typename).toBe('DocumentTicket');
});

test('an order that moved to another user after the ticket was made is not handed out', async () => {
  await using lab = await startLab();
  const [order] = lab.sandbox.orders();
  const { url } = await ask(lab);
  const stranger = lab.sandbox.users().find(({ userId }) => userId !== order?.userId);
  const body = JSON.stringify({ id: order?.orderId, user_id: stranger?.userId });
  lab.sandbox.faults.add({
    path: `/v3/order/${order?.orderId}`,
    times: 1,
    effect: { kind: 'answer', status: 200, body },
  });
  expect((await get(lab, url)).status).toBe(404);
});

test('no log line contains a ticket or an order id', async () => {
  await using lab = await startLab();
  const { url } = await ask(lab);
  await (await get(lab, url)).text();
  const second = await ask(lab);
  lab.sandbox.faults.add({ path: /\/result\/pdf$/, effect: { kind: 'serverError' } });
  await get(lab, second.url);
  const written = lab.logged.join('');
  for (const secret of [url, second.url]) expect(written).not.toContain(secret.slice('/documents/'.length));
});

test('a client that leaves in the middle ends the transfer and nothing else', async () => {
  await using lab = await startLab();
  const { url } = await ask(lab);
  const leave = new AbortController();
  const answer = await get(lab, url, { signal: leave.signal });
  leave.abort();
  await expect(answer.text()).rejects.toThrow();
  expect((await get(lab, '/health')).status).toBe(200);
});
