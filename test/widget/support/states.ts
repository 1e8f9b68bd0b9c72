import { vi } from 'vitest';
import type { FakeGateway } from './fake-gateway.ts';
import { mountLaunch } from './launch.ts';
import { mountStatus, untilPolling } from './order-status.ts';
import { kitAfter, ORDER_ID, type WireOrder, wireOrder, wireStatus } from './orders.ts';
import { mount, nextEvent, untilConnection, untilLabel } from './page.ts';
import { OpenedTabs } from './tabs.ts';

const cancelled = wireOrder(
  [
    ['RECEIVED', 'ordered'],
    ['CANCELLED', 'cancelled'],
  ],
  { method: 'WALK_IN_TEST' },
);
const lost = { ...kitAfter(6), status: wireStatus('COLLECTING_SAMPLE', 'lost', { needsAttention: true }) };
const unknown = wireOrder([['QUARANTINED', 'in_quarantine']], { method: 'AT_HOME_PHLEBOTOMY' });
const onSite = wireOrder([['RECEIVED', 'ordered']], { method: 'ON_SITE_COLLECTION' });

/** Brings an element into a state. */
export type State = (gateway: FakeGateway) => Promise<unknown>;

/** The status of this order. */
export function withOrder(order: WireOrder, status: 'text' | 'steps'): State {
  return async (gateway) => {
    gateway.order = order;
    await untilLabel(mountStatus(gateway, { status, privacy: 'full' }), String(order.status.label));
  };
}

/** Every state an element can be in, and how it gets there. */
export const STATES: Readonly<Record<string, State>> = {
  'an order on its way, as text': withOrder(kitAfter(3), 'text'),
  'an order on its way, as steps': withOrder(kitAfter(3), 'steps'),
  'an order that went back, as text': withOrder(kitAfter(5), 'text'),
  'an order that went back, as steps': withOrder(kitAfter(5), 'steps'),
  'a complete order, as steps': withOrder(kitAfter(8), 'steps'),
  'a complete order, as text': withOrder(kitAfter(8), 'text'),
  'a cancelled order, as steps': withOrder(cancelled, 'steps'),
  'a cancelled order, as text': withOrder(cancelled, 'text'),
  'an order that needs attention, as steps': withOrder(lost, 'steps'),
  'an order that needs attention, as text': withOrder(lost, 'text'),
  'an order nobody knows the status of, as steps': withOrder(unknown, 'steps'),
  'an order on site, with the name of its test': withOrder(
    { ...onSite, labTest: { name: 'Lipids' } },
    'steps',
  ),
  'loading, as steps': async (gateway) => {
    await mountStatus(gateway, { status: 'steps', tokenProvider: () => new Promise(() => {}) })
      .updateComplete;
  },
  'loading, as text': async (gateway) => {
    await mountStatus(gateway, { tokenProvider: () => new Promise(() => {}) }).updateComplete;
  },
  empty: async () => {
    await mount('portal-order-status', {}).updateComplete;
  },
  'a failed status': async (gateway) => {
    const element = mountStatus(gateway, { tokenProvider: () => Promise.reject(new Error('Down.')) });
    await nextEvent(element, 'portal-error');
    await element.updateComplete;
  },
  stale: async (gateway) => {
    const element = mountStatus(gateway);
    await untilLabel(element, 'Transit customer');
    (await gateway.socket()).fall(1006);
    await untilConnection(element, 'stale');
  },
  'live again': async (gateway) => {
    const element = mountStatus(gateway);
    await untilLabel(element, 'Transit customer');
    (await gateway.socket()).fall(1006);
    await untilConnection(element, 'stale');
    window.dispatchEvent(new Event('online'));
    await untilConnection(element, 'live');
  },
  'without an endpoint': async (gateway) => {
    await mountStatus(gateway, { endpoint: null }).updateComplete;
  },
  'read from time to time': async (gateway) => {
    gateway.acceptsSockets = false;
    const element = mountStatus(gateway);
    await untilPolling(element);
    await untilLabel(element, 'Transit customer');
  },
  offline: async (gateway) => {
    const element = mountStatus(gateway);
    await untilLabel(element, 'Transit customer');
    vi.spyOn(Navigator.prototype, 'onLine', 'get').mockReturnValue(false);
    window.dispatchEvent(new Event('offline'));
    await untilConnection(element, 'offline');
  },
  'an order with its button': async (gateway) => {
    await untilLabel(mountLaunch(gateway, { orderId: ORDER_ID, live: 'always' }), 'Transit customer');
  },
  'a button': async (gateway) => {
    await mountLaunch(gateway).updateComplete;
  },
  'a disabled button': async (gateway) => {
    await mountLaunch(gateway, { disabled: true }).updateComplete;
  },
  'a busy button': async (gateway) => {
    gateway.portalGate = new Promise(() => {});
    const element = mountLaunch(gateway);
    void element.launch();
    await element.updateComplete;
  },
  'a failed launch': async (gateway) => {
    gateway.portalResult = { __typename: 'NotFound' };
    const element = mountLaunch(gateway);
    await element.launch();
    await element.updateComplete;
  },
  'a tab held back': async (gateway) => {
    using opened = new OpenedTabs();
    opened.refuse = true;
    const element = mountLaunch(gateway);
    await element.launch();
    await element.updateComplete;
  },
};
