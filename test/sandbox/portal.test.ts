import { afterEach, expect, test, vi } from 'vitest';
import { at, openSandbox, requestTo } from './support.ts';

interface PortalUrl {
  readonly url: string;
  readonly expires_in: number;
}

afterEach(() => {
  vi.useRealTimers();
});

test.each([
  ['launch', /^http:\/\/sandbox\.test\/portal\/[\w-]{43}$/, 600],
  ['communications', /^http:\/\/sandbox\.test\/p\/[\w-]{11}$/, 1_209_600],
])('A %s URL has its form and its lifetime', async (context, form, expiresIn) => {
  await using service = openSandbox();
  const { userId } = at(service.sandbox.users(), 0);
  const { status, body } = await service.ask<PortalUrl>('POST', `/v2/user/${userId}/create_portal_url`, {
    context,
  });
  expect([status, body.expires_in]).toEqual([200, expiresIn]);
  expect(body.url).toMatch(form);
});

test('Once the sandbox listens, portal URLs have its address', async () => {
  await using service = openSandbox();
  const { url } = await service.sandbox.listen({ host: '127.0.0.1', port: 0 });
  const path = `/v2/user/${at(service.sandbox.users(), 0).userId}/create_portal_url`;
  const answer = await fetch(requestTo(url, 'POST', path, { context: 'launch' }));
  const body = (await answer.json()) as PortalUrl;
  const page = await fetch(body.url);
  expect(body.url.startsWith(`${url}/portal/`)).toBe(true);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8']);
});

test('The portal page shows the order of the link, names no person and is closed to everything else', async () => {
  await using service = openSandbox();
  const order = at(service.sandbox.orders(), 6);
  const path = `/v2/user/${order.userId}/create_portal_url`;
  const { body } = await service.ask<PortalUrl>('POST', path, { context: 'launch', order_id: order.orderId });
  const page = await service.sandbox.fetch(new Request(body.url));
  const html = await page.text();
  expect(html).toContain('Patient portal (sandbox)');
  expect(html).toContain(order.orderId.slice(0, 8));
  expect(html).toContain('With customer');
  expect(html).not.toContain(order.orderId);
  expect(html).not.toMatch(/avery/i);
  const policy = page.headers.get('content-security-policy') ?? '';
  const nonce = /^default-src 'none'; style-src 'nonce-([^']+)'$/.exec(policy)?.[1];
  expect(html).toContain(`<style nonce="${nonce}">`);
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.headers.get('cross-origin-opener-policy')).toBeNull();
  const isolated = await service.sandbox.fetch(new Request(`${body.url}?coop=1`));
  expect(isolated.headers.get('cross-origin-opener-policy')).toBe('same-origin');
});

test('A link that was never given out leads to a 404 page', async () => {
  await using service = openSandbox();
  for (const path of ['/portal/nothing', '/p/nothing']) {
    const page = await service.sandbox.fetch(new Request(`http://sandbox.test${path}`));
    expect(page.status).toBe(404);
    expect(await page.text()).toContain('This link is not valid any more');
  }
});

test.each(['launch', 'communications'])('A %s link ends with its lifetime', async (context) => {
  vi.useFakeTimers({ toFake: ['Date'] });
  await using service = openSandbox();
  const path = `/v2/user/${at(service.sandbox.users(), 0).userId}/create_portal_url`;
  const { body } = await service.ask<PortalUrl>('POST', path, { context });
  const open = async () => (await service.sandbox.fetch(new Request(body.url))).status;
  vi.setSystemTime(Date.now() + (body.expires_in - 1) * 1000);
  expect(await open()).toBe(200);
  vi.setSystemTime(Date.now() + 2000);
  expect(await open()).toBe(404);
});

test('Visits show whether a browser sent its origin, and are not calls to the service', async () => {
  await using service = openSandbox();
  const headers = { referer: 'https://shop.example.com/', 'sec-fetch-site': 'cross-site' };
  await service.sandbox.fetch(new Request('http://sandbox.test/portal/one', { headers }));
  await service.sandbox.fetch(new Request('http://sandbox.test/p/two'));
  const { body } = await service.ask('GET', '/portal-visits');
  expect(body).toEqual([
    { path: '/portal/one', referer: 'https://shop.example.com/', secFetchSite: 'cross-site' },
    { path: '/p/two', referer: null, secFetchSite: null },
  ]);
  expect(service.sandbox.calls).toEqual([]);
});

test('A portal URL needs demographics, a known context and an own order', async () => {
  await using service = openSandbox();
  const { sandbox, ask } = service;
  const pathOf = (index: number) => `/v2/user/${at(sandbox.users(), index).userId}/create_portal_url`;
  const launch = { context: 'launch' };
  const strange = at(sandbox.orders(), 39).orderId;
  expect(await ask('POST', pathOf(13), launch)).toEqual({
    status: 422,
    body: { detail: 'The portal requires that demographics are set for the user.' },
  });
  expect(await ask('POST', pathOf(0), { context: 'fax' })).toMatchObject({
    status: 422,
    body: {
      detail: [
        { type: 'enum', loc: ['body', 'context'], msg: "Input should be 'launch' or 'communications'" },
      ],
    },
  });
  expect((await ask('POST', pathOf(0), { ...launch, order_id: strange })).status).toBe(422);
  expect((await ask('POST', pathOf(0), { ...launch, order_id: 'x' })).status).toBe(422);
  const nobody = '/v2/user/00000000-0000-4000-8000-000000000000/create_portal_url';
  expect((await ask('POST', nobody, launch)).status).toBe(404);
});

test('A team without the feature is refused with 403', async () => {
  await using service = openSandbox();
  service.sandbox.faults.add({ path: /create_portal_url$/, effect: { kind: 'featureNotEnabled' } });
  const path = `/v2/user/${at(service.sandbox.users(), 0).userId}/create_portal_url`;
  expect(await service.ask('POST', path, { context: 'launch' })).toEqual({
    status: 403,
    body: { detail: 'This feature is not enabled for your team.' },
  });
});
