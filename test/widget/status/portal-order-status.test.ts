import { describe, expect, test } from 'vitest';
import { FakeGateway } from '../support/fake-gateway.ts';
import { mountStatus } from '../support/order-status.ts';
import { kitAfter, wireOrder, wireStatus } from '../support/orders.ts';
import { find, mount, nextEvent, readScreen, untilConnection, untilLabel } from '../support/page.ts';

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
      'With customer Follow the instructions in the kit, then send your sample to the lab.',
    ]);
  });

  test('exposes objects that nobody can change', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway);
    await untilLabel(element, 'Transit customer');
    element.setAttribute('token', 'secret');
    const { order, lastError } = element;

    const parts = [order, order?.status, order?.events, ...(order?.events ?? []), lastError];

    expect(parts.filter((part) => !part || !Object.isFrozen(part))).toEqual([]);
  });

  test('reports each change once, with the previous status', async () => {
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

  test('shows nothing of an order any more that moved to another user', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway);
    await untilLabel(element, 'Transit customer');
    gateway.order = null;

    (await gateway.socket()).fall(1012);
    window.dispatchEvent(new Event('online'));
    await nextEvent(element, 'portal-error');
    await element.updateComplete;

    expect([element.order, readScreen(element)]).toEqual([
      null,
      'This order could not be found. If it should be here, contact support.',
    ]);
  });

  test('says in words that the order cannot be found', async () => {
    using gateway = new FakeGateway();
    gateway.order = null;
    const element = mountStatus(gateway, { live: 'off' });

    await nextEvent(element, 'portal-error');
    await element.updateComplete;

    expect(element.lastError).toMatchObject({ code: 'NOT_FOUND', requestId: 'request-1' });
    expect([element.phase, readScreen(element)]).toEqual([
      'failed',
      'This order could not be found. If it should be here, contact support.',
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

    find(element, '[part~=retry]').click();
    await untilLabel(element, 'Transit customer');

    expect([detail.code, calls]).toEqual(['TOKEN_UNAVAILABLE', 2]);
  });

  test('says beside the order that the sign-in has ended, until it works again', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway);
    await untilLabel(element, 'Transit customer');
    const order = readScreen(element);
    gateway.refusedTokens.add('token');
    (await gateway.socket()).fall(4403);
    await nextEvent(element, 'portal-error');
    await element.updateComplete;
    const whileEnded = readScreen(element);

    gateway.refusedTokens.clear();
    find(element, '[part~=retry]').click();
    await untilConnection(element, 'live');

    const ended = 'Your sign-in has ended, or may not show this. Sign in again, then try again. Try again';
    expect(whileEnded).toContain(`${ended} ${order}`);
    expect(readScreen(element)).toContain(order);
    expect(readScreen(element)).not.toContain(ended);
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

    expect(current.map((step) => step.textContent)).toEqual(['Your test kit']);
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
      'Problem in transit lab Needs attention Your sample may reach the lab late.',
    ]);
  });

  test('lets the host choose the words of a status and of everything else', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway, {
      statusLabel: ({ step }) => (step === 'TRANSIT_CUSTOMER' ? 'Your kit is on its way' : null),
      strings: { next: { TRANSIT_CUSTOMER: 'It arrives soon.' } },
    });

    await untilLabel(element, 'Transit customer');

    expect(readScreen(element)).toBe('Your kit is on its way It arrives soon.');
  });

  test('renders text of the service as text', async () => {
    using gateway = new FakeGateway();
    const label = '<img src=x onerror="alert(1)">';
    gateway.order = { ...kitAfter(3), status: wireStatus('RECEIVED', 'ordered', { label }) };
    const element = mountStatus(gateway);

    await untilLabel(element, label);

    expect([element.shadowRoot?.querySelector('img'), readScreen(element)]).toEqual([
      null,
      `${label} Your kit is being prepared for shipping.`,
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
