import { describe, expect, test } from 'vitest';
import { FakeGateway } from '../support/fake-gateway.ts';
import { mountLaunch } from '../support/launch.ts';
import { mountStatus } from '../support/order-status.ts';
import { kitAfter, ORDER_ID } from '../support/orders.ts';
import { mount, nextEvent, untilLabel } from '../support/page.ts';
import { OpenedTabs } from '../support/tabs.ts';

/** The two ways to move an element: `moveBefore` notifies it, `append` removes it and puts it in again. */
const MOVES: Readonly<Record<string, (place: Element, element: Element) => void>> = {
  append: (place, element) => place.append(element),
  moveBefore: (place, element) => {
    // Newer than the DOM types.
    (place as Element & { moveBefore: (node: Node, before: null) => void }).moveBefore(element, null);
  },
};

function makePlaces(): readonly [Element, Element] {
  const places = [document.createElement('section'), document.createElement('section')] as const;
  document.body.append(...places);
  return places;
}

describe.each(Object.entries(MOVES))('an element that is moved by %s', (_, move) => {
  test('keeps its connection and misses no change, 1,000 times', async () => {
    using gateway = new FakeGateway();
    const [one, other] = makePlaces();
    const element = mountStatus(gateway);
    const connections: string[] = [];
    const labels: string[] = [];
    await untilLabel(element, 'Transit customer');
    element.addEventListener('portal-connection', ({ detail }) => connections.push(detail.connection));
    element.addEventListener('portal-status', ({ detail }) => labels.push(detail.order.status.label));

    for (let moves = 0; moves < 1000; moves += 1) {
      move(moves % 2 === 0 ? one : other, element);
      if (moves % 200 === 0) gateway.push('CHANGED', kitAfter(4 + moves / 200));
      if (moves % 10 === 0) await element.updateComplete;
    }
    await element.updateComplete;

    expect([gateway.sockets.length, gateway.resumedFrom, connections]).toEqual([1, [null], []]);
    expect(gateway.sockets[0]?.readyState).toBe(WebSocket.OPEN);
    expect(labels).toEqual(['With customer', 'Registered', 'Transit lab', 'Delivered to lab', 'Completed']);
  });

  test('goes on with its launch', async () => {
    using gateway = new FakeGateway();
    using tabs = new OpenedTabs();
    const answer = Promise.withResolvers<void>();
    gateway.portalGate = answer.promise;
    const [, other] = makePlaces();
    const element = mountLaunch(gateway);
    await element.updateComplete;
    const launched = nextEvent(element, 'portal-launched');
    const launch = element.launch();

    move(other, element);
    await element.updateComplete;
    const meanwhile = [element.phase, tabs.newest.closed];
    answer.resolve();
    await Promise.all([launch, launched]);

    expect(meanwhile).toEqual(['opening', false]);
  });

  test('takes the gateway that is then around it', async () => {
    using gateway = new FakeGateway();
    const { endpoint } = gateway;
    const first = mount('portal-gateway', { endpoint, tokenProvider: () => 'first' });
    const second = mount('portal-gateway', { endpoint, tokenProvider: () => 'second' });
    const element = mount('portal-order-status', { orderId: ORDER_ID, live: 'always' }, first);
    await untilLabel(element, 'Transit customer');

    move(second, element);
    await gateway.socket(2);

    expect(gateway.socketTokens).toEqual(['first', 'second']);
    first.tokenProvider = () => 'nobody';
    await first.updateComplete;
    expect(gateway.sockets.map(({ readyState }) => readyState)).toEqual([WebSocket.CLOSED, WebSocket.OPEN]);
  });

  test('stays in use when the gateway around it is moved', async () => {
    using gateway = new FakeGateway();
    const { endpoint } = gateway;
    const [, other] = makePlaces();
    const around = mount('portal-gateway', { endpoint, tokenProvider: () => 'token' });
    const element = mount('portal-order-status', { orderId: ORDER_ID, live: 'always' }, around);
    await untilLabel(element, 'Transit customer');

    move(other, around);
    gateway.push('CHANGED', kitAfter(4));
    await untilLabel(element, 'With customer');

    expect(gateway.sockets.length).toBe(1);
  });
});
