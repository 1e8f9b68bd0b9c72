import { describe, expect, test, vi } from 'vitest';
import type { TokenRequest } from '../../../widget/src/gateway/token.ts';
import { FakeGateway } from '../support/fake-gateway.ts';
import { mountStatus } from '../support/order-status.ts';
import { kitAfter, ORDER_ID } from '../support/orders.ts';
import { nextEvent, readScreen, untilConnection, untilLabel } from '../support/page.ts';

describe('the live connection of an element', () => {
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

  test('goes on from its cursor over another socket when a message cannot be read', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway);
    await untilLabel(element, 'Transit customer');
    const socket = await gateway.socket();

    socket.onmessage?.({ data: '{"id":"1","type":"ne' });
    expect([element.connection, socket.closedWith]).toEqual(['stale', 4499]);
    window.dispatchEvent(new Event('online'));
    await gateway.socket(2);

    expect([gateway.resumedFrom, element.connection]).toEqual([[null, 'cursor-0'], 'live']);
  });

  test('is offline as soon as the browser is, and goes on from its cursor when the network is back', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway);
    await untilLabel(element, 'Transit customer');
    const network = vi.spyOn(Navigator.prototype, 'onLine', 'get').mockReturnValue(false);

    window.dispatchEvent(new Event('offline'));
    await element.updateComplete;
    expect(readScreen(element)).toMatch(
      /^Transit customer When it arrives, follow the instructions in the kit. You are offline. Last checked/,
    );
    network.mockRestore();
    window.dispatchEvent(new Event('online'));
    await gateway.socket(2);

    expect([gateway.resumedFrom, element.connection]).toEqual([[null, 'cursor-0'], 'live']);
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
    const whileAway = [element.connection, gateway.sockets[0]?.closedWith];
    window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    await gateway.socket(2);

    expect([whileAway, gateway.resumedFrom]).toEqual([
      ['closed', 4499],
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
});
