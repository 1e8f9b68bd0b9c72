import { describe, expect, test, vi } from 'vitest';
import { FakeGateway } from '../support/fake-gateway.ts';
import { mountStatus, untilPolling } from '../support/order-status.ts';
import { kitAfter, type WireOrder } from '../support/orders.ts';
import { nextEvent, untilConnection, untilLabel } from '../support/page.ts';

const OTHER_ID = '00000000-0000-4000-8000-0000000000ff';

/** Lets a test answer each read of an order when it likes. */
function holdReads(): ((order: WireOrder) => void)[] {
  const held: ((order: WireOrder) => void)[] = [];
  window.fetch = () =>
    new Promise((resolve) => held.push((order) => resolve(Response.json({ data: { order } }))));
  return held;
}

/** Fails every opening of the socket without waiting, until the element polls. */
describe('an element whose order changes', () => {
  test('does not take a late answer about the order before for this one', async () => {
    using gateway = new FakeGateway();
    const reads = holdReads();
    const element = mountStatus(gateway, { live: 'off' });
    await vi.waitFor(() => expect(reads.length).toBe(1));
    const late = element.refresh();
    await element.updateComplete;
    element.orderId = OTHER_ID;
    await vi.waitFor(() => expect(reads.length).toBe(2));
    reads[1]?.({ ...kitAfter(4), id: OTHER_ID });
    await untilLabel(element, 'With customer');

    reads[0]?.(kitAfter(3));
    await late;

    expect([element.order?.id, element.order?.status.label]).toEqual([OTHER_ID, 'With customer']);
  });

  test('refreshes the order it has now', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway, { live: 'off' });
    await nextEvent(element, 'portal-status');
    gateway.order = { ...kitAfter(4), id: OTHER_ID };

    element.orderId = OTHER_ID;
    await element.refresh();

    expect(element.order?.id).toBe(OTHER_ID);
  });

  test('notifies the page of an order that another element has already loaded', async () => {
    using gateway = new FakeGateway();
    const tokenProvider = async () => 'token';
    await untilLabel(mountStatus(gateway, { tokenProvider }), 'Transit customer');
    const sources: string[] = [];
    document.body.addEventListener('portal-status', ({ detail }) => sources.push(detail.source), {
      once: true,
    });

    await untilConnection(mountStatus(gateway, { tokenProvider }), 'live');

    expect(sources).toEqual(['snapshot']);
  });
});

describe('an element that a listener of its event removes', () => {
  test.each(['connecting', 'live'])('follows nothing any more (%s)', async (connection) => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway);
    const other = mountStatus(gateway, { tokenProvider: () => 'other' });
    element.addEventListener('portal-connection', ({ detail }) => {
      if (detail.connection === connection) element.remove();
    });

    await untilConnection(other, 'live');
    await untilLabel(other, 'Transit customer');

    const open = gateway.sockets.filter(({ readyState }) => readyState <= WebSocket.OPEN);
    expect([open.length, gateway.subscriptions.length - gateway.completed.length]).toEqual([1, 1]);
  });
});

describe('where no socket can be opened', () => {
  test('polls too when the browser throws instead of telling', async () => {
    using gateway = new FakeGateway();
    window.WebSocket = new Proxy(WebSocket, {
      construct: () => {
        throw new DOMException('Not on this page.', 'SecurityError');
      },
    });
    const element = mountStatus(gateway);

    await untilPolling(element);
    await untilLabel(element, 'Transit customer');

    expect(gateway.requests.map(({ operation }) => operation)).toEqual(['PortalOrder']);
  });

  test('reads at once when a person tries again', async () => {
    using gateway = new FakeGateway();
    gateway.acceptsSockets = false;
    const element = mountStatus(gateway);
    await untilPolling(element);
    await untilLabel(element, 'Transit customer');
    gateway.order = kitAfter(4);

    await element.retry();

    expect(element.order?.status.label).toBe('With customer');
  });

  test('never waits for longer than a timer of the browser can', async () => {
    using gateway = new FakeGateway();
    gateway.acceptsSockets = false;
    const intervals = vi.spyOn(window, 'setInterval');
    const element = mountStatus(gateway, { pollInterval: 3_000_000 });

    await untilPolling(element);

    const waits = intervals.mock.calls.map(([, waitMs]) => waitMs);
    intervals.mockRestore();
    expect(Math.max(...waits.map(Number))).toBe(86_400_000);
  });
});

describe('an answer of which a part is missing', () => {
  test('shows the rest', async () => {
    using gateway = new FakeGateway();
    const errors = [{ message: 'Not now.', path: ['order', 'labTest'] }];
    window.fetch = async () => Response.json({ data: { order: { ...kitAfter(3), labTest: null } }, errors });
    const element = mountStatus(gateway, { live: 'off', privacy: 'full' });

    await Promise.race([nextEvent(element, 'portal-status'), nextEvent(element, 'portal-error')]);

    expect(element.order?.status.label).toBe('Transit customer');
  });

  test('shows the rest also when it comes live', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway, { privacy: 'full' });
    await untilLabel(element, 'Transit customer');
    const orderUpdates = {
      kind: 'CHANGED',
      cursor: 'c',
      order: { ...kitAfter(4), labTest: null },
      event: null,
    };
    const payload = { data: { orderUpdates }, errors: [{ message: 'Not now.' }] };

    for (const { id, socket } of gateway.subscriptions) socket.say({ type: 'next', id, payload });

    expect([element.order?.status.label, element.connection]).toEqual(['With customer', 'live']);
  });
});
