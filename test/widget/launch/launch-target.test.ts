import { describe, expect, test, vi } from 'vitest';
import { createPortalClient } from '../../../widget/src/client/client.ts';
import '../../../widget/src/languages/ar.ts';
import { FakeGateway } from '../support/fake-gateway.ts';
import { mountLaunch, PORTAL_URL, recordEvents } from '../support/launch.ts';
import { ORDER_ID } from '../support/orders.ts';
import { find, mount, nextEvent, readScreen, untilLabel } from '../support/page.ts';
import { OpenedTabs } from '../support/tabs.ts';

const OTHER_ID = '00000000-0000-4000-8000-0000000000ff';

/** A launch that has become a link, because the browser held the tab back. */
async function mountLink(gateway: FakeGateway, tabs: OpenedTabs) {
  tabs.refuse = true;
  const element = mountLaunch(gateway, { orderId: ORDER_ID, status: 'none' });
  await element.updateComplete;
  element.click();
  await vi.waitFor(() => find(element, 'a'));
  return element;
}

describe('the link that replaces a tab', () => {
  test.each<Partial<HTMLElementTagNameMap['portal-launch']>>([
    { orderId: OTHER_ID },
    { endpoint: 'https://other.test/graphql' },
    { disabled: true },
    // Another person.
    { tokenProvider: () => 'other' },
    { client: createPortalClient({ endpoint: 'https://other.test/graphql', tokenProvider: () => 'other' }) },
  ])('is removed when the element has another target: %o', async (change) => {
    using gateway = new FakeGateway();
    using tabs = new OpenedTabs();
    const element = await mountLink(gateway, tabs);

    Object.assign(element, change);
    await element.updateComplete;

    expect([element.phase, element.shadowRoot?.querySelector('a')]).toEqual(['idle', null]);
  });

  test('is left out by session recorders altogether, also with privacy="full"', async () => {
    using gateway = new FakeGateway();
    using tabs = new OpenedTabs();
    const element = await mountLink(gateway, tabs);
    element.privacy = 'full';
    await element.updateComplete;

    const link = find(element, 'a');

    const words = ['.fs-exclude', '.rr-block', '.sentry-block', '.ph-no-capture', '[data-dd-privacy=hidden]'];
    expect(words.filter((word) => !link.matches(word))).toEqual([]);
  });
});

/** What a page does when somebody else signs in. */
const CHANGES_OF_PERSON: Readonly<
  Record<string, (element: HTMLElementTagNameMap['portal-launch'], around: Element) => void>
> = {
  'its own tokenProvider': (element) => {
    element.tokenProvider = () => 'other';
  },
  "the gateway's tokenProvider": (_element, around) => {
    Object.assign(around, { tokenProvider: () => 'other' });
  },
  'another gateway around it': (element, around) => {
    const { endpoint } = around as HTMLElementTagNameMap['portal-gateway'];
    mount('portal-gateway', { endpoint }).append(element);
  },
};

describe.each(Object.entries(CHANGES_OF_PERSON))('another person: %s', (_, change) => {
  test('ends the launch in progress, and closes its tab', async () => {
    using gateway = new FakeGateway();
    using tabs = new OpenedTabs();
    const { promise, resolve } = Promise.withResolvers<void>();
    gateway.portalGate = promise;
    const { endpoint } = gateway;
    const around = mount('portal-gateway', { endpoint, tokenProvider: () => 'token' });
    const element = mount('portal-launch', { status: 'none' }, around);
    const events = recordEvents(element);
    const launch = element.launch();

    change(element, around);
    await vi.waitFor(() => expect(element.phase).toBe('idle'));
    resolve();
    await launch;

    expect([tabs.newest.closed, events]).toEqual([true, ['portal-before-launch {"orderId":null}']]);
  });

  test('removes the error of a launch', async () => {
    using gateway = new FakeGateway();
    using _tabs = new OpenedTabs();
    gateway.portalResult = { __typename: 'PortalUrlRejected', demographicsMissing: true };
    const { endpoint } = gateway;
    const around = mount('portal-gateway', { endpoint, tokenProvider: () => 'token' });
    const element = mount('portal-launch', { status: 'none' }, around);
    await element.launch();
    await element.updateComplete;
    expect(readScreen(element)).toContain('personal details');

    change(element, around);

    await vi.waitFor(() => expect(readScreen(element)).toBe('Open patient portal'));
  });
});

describe('a launch', () => {
  test('is for what a listener made of the element before it', async () => {
    using gateway = new FakeGateway();
    using tabs = new OpenedTabs();
    tabs.refuse = true;
    const element = mountLaunch(gateway);
    const blocked: unknown[] = [];
    element.addEventListener('portal-before-launch', () => Object.assign(element, { orderId: OTHER_ID }));
    element.addEventListener('portal-blocked', ({ detail }) => blocked.push(detail.orderId));

    await element.launch();

    expect([blocked, gateway.requests.map(({ variables }) => variables.orderId)]).toEqual([
      [OTHER_ID],
      [OTHER_ID],
    ]);
  });

  test('is reported with the order at the time of the click, even if the page shows another one meanwhile', async () => {
    using gateway = new FakeGateway();
    using _tabs = new OpenedTabs();
    const { promise, resolve } = Promise.withResolvers<void>();
    gateway.portalGate = promise;
    gateway.portalResult = { __typename: 'PortalUrl', url: PORTAL_URL };
    const element = mountLaunch(gateway, { orderId: ORDER_ID, status: 'none' });
    const orders: unknown[] = [];
    for (const name of ['portal-launched', 'portal-returned'] as const)
      element.addEventListener(name, ({ detail }) => orders.push(detail.orderId));
    const launch = element.launch();

    element.orderId = OTHER_ID;
    await element.updateComplete;
    resolve();
    await launch;
    window.dispatchEvent(new Event('focus'));

    expect(orders).toEqual([ORDER_ID, ORDER_ID]);
  });

  test('waits in a tab that says which language it speaks', () => {
    using gateway = new FakeGateway();
    using tabs = new OpenedTabs();
    const element = mountLaunch(gateway);
    element.lang = 'ar';

    void element.launch();

    expect(tabs.newest.document.documentElement.lang).toBe('ar');
    element.remove();
  });

  test('keeps saying why it failed while the status beside it fails too', async () => {
    using gateway = new FakeGateway();
    using _tabs = new OpenedTabs();
    gateway.portalResult = { __typename: 'PortalUrlRejected', demographicsMissing: true };
    const element = mountLaunch(gateway, { orderId: ORDER_ID, live: 'always' });
    await untilLabel(element, 'Transit customer');
    await element.launch();
    gateway.refusedTokens.add('token');

    await element.refresh();
    await element.updateComplete;

    expect(element.lastError?.code).toBe('UNAUTHENTICATED');
    expect(readScreen(element)).toContain('personal details');
  });

  test('that fails and a status that fails say so side by side, each with what can help', async () => {
    using gateway = new FakeGateway();
    using _tabs = new OpenedTabs();
    gateway.portalResult = { __typename: 'FeatureNotEnabled' };
    const element = mountLaunch(gateway, { orderId: ORDER_ID, live: 'off' });
    await untilLabel(element, 'Transit customer');
    const failed = nextEvent(element, 'portal-error');
    gateway.refusedTokens.add('token');
    element.orderId = OTHER_ID;
    await failed;
    const launchFailed = nextEvent(element, 'portal-error');
    gateway.refusedTokens.clear();

    await element.launch();
    await launchFailed;
    await element.updateComplete;

    const errors = [...(element.shadowRoot?.querySelectorAll('[part~=error]') ?? [])];
    expect(errors.map((error) => error.querySelector('button')?.textContent ?? null)).toEqual([
      null,
      'Try again',
    ]);
    expect(readScreen(element)).toMatch(/not available here.*sign-in has ended/);
  });
});
