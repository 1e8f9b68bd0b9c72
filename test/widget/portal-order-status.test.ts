import { describe, expect, test, vi } from 'vitest';
import type { TokenRequest } from '../../widget/src/token.ts';
import { FakeGateway } from './support/fake-gateway.ts';
import { kitAfter, ORDER_ID, wireOrder, wireStatus } from './support/orders.ts';
import { find, mount, nextEvent, readScreen, untilConnection, untilLabel } from './support/page.ts';

function mountStatus(
  gateway: FakeGateway,
  properties: Partial<HTMLElementTagNameMap['portal-order-status']> = {},
) {
  const { endpoint } = gateway;
  return mount('portal-order-status', {
    endpoint,
    orderId: ORDER_ID,
    tokenProvider: async () => 'token',
    live: 'always',
    ...properties,
  });
}

describe('<portal-order-status>', () => {
  test('says that there is no order while it has none', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway, { orderId: null });

    await element.updateComplete;

    expect([element.phase, readScreen(element), gateway.sockets.length]).toEqual([
      'empty',
      'No order to show yet.',
      0,
    ]);
  });

  test('keeps its size from the skeleton to the first status', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway);
    await element.updateComplete;
    const heightWhileLoading = element.offsetHeight;

    await untilLabel(element, 'Transit customer');

    expect(Math.abs(element.offsetHeight - heightWhileLoading)).toBeLessThanOrEqual(2);
  });

  test('shows the order and follows it live', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway);
    await untilLabel(element, 'Transit customer');

    gateway.push('CHANGED', kitAfter(4));
    await element.updateComplete;

    expect([element.phase, element.connection, readScreen(element)]).toEqual([
      'ready',
      'live',
      'With customer Up to date',
    ]);
  });

  test('tells each change once, with what it was before', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway);
    const changes: unknown[] = [];
    element.addEventListener('portal-status', ({ detail }) => {
      changes.push([detail.previous?.status.label ?? null, detail.order.status.label, detail.source]);
    });
    await untilLabel(element, 'Transit customer');

    gateway.push('CHANGED', kitAfter(4));
    gateway.push('CHANGED', kitAfter(2));
    gateway.push('RECONCILED', kitAfter(5));

    expect(changes).toEqual([
      [null, 'Transit customer', 'snapshot'],
      ['Transit customer', 'With customer', 'changed'],
      ['With customer', 'Registered', 'reconciled'],
    ]);
  });

  test('resumes from its last cursor when the socket falls', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway);
    await untilLabel(element, 'Transit customer');
    gateway.push('CHANGED', kitAfter(4));

    (await gateway.socket()).fall(1006);
    expect(element.connection).toBe('stale');
    window.dispatchEvent(new Event('online'));
    await gateway.socket(2);
    gateway.push('RESYNC', kitAfter(6));
    await untilLabel(element, 'Transit lab');

    expect([gateway.resumedFrom, element.connection]).toEqual([[null, 'cursor-1'], 'live']);
  });

  test('starts anew without a cursor when the gateway refuses it', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway);
    await untilLabel(element, 'Transit customer');
    gateway.cursorRefusals.push('BAD_CURSOR');

    (await gateway.socket()).fall(1012);
    window.dispatchEvent(new Event('online'));
    await vi.waitFor(() => expect(gateway.resumedFrom).toEqual([null, 'cursor-0', null]));

    expect(element.lastError).toBeNull();
  });

  test('gets a new token when the gateway ends the old one, and nobody sees it', async () => {
    using gateway = new FakeGateway();
    const asked: unknown[] = [];
    const tokenProvider = async ({ reason, scope, orderId }: TokenRequest) => {
      asked.push({ reason, scope, orderId });
      return `token-${asked.length}`;
    };
    const element = mountStatus(gateway, { tokenProvider });
    await untilLabel(element, 'Transit customer');

    (await gateway.socket()).fall(4403);
    await gateway.socket(2);

    expect([asked, gateway.socketTokens, gateway.resumedFrom, element.lastError]).toEqual([
      [
        { reason: 'initial', scope: 'status', orderId: ORDER_ID },
        { reason: 'rejected', scope: 'status', orderId: ORDER_ID },
      ],
      ['token-1', 'token-2'],
      [null, 'cursor-0'],
      null,
    ]);
  });

  test('reports UNAUTHENTICATED when the gateway refuses every token', async () => {
    using gateway = new FakeGateway();
    gateway.refusedTokens.add('token');
    const element = mountStatus(gateway);

    const { detail } = await nextEvent(element, 'portal-error');

    expect([detail.code, detail.retryable]).toEqual(['UNAUTHENTICATED', true]);
  });

  test('reads over HTTP after three failed openings, and goes live again when it can', async () => {
    using gateway = new FakeGateway();
    gateway.acceptsSockets = false;
    const element = mountStatus(gateway);
    const kick = () => window.dispatchEvent(new Event('online'));
    const kicking = setInterval(kick, 20);

    await untilConnection(element, 'polling');
    await untilLabel(element, 'Transit customer');
    const requests = gateway.requests.map(({ operation }) => operation);
    gateway.acceptsSockets = true;
    await untilConnection(element, 'live');
    clearInterval(kicking);

    expect(requests).toEqual(['PortalOrder']);
  });

  test('closes the socket when the page is left and resumes when it comes back', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway);
    await untilLabel(element, 'Transit customer');

    window.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
    const whileAway = [element.connection, gateway.sockets[0]?.readyState];
    window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    await gateway.socket(2);

    expect([whileAway, gateway.resumedFrom]).toEqual([
      ['closed', 3],
      [null, 'cursor-0'],
    ]);
  });

  test('closes the socket with the last element and keeps the cursor', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway);
    await untilLabel(element, 'Transit customer');

    element.pause();
    await untilConnection(element, 'closed');
    await vi.waitFor(() => expect(gateway.sockets[0]?.readyState).toBe(3));
    element.resume();
    await gateway.socket(2);

    expect(gateway.resumedFrom).toEqual([null, 'cursor-0']);
  });

  test('opens no socket with live="off" and reads once', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway, { live: 'off' });

    await untilLabel(element, 'Transit customer');

    expect([gateway.sockets, gateway.requests.map(({ operation }) => operation)]).toEqual([
      [],
      ['PortalOrder'],
    ]);
  });

  test('stays silent while nobody can see it', async () => {
    using gateway = new FakeGateway();
    const spacer = document.createElement('div');
    spacer.style.blockSize = '300vh';
    document.body.append(spacer);
    const element = mountStatus(gateway, { live: 'visible' });
    await element.updateComplete;
    const before = gateway.sockets.length;

    element.scrollIntoView();
    await untilLabel(element, 'Transit customer');

    expect([before, gateway.sockets.length]).toEqual([0, 1]);
  });

  test('shares one socket among elements with the same endpoint and provider', async () => {
    using gateway = new FakeGateway();
    const tokenProvider = async () => 'token';
    const first = mountStatus(gateway, { tokenProvider });
    const second = mountStatus(gateway, { tokenProvider, status: 'steps' });

    await Promise.all([untilLabel(first, 'Transit customer'), untilLabel(second, 'Transit customer')]);

    expect([gateway.sockets.length, gateway.subscriptions.length]).toEqual([1, 1]);
  });

  test('shows nothing of an order any more that moved to another user', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway);
    await untilLabel(element, 'Transit customer');
    gateway.order = null;

    (await gateway.socket()).fall(1012);
    window.dispatchEvent(new Event('online'));
    await nextEvent(element, 'portal-error');
    await element.updateComplete;

    expect([element.order, readScreen(element)]).toEqual([null, 'This order could not be found.']);
  });

  test('does not claim to be live while the gateway refuses the subscription', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway);
    await untilLabel(element, 'Transit customer');
    gateway.cursorRefusals.push('EVENT_LOG_UNAVAILABLE');

    (await gateway.socket()).fall(1012);
    window.dispatchEvent(new Event('online'));
    const { detail } = await nextEvent(element, 'portal-error');

    expect([detail.code, element.connection, element.order?.status.label]).toEqual([
      'GATEWAY_ERROR',
      'stale',
      'Transit customer',
    ]);
  });

  test('gets a new token when one operation is refused for it', async () => {
    using gateway = new FakeGateway();
    let count = 0;
    const tokenProvider = () => {
      count += 1;
      return `token-${count}`;
    };
    const element = mountStatus(gateway, { tokenProvider });
    await untilLabel(element, 'Transit customer');
    gateway.cursorRefusals.push('UNAUTHENTICATED');
    (await gateway.socket()).fall(1012);
    window.dispatchEvent(new Event('online'));

    await gateway.socket(2);
    await gateway.socket(3);

    expect([gateway.socketTokens, element.lastError]).toEqual([['token-1', 'token-1', 'token-2'], null]);
  });

  test('says in words that the order cannot be found', async () => {
    using gateway = new FakeGateway();
    gateway.order = null;
    const element = mountStatus(gateway, { live: 'off' });

    await nextEvent(element, 'portal-error');
    await element.updateComplete;

    expect([element.phase, element.lastError?.code, readScreen(element)]).toEqual([
      'failed',
      'NOT_FOUND',
      'This order could not be found.',
    ]);
  });

  test('tries again on request', async () => {
    using gateway = new FakeGateway();
    let calls = 0;
    const tokenProvider = async () => {
      calls += 1;
      if (calls === 1) throw new Error('The host is down.');
      return 'token';
    };
    const element = mountStatus(gateway, { tokenProvider });
    const { detail } = await nextEvent(element, 'portal-error');
    await element.updateComplete;

    find(element, '[part=retry]').click();
    await untilLabel(element, 'Transit customer');

    expect([detail.code, calls]).toEqual(['TOKEN_UNAVAILABLE', 2]);
  });

  test('shows unknown statuses in their own words', async () => {
    using gateway = new FakeGateway();
    gateway.order = wireOrder([['QUARANTINED', 'in_quarantine']]);
    const element = mountStatus(gateway, { status: 'steps' });

    await untilLabel(element, 'In quarantine');

    expect(readScreen(element)).toContain('In quarantine');
  });

  test('marks exactly the step where the order is', async () => {
    using gateway = new FakeGateway();
    gateway.order = kitAfter(5);
    const element = mountStatus(gateway, { status: 'steps' });
    await untilLabel(element, 'Registered');

    const current = [...(element.shadowRoot?.querySelectorAll('[aria-current="step"] .name') ?? [])];

    expect(current.map((step) => step.textContent)).toEqual(['Order placed']);
  });

  test('asks for the name of the test only with privacy="full"', async () => {
    using gateway = new FakeGateway();
    gateway.order = { ...kitAfter(3), labTest: { name: 'Lipid panel' } };
    const minimal = mountStatus(gateway);
    await untilLabel(minimal, 'Transit customer');
    const full = mountStatus(gateway, { privacy: 'full' });
    await untilLabel(full, 'Transit customer');

    expect(gateway.subscriptions.map(({ variables }) => variables.full)).toEqual([false, true]);
    expect(readScreen(full)).toContain('Lipid panel');
  });

  test('says when an order needs attention, in words too', async () => {
    using gateway = new FakeGateway();
    const status = wireStatus('COLLECTING_SAMPLE', 'problem_in_transit_lab', { needsAttention: true });
    gateway.order = { ...kitAfter(6), status };
    const element = mountStatus(gateway);

    await untilLabel(element, 'Problem in transit lab');

    expect([element.matches(':state(attention)'), readScreen(element)]).toEqual([
      true,
      'Problem in transit lab Needs attention Up to date',
    ]);
  });

  test('lets the host choose the words of a status and of everything else', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway, {
      statusLabel: ({ step }) => (step === 'TRANSIT_CUSTOMER' ? 'Your kit is on its way' : null),
      strings: { freshness: { live: 'Current' } },
    });

    await untilLabel(element, 'Transit customer');

    expect(readScreen(element)).toBe('Your kit is on its way Current');
  });

  test('renders text of the service as text', async () => {
    using gateway = new FakeGateway();
    const label = '<img src=x onerror="alert(1)">';
    gateway.order = { ...kitAfter(3), status: wireStatus('RECEIVED', 'ordered', { label }) };
    const element = mountStatus(gateway);

    await untilLabel(element, label);

    expect([element.shadowRoot?.querySelector('img'), readScreen(element)]).toEqual([
      null,
      `${label} Up to date`,
    ]);
  });

  test.each(['http://gateway.test/graphql', 'javascript:alert(1)', 'https://user:pass@gateway.test'])(
    'refuses the endpoint %s',
    async (endpoint) => {
      using gateway = new FakeGateway();
      const element = mountStatus(gateway, { endpoint, tokenProvider: null });

      await element.updateComplete;

      expect(element.lastError?.code).toBe('ENDPOINT_INVALID');
    },
  );

  test('removes and reports a token in an attribute', async () => {
    using _gateway = new FakeGateway();
    const codes: string[] = [];
    const note = (event: HTMLElementEventMap['portal-error']) => codes.push(event.detail.code);
    document.body.addEventListener('portal-error', note);
    const element = mount('portal-order-status', {});

    element.setAttribute('token', 'secret');
    document.body.removeEventListener('portal-error', note);

    expect([element.hasAttribute('token'), codes, element.lastError?.code]).toEqual([
      false,
      ['TOKEN_IN_ATTRIBUTE'],
      'TOKEN_IN_ATTRIBUTE',
    ]);
  });
});
