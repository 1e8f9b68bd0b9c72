import { afterEach, describe, expect, test } from 'vitest';
import {
  createFakeGateway,
  FAKE_ORDER_ID,
  type FakeAnswer,
  type FakeGateway,
  fakeOrder,
  fakeResults,
  gatewayError,
  portalRefused,
  portalUrl,
} from '../../../widget/src/testing/index.ts';
import { PORTAL_URL, portalArrival } from '../support/launch.ts';
import { mount, nextEvent, readScreen, untilConnection, untilLabel } from '../support/page.ts';
import { OpenedTabs } from '../support/tabs.ts';

/** Written as a team would write the tests of its own page: with what `@labgraph/widget/testing` gives, and nothing else. */
const placed = fakeOrder([['RECEIVED', 'ordered']]);
const onItsWay = fakeOrder([
  ['RECEIVED', 'ordered'],
  ['COLLECTING_SAMPLE', 'transit_customer'],
]);
const complete = fakeOrder([
  ['RECEIVED', 'ordered'],
  ['COLLECTING_SAMPLE', 'transit_customer'],
  ['COMPLETED', 'completed'],
]);

afterEach(() => document.body.replaceChildren());

function mountStatus({ endpoint, tokenProvider }: FakeGateway) {
  return mount('portal-order-status', { endpoint, tokenProvider, orderId: FAKE_ORDER_ID, live: 'always' });
}

function mountLaunch({ endpoint, tokenProvider }: FakeGateway) {
  return mount('portal-launch', { endpoint, tokenProvider });
}

describe('the fake gateway', () => {
  test('has an order, and sends every change of it live', async () => {
    using gateway = createFakeGateway(placed);
    const status = mountStatus(gateway);
    await untilLabel(status, 'Ordered');

    gateway.push(onItsWay);
    await untilLabel(status, 'Transit customer');

    expect(readScreen(status)).toBe('Transit customer When it arrives, follow the instructions in the kit.');
    expect(gateway.requests).toEqual([
      {
        operation: 'subscription',
        token: 'token-1',
        variables: { orderId: FAKE_ORDER_ID, after: null, full: false },
      },
    ]);
  });

  test('has the results of an order, once the order has them', async () => {
    using gateway = createFakeGateway(placed);
    const { endpoint, tokenProvider } = gateway;
    const fields = {
      endpoint,
      tokenProvider,
      orderId: FAKE_ORDER_ID,
      live: 'always',
      privacy: 'full',
    } as const;
    const results = mount('portal-results', fields);
    await expect.poll(() => readScreen(results)).toBe('There are no results yet.');

    gateway.push({ ...complete, results: fakeResults() });

    await expect.poll(() => readScreen(results)).toContain('Cholesterol, Total 231 mg/dL High');
  });

  test('hangs up, stays away, and goes on from the cursor when it is back', async () => {
    using gateway = createFakeGateway(placed);
    const status = mountStatus(gateway);
    await untilLabel(status, 'Ordered');
    gateway.push(onItsWay);

    gateway.dropSockets({ isRefusing: true });
    await untilConnection(status, 'stale');
    gateway.acceptSockets();
    await status.retry();
    await untilConnection(status, 'live');
    gateway.push(complete);
    await untilLabel(status, 'Completed');

    expect(gateway.requests.map(({ variables }) => variables.after)).toEqual([null, 'cursor-1']);
  });

  test('answers by its script, in its order, and then by itself', async () => {
    using gateway = createFakeGateway();
    using _tabs = new OpenedTabs();
    gateway.answer(
      'portal-url',
      portalRefused('DemographicsMissing'),
      gatewayError('UPSTREAM_TIMEOUT', 'request-7'),
    );
    gateway.answer('portal-url', 'unreachable', portalUrl(PORTAL_URL));
    const launch = mountLaunch(gateway);
    const codes: unknown[] = [];
    launch.addEventListener('portal-error', ({ detail }) => codes.push([detail.code, detail.requestId]));

    await launch.launch();
    await launch.launch();
    await launch.launch();
    const arrival = portalArrival();
    await launch.launch();

    expect(codes).toEqual([
      ['DEMOGRAPHICS_MISSING', 'request-1'],
      ['TIMEOUT', 'request-7'],
      ['NETWORK', null],
    ]);
    expect(await arrival).toBeDefined();
    expect(gateway.requests.map(({ operation }) => operation)).toEqual(Array(4).fill('portal-url'));
  });

  test('lets a test decide which answer comes first', async () => {
    using gateway = createFakeGateway();
    const slow = Promise.withResolvers<FakeAnswer>();
    gateway.answer('order', slow.promise);
    const { endpoint, tokenProvider } = gateway;
    const status = mount('portal-order-status', {
      endpoint,
      tokenProvider,
      orderId: FAKE_ORDER_ID,
      live: 'off',
    });
    await status.updateComplete;
    const refreshed = status.refresh();
    expect(status.phase).toBe('loading');

    slow.resolve({ data: { order: complete } });
    await refreshed;
    await status.updateComplete;

    expect(status.order?.status.label).toBe('Completed');
  });

  test('has no order where the test sets none', async () => {
    using gateway = createFakeGateway(null);
    const status = mountStatus(gateway);

    const { detail } = await nextEvent(status, 'portal-error');

    // No page can read the id of a socket.
    expect(detail).toMatchObject({ code: 'NOT_FOUND', requestId: null });
  });

  test('refuses a subscription and a token', async () => {
    using gateway = createFakeGateway();
    gateway.answer('subscription', gatewayError('INTERNAL'));
    gateway.answer('order', { status: 401 }, { status: 401 });
    const status = mountStatus(gateway);
    const first = await nextEvent(status, 'portal-error');
    await status.refresh();

    expect([first.detail, status.lastError]).toMatchObject([
      { code: 'GATEWAY_ERROR', requestId: 'request-1' },
      { code: 'UNAUTHENTICATED', requestId: 'request-3' },
    ]);
    expect(gateway.requests.map(({ token }) => token)).toEqual(['token-1', 'token-1', 'token-2']);
  });

  test('is diagnosed as a gateway that is there', async () => {
    using gateway = createFakeGateway();

    expect(await mountLaunch(gateway).diagnose()).toEqual({ code: 'OK', mend: '' });
  });

  test('leaves everything else alone, and nothing behind', async () => {
    const { fetch, WebSocket } = globalThis;
    const first = createFakeGateway();
    const second = createFakeGateway();
    const answer = await globalThis.fetch(import.meta.url);
    first[Symbol.dispose]();

    expect(answer.ok).toBe(true);
    expect(new globalThis.WebSocket(second.endpoint.replace('http', 'ws'))).not.toBeInstanceOf(WebSocket);
    second[Symbol.dispose]();
    expect([globalThis.fetch, globalThis.WebSocket]).toEqual([fetch, WebSocket]);
  });
});
