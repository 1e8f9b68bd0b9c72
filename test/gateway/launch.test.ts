import { createClient } from 'graphql-ws';
import { describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { type Lab, startLab } from '../support/lab.ts';
import { askForTicket, type Posted, pageOrigin, postTicket, takeTicket } from '../support/launch.ts';

interface Person {
  readonly userId: string;
  readonly orderId: string;
  readonly token: string;
}

/** Somebody with demographics and an order, signed in on the page with the scopes every widget has. */
async function signIn(lab: Lab, more: Readonly<Record<string, unknown>> = {}): Promise<Person> {
  const known = new Set(
    lab.sandbox.users().flatMap(({ userId, hasDemographics }) => (hasDemographics ? [userId] : [])),
  );
  const order = lab.sandbox.orders().find(({ userId }) => known.has(userId));
  if (order === undefined) throw new Error('The world has no such person.');
  const { userId, orderId } = order;
  return { userId, orderId, token: await lab.tokenFor(userId, more) };
}

const asksForLink = (lab: Lab) => lab.sandbox.calls.filter((call) => call.includes('create_portal_url'));
const orderOfAnother = (lab: Lab, { userId }: Person) =>
  lab.sandbox.orders().find((order) => order.userId !== userId);

/** The page shown to a visitor who could not be redirected. */
async function readPage(response: Response) {
  const page = await response.text();
  return { status: response.status, code: /Code: (\w+)/.exec(page)?.[1], page };
}

async function refusal(response: Response) {
  const { status, code } = await readPage(response);
  return [status, code];
}

describe('a launch ticket', () => {
  test('redirects the browser to the portal, once, and discloses nothing of the page to the portal', async () => {
    await using lab = await startLab();
    const { token, orderId } = await signIn(lab);
    const asked = Date.now();
    const { ticket, expiresAt } = await askForTicket(lab, { token, orderId });
    expect(ticket).toMatch(/^[\w-]{43}$/);
    expect(Date.parse(expiresAt)).toBeGreaterThan(asked);
    expect(Date.parse(expiresAt)).toBeLessThanOrEqual(Date.now() + 30_000);
    expect(asksForLink(lab)).toEqual([]);

    const answer = await postTicket(lab, ticket);

    expect(answer.status).toBe(303);
    const { location, 'x-request-id': _id, ...headers } = Object.fromEntries(answer.headers);
    expect(headers).toEqual({
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    expect(await answer.text()).toBe('');
    expect((await fetch(location ?? '')).status).toBe(200);
    expect(await refusal(await postTicket(lab, ticket))).toEqual([404, 'NOT_FOUND']);
    expect(asksForLink(lab)).toHaveLength(1);
  });

  test('needs no order, and a server of the team names the user', async () => {
    await using lab = await startLab();
    const { token, userId } = await signIn(lab);
    for (const ticket of [await takeTicket(lab, { token }), await takeTicket(lab, { userId })])
      expect((await postTicket(lab, ticket)).status).toBe(303);
  });

  test('that is posted several times at once is one launch', async () => {
    await using lab = await startLab();
    const ticket = await takeTicket(lab, await signIn(lab));
    const answers = await Promise.all(Array.from({ length: 10 }, () => postTicket(lab, ticket)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, ...Array(9).fill(404)]);
    expect(asksForLink(lab)).toHaveLength(1);
  });

  test('ends after 30 s', async () => {
    await using lab = await startLab();
    const person = await signIn(lab);
    const [early, late] = [await takeTicket(lab, person), await takeTicket(lab, person)];
    const now = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: now + 29_000 });
    try {
      expect((await postTicket(lab, early)).status).toBe(303);
      vi.setSystemTime(now + 30_001);
      expect(await refusal(await postTicket(lab, late))).toEqual([404, 'NOT_FOUND']);
    } finally {
      vi.useRealTimers();
    }
  });

  test('is spent by a page of another origin, which gets nothing for it', async () => {
    await using lab = await startLab();
    const ticket = await takeTicket(lab, await signIn(lab));
    const elsewhere = await postTicket(lab, ticket, { origin: 'https://elsewhere.example' });
    expect(await refusal(elsewhere)).toEqual([404, 'NOT_FOUND']);
    expect(await refusal(await postTicket(lab, ticket))).toEqual([404, 'NOT_FOUND']);
    expect(asksForLink(lab)).toEqual([]);
  });

  test('that is forged, malformed, used, or of a document gets one and the same page', async () => {
    await using lab = await startLab();
    const person = await signIn(lab);
    const used = await takeTicket(lab, person);
    await postTicket(lab, used);
    const documents = await lab.query(
      `mutation ($id: ID!) { createDocumentTicket(input: { orderId: $id, kind: REQUISITION }) {
        ... on DocumentTicket { url } } }`,
      { variables: { id: lab.sandbox.orders()[0]?.orderId } },
    );
    const document = documents.data.createDocumentTicket.url.slice('/documents/'.length);
    const pages = await Promise.all(
      [used, document, 'A'.repeat(43), 'x', '\0', 'ü'].map(async (ticket) =>
        readPage(await postTicket(lab, ticket)),
      ),
    );
    expect(new Set(pages.map((page) => JSON.stringify(page))).size).toBe(1);
    expect(pages[0]?.status).toBe(404);
    expect((await fetch(`${lab.url}/documents/${document}`)).status).toBe(200);
  });
});

describe('a request for a launch ticket', () => {
  test.each([null, 'null'])('that says as its Origin %j is refused', async (origin) => {
    await using lab = await startLab();
    const { errors } = await askForTicket(lab, { ...(await signIn(lab)), origin });
    expect(errors[0].extensions.code).toBe('FORBIDDEN');
  });

  test('over a socket is bound to the origin that opened it', async () => {
    await using lab = await startLab({ env: { ALLOWED_ORIGINS: pageOrigin } });
    const { token, orderId } = await signIn(lab);
    const ask = async (origin?: string) => {
      class OfPage extends WebSocket {
        constructor(url: string, protocol: string) {
          super(url, protocol, origin === undefined ? {} : { origin });
        }
      }
      const client = createClient({
        url: `${lab.url.replace('http', 'ws')}/graphql`,
        webSocketImpl: OfPage,
        connectionParams: { authorization: `Bearer ${token}` },
        retryAttempts: 0,
      });
      const query =
        'mutation ($orderId: ID) { createLaunchTicket(input: { orderId: $orderId }) { ... on LaunchTicket { ticket } } }';
      const { value } = await client.iterate({ query, variables: { orderId } }).next();
      await client.dispose();
      return value;
    };
    const { ticket } = (await ask(pageOrigin)).data.createLaunchTicket;
    expect((await postTicket(lab, ticket)).status).toBe(303);
    expect((await ask()).errors[0].extensions.code).toBe('FORBIDDEN');
  });

  test("for another's user or order, and for one that is nobody's, is refused alike and asks for no link", async () => {
    await using lab = await startLab();
    const person = await signIn(lab);
    const { token } = person;
    const other = orderOfAnother(lab, person);
    const answers = await Promise.all([
      askForTicket(lab, { token, userId: other?.userId }),
      askForTicket(lab, { token, userId: crypto.randomUUID() }),
      askForTicket(lab, { token, orderId: other?.orderId }),
      askForTicket(lab, { token, orderId: crypto.randomUUID() }),
    ]);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0].__typename).toBe('NotFound');
    expect(asksForLink(lab)).toEqual([]);
  });

  test('needs the scope launch:portal', async () => {
    await using lab = await startLab();
    const { errors } = await askForTicket(lab, await signIn(lab, { scopes: ['read:orders'] }));
    expect(errors[0].extensions.code).toBe('FORBIDDEN');
  });

  test('by a user without demographics is refused while the page can still say so', async () => {
    await using lab = await startLab();
    const userId = lab.sandbox.users().find(({ hasDemographics }) => !hasDemographics)?.userId ?? '';
    expect(await askForTicket(lab, { token: await lab.tokenFor(userId) })).toMatchObject({
      __typename: 'PortalUrlRejected',
      code: 'DEMOGRAPHICS_MISSING',
      demographicsMissing: true,
    });
  });

  test('is granted where demographics cannot be shown: that says nothing of the portal', async () => {
    await using lab = await startLab();
    lab.sandbox.faults.add({ path: /info\/latest/, effect: { kind: 'featureNotEnabled' } });
    const ticket = await takeTicket(lab, await signIn(lab));
    expect((await postTicket(lab, ticket)).status).toBe(303);
  });
});

describe('a visitor who cannot be redirected', () => {
  const portal = /create_portal_url/;

  test.each([
    ['the service fails', { kind: 'serverError' }, 502, 'UPSTREAM_UNAVAILABLE'],
    [
      'it is asked too often',
      { kind: 'tooManyRequests', retryAfterSeconds: 7 },
      503,
      'UPSTREAM_RATE_LIMITED',
    ],
    ['the portal is not enabled', { kind: 'featureNotEnabled' }, 403, 'FEATURE_NOT_ENABLED'],
    ['it answers with no link', { kind: 'answer', status: 200, body: '{}' }, 502, 'UPSTREAM_UNAVAILABLE'],
  ] as const)('because %s gets a plain message', async (_, effect, status, code) => {
    await using lab = await startLab();
    const ticket = await takeTicket(lab, await signIn(lab));
    lab.sandbox.faults.add({ path: portal, effect });
    const answer = await postTicket(lab, ticket);
    expect(answer.headers.get('retry-after')).toBe(code === 'UPSTREAM_RATE_LIMITED' ? '7' : null);
    expect(await refusal(answer)).toEqual([status, code]);
  });

  test('because the service is gone gets a message that says so', async () => {
    await using lab = await startLab();
    const ticket = await takeTicket(lab, await signIn(lab));
    await lab.sandbox.close();
    expect(await refusal(await postTicket(lab, ticket))).toEqual([502, 'UPSTREAM_UNAVAILABLE']);
  });

  test.each(['https://evil.example/secret-link', 'javascript:alert("secret-link")'])(
    'because the link is %s never sees it',
    async (url) => {
      await using lab = await startLab();
      const ticket = await takeTicket(lab, await signIn(lab));
      const body = JSON.stringify({ url, expires_in: 600 });
      lab.sandbox.faults.add({ path: portal, effect: { kind: 'answer', status: 200, body } });
      const answer = await postTicket(lab, ticket);
      expect(answer.headers.has('location')).toBe(false);
      const { status, code, page } = await readPage(answer);
      expect([status, code]).toEqual([502, 'PORTAL_URL_REFUSED']);
      expect(page + lab.logged.join('')).not.toMatch(/secret-link|evil/);
    },
  );

  test('because the order has moved to somebody else meanwhile is not let into it', async () => {
    await using lab = await startLab();
    const person = await signIn(lab);
    const ticket = await takeTicket(lab, person);
    const { orderId } = person;
    const moved = { id: orderId, user_id: orderOfAnother(lab, person)?.userId };
    // Read alone and found in the list, whichever is asked.
    const body = JSON.stringify({ ...moved, orders: [moved], total: 1, page: 1, size: 1, pages: 1 });
    lab.sandbox.faults.add({ path: /orders?[/?]/, effect: { kind: 'answer', status: 200, body } });
    expect(await refusal(await postTicket(lab, ticket))).toEqual([404, 'NOT_FOUND']);
    expect(asksForLink(lab)).toEqual([]);
  });

  test('because the service refuses them gets a message that says whether details are missing', async () => {
    await using lab = await startLab();
    const person = await signIn(lab);
    const tickets = [await takeTicket(lab, person), await takeTicket(lab, person)];
    lab.sandbox.faults.add({ path: portal, effect: { kind: 'answer', status: 422, body: '{}' } });
    expect(await refusal(await postTicket(lab, tickets[0] ?? ''))).toEqual([422, 'PORTAL_URL_REJECTED']);
    lab.sandbox.faults.add({ path: /info\/latest/, effect: { kind: 'answer', status: 404, body: '{}' } });
    expect(await refusal(await postTicket(lab, tickets[1] ?? ''))).toEqual([422, 'DEMOGRAPHICS_MISSING']);
  });

  test('gets a page without a script that nobody may cache or frame', async () => {
    await using lab = await startLab();
    const answer = await postTicket(lab, 'none');
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-\S+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
      ),
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    const { page } = await readPage(answer);
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(page).toMatch(/<title>[^<]+<\/title>[\s\S]*<main>\n<h1>[^<]+<\/h1>\n<p>[^<]+<\/p>/);
    expect(page).not.toMatch(/<script|http|style=/);
  });
});

describe('what is no form of a page with a ticket', () => {
  const notForms: readonly (readonly [string, Posted, number, string])[] = [
    ['says no Origin', { origin: null }, 403, 'FORBIDDEN'],
    ['hides its Origin', { origin: 'null' }, 403, 'FORBIDDEN'],
    ['is JSON', { contentType: 'application/json' }, 400, 'BAD_REQUEST'],
    ['is multipart', { contentType: 'multipart/form-data; boundary=x' }, 400, 'BAD_REQUEST'],
    ['is too large', { body: `ticket=${'A'.repeat(2000)}` }, 400, 'BAD_REQUEST'],
    ['has no ticket', { body: 'other=1' }, 400, 'BAD_REQUEST'],
  ];

  test.each(notForms)('because it %s is refused and spends no ticket', async (_, posted, status, code) => {
    await using lab = await startLab();
    const ticket = await takeTicket(lab, await signIn(lab));
    expect(await refusal(await postTicket(lab, ticket, posted))).toEqual([status, code]);
    expect((await postTicket(lab, ticket)).status).toBe(303);
  });

  test.each(['GET', 'HEAD', 'PUT', 'OPTIONS'])('because it is %s is refused', async (method) => {
    await using lab = await startLab();
    const answer = await fetch(`${lab.url}/launch?ticket=x`, { method, headers: { origin: pageOrigin } });
    expect([answer.status, answer.headers.get('allow'), await answer.text()]).toEqual([405, 'POST', '']);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('because it never ends is cut as soon as it is too large', async () => {
    await using lab = await startLab();
    let sent = 0;
    const body = new ReadableStream({
      pull: (controller) => {
        sent += 1;
        controller.enqueue(new TextEncoder().encode('ticket='.padEnd(600, 'A')));
      },
    });
    const init = {
      method: 'POST',
      headers: { origin: pageOrigin, 'content-type': 'application/x-www-form-urlencoded' },
      body,
      // A request that is a stream has to say so, and the types do not know it.
      duplex: 'half',
    };
    const endless = new Request(`${lab.url}/launch`, init);
    expect((await lab.gateway.fetch(endless)).status).toBe(400);
    expect(sent).toBeLessThan(5);
  });
});

test('no log line or metric contains the ticket or the link, for any outcome', async () => {
  await using lab = await startLab();
  const person = await signIn(lab);
  const tickets = await Promise.all([1, 2, 3].map(() => takeTicket(lab, person)));
  const [good = '', foreign = '', failing = ''] = tickets;
  const { location = '' } = Object.fromEntries((await postTicket(lab, good)).headers);
  const pages = [
    await postTicket(lab, good),
    await postTicket(lab, foreign, { origin: 'https://else.example' }),
  ];
  lab.sandbox.faults.add({ path: /create_portal_url/, effect: { kind: 'truncatedBody' } });
  pages.push(await postTicket(lab, failing));
  const metrics = await (await lab.gateway.fetch(new Request(`${lab.url}/metrics`))).text();
  const texts = await Promise.all(pages.map((page) => page.text()));
  const written = [...lab.logged, metrics, ...texts].join('\n');
  const secrets = [...tickets, location, new URL(location).pathname.split('/').at(-1) ?? '', person.userId];
  expect(secrets.filter((secret) => written.includes(secret))).toEqual([]);
});
