import { describe, expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import { createPortalClient } from '../../../widget/src/client/client.ts';
import { FakeGateway } from '../support/fake-gateway.ts';
import { mountStatus } from '../support/order-status.ts';
import { kitAfter, ORDER_ID } from '../support/orders.ts';
import { find, mount, nextEvent, readScreen, untilLabel } from '../support/page.ts';

describe('a client of the host', () => {
  test('replaces endpoint and token, and is shared by all elements that get it', async () => {
    using gateway = new FakeGateway();
    const client = createPortalClient({ endpoint: gateway.endpoint, tokenProvider: () => 'of-the-host' });
    const around = mount('portal-gateway', { client });
    const inside = mount('portal-order-status', { orderId: ORDER_ID, live: 'always' }, around);
    const alone = mount('portal-order-status', { orderId: ORDER_ID, live: 'always', client });

    await Promise.all([untilLabel(inside, 'Transit customer'), untilLabel(alone, 'Transit customer')]);

    expect([gateway.socketTokens, gateway.subscriptions.length]).toEqual([['of-the-host'], 1]);
  });

  test('is refused an endpoint that is none', () => {
    expect(() => createPortalClient({ endpoint: 'http://gateway.test', tokenProvider: () => '' })).toThrow(
      expect.objectContaining({ code: 'ENDPOINT_INVALID' }),
    );
  });
});

describe('an element', () => {
  test('that is only moved keeps its connection and what it shows', async () => {
    using gateway = new FakeGateway();
    const tokens: string[] = [];
    const element = mountStatus(gateway, {
      tokenProvider: () => {
        tokens.push('token');
        return 'token';
      },
    });
    await untilLabel(element, 'Transit customer');

    document.body.append(document.createElement('hr'), element);
    await element.updateComplete;
    gateway.push('RECONCILED', kitAfter(3));

    expect([tokens.length, gateway.sockets.length, gateway.resumedFrom, readScreen(element)]).toEqual([
      1,
      1,
      [null],
      'Transit customer When it arrives, follow the instructions in the kit.',
    ]);
  });

  test('that left takes its token with it: the next one, for the next person, asks anew', async () => {
    using gateway = new FakeGateway();
    const reasons: string[] = [];
    const tokenProvider = ({ reason }: { readonly reason: string }) => {
      reasons.push(reason);
      return 'token';
    };
    const first = mountStatus(gateway, { tokenProvider });
    await untilLabel(first, 'Transit customer');
    first.remove();
    await null;

    await untilLabel(mountStatus(gateway, { tokenProvider }), 'Transit customer');

    expect(reasons).toEqual(['initial', 'initial']);
  });

  test('keeps the properties that a framework set before it was defined', async () => {
    using gateway = new FakeGateway();
    const { constructor: Status } = document.createElement('portal-order-status');
    class Late extends (Status as typeof HTMLElement) {}
    const element = document.createElement('portal-late-status');
    Object.assign(element, {
      endpoint: gateway.endpoint,
      orderId: ORDER_ID,
      live: 'always',
      tokenProvider: () => 'early',
    });
    document.body.append(element);

    customElements.define('portal-late-status', Late);
    await nextEvent(element, 'portal-status');

    expect([gateway.socketTokens, Object.keys(element).includes('orderId')]).toEqual([['early'], false]);
  });

  test('names its states for style sheets', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway);
    await element.updateComplete;
    const loading = [':state(loading)', ':state(connecting)'].map((state) => element.matches(state));
    await untilLabel(element, 'Transit customer');
    const ready = [':state(ready)', ':state(live)', ':state(loading)'].map((state) => element.matches(state));

    expect([loading, ready]).toEqual([
      [true, true],
      [true, true, false],
    ]);
  });

  test('whose status failed is mended by keyboard alone', async () => {
    using gateway = new FakeGateway();
    let isDown = true;
    const element = mountStatus(gateway, {
      tokenProvider: () => {
        if (isDown) throw new Error('The host is down.');
        return 'token';
      },
    });
    await nextEvent(element, 'portal-error');
    await element.updateComplete;

    // The keys go to the frame that has the focus, which may be that of another file.
    const tabToNext = async () => {
      window.focus();
      await userEvent.tab();
      return element.shadowRoot?.activeElement?.textContent;
    };
    await expect.poll(tabToNext).toBe('Try again');
    isDown = false;
    await userEvent.keyboard('{Enter}');
    await untilLabel(element, 'Transit customer');

    expect(element.shadowRoot?.querySelector('[part~=retry]')).toBeNull();
    expect(find(element, '[part~=label]').textContent).toBe('Transit customer');
  });
});
