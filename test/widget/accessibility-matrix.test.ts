import axe from 'axe-core';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { cdp } from 'vitest/browser';
import { FakeGateway } from './support/fake-gateway.ts';
import { mountLaunch } from './support/launch.ts';
import { mountStatus, untilPolling } from './support/order-status.ts';
import { kitAfter, ORDER_ID, type WireOrder, wireOrder, wireStatus } from './support/orders.ts';
import { mount, nextEvent, untilConnection, untilLabel } from './support/page.ts';
import { OpenedTabs } from './support/tabs.ts';
import '../../widget/src/languages/ar.ts';

/** A page as a host may have it. */
const DIRECTIONS = ['ltr', 'rtl'] as const;
const SCHEMES = ['light', 'dark', 'forced'] as const;

beforeEach(() => {
  document.title = 'A page';
});

afterEach(async () => {
  document.documentElement.removeAttribute('style');
  document.documentElement.dir = '';
  document.documentElement.lang = 'en';
  vi.restoreAllMocks();
  await emulate('forced-colors', 'none');
});

function emulate(name: string, value: string): Promise<unknown> {
  // The provider's session; its type is known only to the provider's own package.
  const devtools = cdp() as { readonly send?: (name: string, parameters: object) => Promise<unknown> };
  return (
    devtools.send?.('Emulation.setEmulatedMedia', { features: [{ name, value }] }) ??
    Promise.reject(new Error('No devtools.'))
  );
}

async function dressPage(
  direction: (typeof DIRECTIONS)[number],
  scheme: (typeof SCHEMES)[number],
): Promise<void> {
  const { documentElement } = document;
  documentElement.dir = direction;
  documentElement.lang = direction === 'rtl' ? 'ar' : 'en';
  documentElement.style.colorScheme = scheme === 'dark' ? 'dark' : 'light';
  documentElement.style.background = scheme === 'dark' ? '#14181c' : '#fff';
  documentElement.style.color = scheme === 'dark' ? '#e8ecef' : '#1d2429';
  await emulate('forced-colors', scheme === 'forced' ? 'active' : 'none');
}

/** What axe finds wrong, and what it could not decide. */
async function audit(): Promise<readonly string[]> {
  const rules = {
    region: { enabled: false },
    'page-has-heading-one': { enabled: false },
    'landmark-one-main': { enabled: false },
  };
  const { violations, incomplete } = await axe.run(document.body, { rules });
  return [...violations, ...incomplete].map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`,
  );
}

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

type State = (gateway: FakeGateway) => Promise<unknown>;

function withOrder(order: WireOrder, status: 'text' | 'steps'): State {
  return async (gateway) => {
    gateway.order = order;
    await untilLabel(mountStatus(gateway, { status, privacy: 'full' }), String(order.status.label));
  };
}

/** Every state an element can be in, and how it gets there. */
const STATES: Readonly<Record<string, State>> = {
  'an order on its way, as text': withOrder(kitAfter(3), 'text'),
  'an order on its way, as steps': withOrder(kitAfter(3), 'steps'),
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

describe.each(DIRECTIONS)('in a page written %s', (direction) => {
  describe.each(SCHEMES)('in %s colours, axe finds nothing wrong and nothing undecided in', (scheme) => {
    test.each(Object.entries(STATES))('%s', async (_, reach) => {
      using gateway = new FakeGateway();
      using _opened = new OpenedTabs();
      await dressPage(direction, scheme);

      await reach(gateway);

      expect(matchMedia('(forced-colors: active)').matches).toBe(scheme === 'forced');
      expect(await audit()).toEqual([]);
    });
  });
});

describe('in forced colours', () => {
  test('marks and a disabled button take the colours of the person, not those of the host', async () => {
    using gateway = new FakeGateway();
    await dressPage('ltr', 'forced');
    document.documentElement.style.setProperty('--portal-good', '#123456');
    await withOrder(kitAfter(8), 'text')(gateway);
    const button = mountLaunch(gateway, { disabled: true });
    await button.updateComplete;
    const system = document.body.appendChild(document.createElement('p'));
    const colorOf = (name: string) => {
      system.style.color = name;
      return getComputedStyle(system).color;
    };

    const mark = document.querySelector('portal-order-status')?.shadowRoot?.querySelector('.mark');
    const control = button.shadowRoot?.querySelector('button');

    expect(mark && getComputedStyle(mark).color).toBe(colorOf('CanvasText'));
    expect(control && getComputedStyle(control).color).toBe(colorOf('GrayText'));
    expect(control && getComputedStyle(control).opacity).toBe('1');
  });
});

describe('for who asks for less motion', () => {
  test.each([
    ['no-preference', 'breathe'],
    ['reduce', 'none'],
  ])('(%s) the skeleton is animated with: %s', async (wish, animation) => {
    using gateway = new FakeGateway();
    await emulate('prefers-reduced-motion', wish);
    const element = mountStatus(gateway, { tokenProvider: () => new Promise(() => {}) });
    await element.updateComplete;

    const animations = [...(element.shadowRoot?.querySelectorAll('.bone') ?? [])].map(
      (bone) => getComputedStyle(bone).animationName,
    );

    expect(new Set(animations)).toEqual(new Set([animation]));
  });
});
