import { describe, expect, test, vi } from 'vitest';
import { PortalTokenRequestEvent } from '../../../widget/src/page/events.ts';
import type { PortalOrderStatus } from '../../../widget/src/status/portal-order-status.ts';
import { FakeGateway } from '../support/fake-gateway.ts';
import { ORDER_ID } from '../support/orders.ts';
import { mount, nextEvent, untilLabel } from '../support/page.ts';

describe('<portal-gateway>', () => {
  test('gives endpoint, token and one connection to everything inside, also through shadow roots', async () => {
    using gateway = new FakeGateway();
    const requests: string[] = [];
    const around = mount('portal-gateway', {
      endpoint: gateway.endpoint,
      tokenProvider: ({ reason }) => {
        requests.push(reason);
        return 'shared';
      },
    });
    const shadow = around.appendChild(document.createElement('div')).attachShadow({ mode: 'open' });
    const outer = mount('portal-order-status', { orderId: ORDER_ID, live: 'always' }, around);
    const inner = mount('portal-launch', { orderId: ORDER_ID, live: 'always' });
    shadow.append(inner);

    await Promise.all([untilLabel(outer, 'Transit customer'), untilLabel(inner, 'Transit customer')]);

    expect([requests, gateway.socketTokens, gateway.subscriptions.length]).toEqual([
      ['initial'],
      ['shared'],
      1,
    ]);
  });

  test('gives them also to an element in a slot inside it, as in a component of the page', async () => {
    using gateway = new FakeGateway();
    const card = document.body.appendChild(document.createElement('div'));
    const { endpoint } = gateway;
    const around = mount('portal-gateway', { endpoint, tokenProvider: () => 'slotted' });
    around.append(document.createElement('slot'));
    card.attachShadow({ mode: 'open' }).append(around);

    const element = mount('portal-order-status', { orderId: ORDER_ID, live: 'always' }, card);
    await untilLabel(element, 'Transit customer');

    expect(gateway.socketTokens).toEqual(['slotted']);
  });

  test('takes an endpoint that comes later', async () => {
    using gateway = new FakeGateway();
    const around = mount('portal-gateway', { tokenProvider: () => 'token' });
    const element = mount('portal-order-status', { orderId: ORDER_ID, live: 'always' }, around);
    await element.updateComplete;

    around.endpoint = gateway.endpoint;
    await untilLabel(element, 'Transit customer');

    expect(element.connection).toBe('live');
  });

  test('asks the page for a token by event', async () => {
    using gateway = new FakeGateway();
    const around = mount('portal-gateway', { endpoint: gateway.endpoint });
    const askers: unknown[] = [];
    around.addEventListener('portal-token-request', (event) => {
      askers.push([event.target === around, event.request.reason, 'token' in event]);
      event.respondWith(Promise.resolve({ token: 'by-event', expiresAt: new Date(Date.now() + 600_000) }));
    });
    const element = mount('portal-order-status', { orderId: ORDER_ID, live: 'always' }, around);

    await untilLabel(element, 'Transit customer');

    expect([askers, gateway.socketTokens]).toEqual([[[true, 'initial', false]], ['by-event']]);
  });

  test('lets an element without a gateway ask by itself, and reports when nobody answers', async () => {
    using gateway = new FakeGateway();
    const seen: boolean[] = [];
    const note = (event: Event) => seen.push(event instanceof PortalTokenRequestEvent);
    document.body.addEventListener('portal-token-request', note, { once: true });
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});

    const element = mount('portal-order-status', {
      endpoint: gateway.endpoint,
      orderId: ORDER_ID,
      live: 'always',
    });
    const { detail } = await nextEvent(element, 'portal-error');

    expect([seen, detail.code]).toEqual([[true], 'TOKEN_UNAVAILABLE']);
    expect(warn.mock.calls).toEqual([['Labgraph widget: TOKEN_UNAVAILABLE (docs/embedding.md).']]);
    warn.mockRestore();
  });

  test.each<readonly [string, (element: PortalOrderStatus, token: () => Promise<string>) => void]>([
    [
      'a function',
      (element, token) => {
        element.tokenProvider = token;
      },
    ],
    [
      'a listener',
      (element, token) =>
        element.addEventListener('portal-token-request', (event) => event.respondWith(token())),
    ],
  ])(
    'waits for %s that a page sets a little later, as one that loads its scripts does',
    async (_what, set) => {
      using gateway = new FakeGateway();
      const codes: string[] = [];
      const element = mount('portal-order-status', {
        endpoint: gateway.endpoint,
        orderId: ORDER_ID,
        live: 'always',
      });
      element.addEventListener('portal-error', ({ detail }) => codes.push(detail.code));
      await new Promise((resolve) =>
        element.addEventListener('portal-token-request', resolve, { once: true }),
      );

      set(element, async () => 'late');
      await untilLabel(element, 'Transit customer');

      expect([codes, gateway.socketTokens]).toEqual([[], ['late']]);
    },
  );

  test('removes and reports a token in an attribute', () => {
    using _gateway = new FakeGateway();
    const around = mount('portal-gateway', {});
    const codes: string[] = [];
    around.addEventListener('portal-error', ({ detail }) => codes.push(detail.code));

    around.setAttribute('token', 'secret');

    expect([around.hasAttribute('token'), codes]).toEqual([false, ['TOKEN_IN_ATTRIBUTE']]);
  });
});
