import { afterEach, describe, expect, test, vi } from 'vitest';
import { userEvent } from 'vitest/browser';
import { FakeGateway } from './support/fake-gateway.ts';
import { ORDER_ID } from './support/orders.ts';
import { find, mount, nextEvent, readScreen, untilLabel } from './support/page.ts';
import { OpenedTabs } from './support/tabs.ts';

/** A page of this test's own server which tells what it knows of the page it came from. */
const PORTAL_URL = new URL('support/portal-page.html?key=once', import.meta.url).href;

/** What the portal knows once the tab has arrived there. */
function portalArrival(): Promise<unknown> {
  const channel = new BroadcastChannel('portal-page');
  return new Promise((resolve) => {
    channel.onmessage = ({ data }) => {
      channel.close();
      resolve(data);
    };
  });
}

afterEach(() => {
  vi.useRealTimers();
});

function mountLaunch(gateway: FakeGateway, properties: Partial<HTMLElementTagNameMap['portal-launch']> = {}) {
  const { endpoint } = gateway;
  return mount('portal-launch', { endpoint, tokenProvider: async () => 'token', ...properties });
}

/** Recorded so that a test can say that nothing secret was told. */
function recordEvents(target: EventTarget): string[] {
  const seen: string[] = [];
  const names = ['portal-before-launch', 'portal-launched', 'portal-blocked', 'portal-error'] as const;
  for (const name of names) {
    target.addEventListener(name, (event) =>
      seen.push(`${name} ${JSON.stringify((event as CustomEvent).detail)}`),
    );
  }
  return seen;
}

describe('<portal-launch>', () => {
  test('opens a blank tab in the task of the click, before there is a token', () => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    const element = mountLaunch(gateway, { tokenProvider: () => new Promise(() => {}) });

    void element.launch();

    expect([opened.tabs.length, opened.newest.document.body.textContent, element.phase]).toEqual([
      1,
      'Opening…',
      'opening',
    ]);
  });

  test('sends the tab to the portal with neither opener nor Referer, and tells nobody the address', async () => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    gateway.portalResult = { __typename: 'PortalUrl', url: PORTAL_URL };
    const element = mountLaunch(gateway, { orderId: ORDER_ID, status: 'none' });
    const events = recordEvents(element);
    await element.updateComplete;

    const arrival = portalArrival();
    find(element, 'button').click();

    expect(await arrival).toEqual({ hasOpener: false, referrer: '', search: '?key=once' });
    expect([opened.tabs.length, events, element.phase]).toEqual([
      1,
      [`portal-before-launch {"orderId":"${ORDER_ID}"}`, `portal-launched {"orderId":"${ORDER_ID}"}`],
      'idle',
    ]);
  });

  test('asks for the address with the token in a header, and nothing that could be cached or traced', async () => {
    using gateway = new FakeGateway();
    using _opened = new OpenedTabs();
    gateway.portalResult = { __typename: 'PortalUrl', url: PORTAL_URL };
    const element = mountLaunch(gateway);

    await element.launch();

    const [request] = gateway.requests;
    expect([request?.operation, request?.token, request?.variables]).toEqual([
      'PortalLaunch',
      'token',
      { orderId: null },
    ]);
    expect(request?.init).toMatchObject({
      method: 'POST',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      cache: 'no-store',
    });
  });

  test('does nothing at a second click while the portal opens', async () => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    gateway.portalGate = new Promise(() => {});
    const element = mountLaunch(gateway);
    await element.updateComplete;

    find(element, 'button').click();
    await element.updateComplete;
    find(element, 'button').click();

    expect([opened.tabs.length, find(element, 'button').ariaDisabled, readScreen(element)]).toEqual([
      1,
      'true',
      'Opening…',
    ]);
  });

  test('stops when the host cancels portal-before-launch', async () => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    const element = mountLaunch(gateway);
    element.addEventListener('portal-before-launch', (event) => event.preventDefault());

    await element.launch();

    expect([opened.tabs, gateway.requests, element.phase]).toEqual([[], [], 'idle']);
  });

  test('does nothing while it is disabled', async () => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    const element = mountLaunch(gateway, { disabled: true });
    await element.updateComplete;

    element.click();
    await element.launch();

    expect([opened.tabs, element.matches(':state(disabled)')]).toEqual([[], true]);
  });

  test('keeps the size of the button while the portal opens', async () => {
    using gateway = new FakeGateway();
    using _opened = new OpenedTabs();
    gateway.portalGate = new Promise(() => {});
    const element = mountLaunch(gateway);
    await element.updateComplete;
    const before = element.getBoundingClientRect().toJSON();

    void element.launch();
    await element.updateComplete;

    expect(element.getBoundingClientRect().toJSON()).toEqual(before);
  });

  test.each([
    [{ __typename: 'PortalUrlRejected', demographicsMissing: true }, 'DEMOGRAPHICS_MISSING'],
    [{ __typename: 'PortalUrlRejected', demographicsMissing: null }, 'PORTAL_REJECTED'],
    [{ __typename: 'FeatureNotEnabled' }, 'FEATURE_NOT_ENABLED'],
    [{ __typename: 'NotFound' }, 'NOT_FOUND'],
    [{ __typename: 'InputRejected' }, 'INPUT_REJECTED'],
    [{ __typename: 'SomethingNew' }, 'GATEWAY_ERROR'],
    [null, 'GATEWAY_ERROR'],
    [{ __typename: 'PortalUrl', url: 'http://portal.test/' }, 'URL_REJECTED'],
    [{ __typename: 'PortalUrl', url: 'https://user:pass@portal.test/' }, 'URL_REJECTED'],
    [{ __typename: 'PortalUrl', url: 'javascript:alert(1)' }, 'URL_REJECTED'],
    [{ __typename: 'PortalUrl', url: 'https://elsewhere.test/' }, 'URL_REJECTED'],
  ])('answers %j with %3$s: closes the tab, shows the error, keeps the focus', async (portalResult, code) => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    gateway.portalResult = portalResult;
    const element = mountLaunch(gateway, { portalOrigins: 'https://portal.test https://second.test' });
    await element.updateComplete;
    find(element, 'button').focus();

    await element.launch();
    await element.updateComplete;

    expect([element.lastError?.code, opened.newest.closed, element.phase]).toEqual([code, true, 'idle']);
    expect(element.shadowRoot?.activeElement).toBe(find(element, 'button'));
    expect(find(element, '[part=error]').textContent).not.toBe('');
  });

  test('lets the host explain missing demographics in its own words', async () => {
    using gateway = new FakeGateway();
    using _opened = new OpenedTabs();
    gateway.portalResult = { __typename: 'PortalUrlRejected', demographicsMissing: true };
    const element = mountLaunch(gateway);
    element.insertAdjacentHTML(
      'beforeend',
      '<a slot="error-demographics-missing" href="#profile">Complete your profile</a>',
    );

    await element.launch();
    await element.updateComplete;

    expect(readScreen(element)).toBe('Open patient portal Complete your profile');
  });

  test('leaves the error to the host that cancels portal-error', async () => {
    using gateway = new FakeGateway();
    using _opened = new OpenedTabs();
    gateway.portalResult = { __typename: 'NotFound' };
    const element = mountLaunch(gateway);
    element.addEventListener('portal-error', (event) => event.preventDefault());

    await element.launch();
    await element.updateComplete;

    expect([element.lastError?.code, readScreen(element)]).toEqual(['NOT_FOUND', 'Open patient portal']);
  });

  test('gives up after 15 seconds', async () => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    const timeout = vi
      .spyOn(AbortSignal, 'timeout')
      .mockImplementation((ms) => AbortSignal.abort(`${ms} ms`));
    const element = mountLaunch(gateway);

    await element.launch();
    const limits = timeout.mock.calls.map(([ms]) => ms);
    timeout.mockRestore();

    expect([element.lastError?.code, element.lastError?.retryable, opened.newest.closed, limits[0]]).toEqual([
      'TIMEOUT',
      true,
      true,
      15_000,
    ]);
  });

  test('replaces a refused token once', async () => {
    using gateway = new FakeGateway();
    using _opened = new OpenedTabs();
    gateway.refusedTokens.add('token-1');
    gateway.portalResult = { __typename: 'PortalUrl', url: PORTAL_URL };
    let count = 0;
    const reasons: string[] = [];
    const element = mountLaunch(gateway, {
      tokenProvider: ({ reason }) => {
        reasons.push(reason);
        count += 1;
        return `token-${count}`;
      },
    });

    await element.launch();

    expect([reasons, gateway.requests.map(({ token }) => token), element.lastError]).toEqual([
      ['initial', 'rejected'],
      ['token-1', 'token-2'],
      null,
    ]);
  });

  test('forgets a launch that was under way when the page comes back from the back/forward cache', async () => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    gateway.portalGate = new Promise(() => {});
    const element = mountLaunch(gateway);
    void element.launch();

    window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    await element.updateComplete;

    expect([element.phase, opened.tabs.length, find(element, 'button').ariaDisabled]).toEqual([
      'idle',
      1,
      null,
    ]);
  });

  test('reads the order again when the person comes back', async () => {
    using gateway = new FakeGateway();
    using _opened = new OpenedTabs();
    gateway.portalResult = { __typename: 'PortalUrl', url: PORTAL_URL };
    const element = mountLaunch(gateway, { orderId: ORDER_ID });
    await untilLabel(element, 'Transit customer');
    await element.launch();

    const returned = nextEvent(element, 'portal-returned');
    window.dispatchEvent(new Event('focus'));
    window.dispatchEvent(new Event('focus'));
    await returned;

    await vi.waitFor(() => {
      expect(gateway.requests.map(({ operation }) => operation)).toEqual(['PortalLaunch', 'PortalOrder']);
    });
  });
});

describe('<portal-launch> whose tab the browser holds back', () => {
  test('becomes a real link, without losing the focus', async () => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    opened.refuse = true;
    const element = mountLaunch(gateway);
    const events = recordEvents(element);
    await element.updateComplete;
    element.focus();

    await element.launch();
    await element.updateComplete;

    const link = find(element, 'a') as HTMLAnchorElement;
    expect([link.href, link.target, link.rel]).toEqual([
      'https://portal.test/launch?secret=1',
      '_blank',
      'noopener noreferrer',
    ]);
    expect([element.phase, element.shadowRoot?.activeElement, element.matches(':state(blocked)')]).toEqual([
      'link',
      link,
      true,
    ]);
    expect(events).toEqual(['portal-before-launch {"orderId":null}', 'portal-blocked {"orderId":null}']);
  });

  test('gives the link once', async () => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    opened.refuse = true;
    const element = mountLaunch(gateway);
    await element.launch();
    await element.updateComplete;
    const link = find(element, 'a');
    link.addEventListener('click', (event) => event.preventDefault());

    const launched = nextEvent(element, 'portal-launched');
    link.click();
    await launched;
    await element.updateComplete;

    expect([element.phase, element.shadowRoot?.querySelector('a')]).toEqual(['idle', null]);
  });

  test('takes the link away after a minute', async () => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    opened.refuse = true;
    const element = mountLaunch(gateway);
    vi.useFakeTimers();
    await element.launch();
    await element.updateComplete;

    vi.advanceTimersByTime(59_999);
    const before = element.phase;
    vi.advanceTimersByTime(1);
    await element.updateComplete;

    expect([before, element.phase, element.shadowRoot?.querySelector('a')]).toEqual(['link', 'idle', null]);
  });

  test('makes no address when the host cancels portal-blocked', async () => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    opened.refuse = true;
    const element = mountLaunch(gateway);
    element.addEventListener('portal-blocked', (event) => event.preventDefault());

    await element.launch();

    expect([gateway.requests, element.phase]).toEqual([[], 'idle']);
  });
});

describe('<portal-launch> by keyboard', () => {
  test.each(['{Enter}', ' '])('launches with %j', async (key) => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    gateway.portalResult = { __typename: 'PortalUrl', url: PORTAL_URL };
    const element = mountLaunch(gateway);
    await element.updateComplete;
    element.focus();

    const launched = nextEvent(element, 'portal-launched');
    await userEvent.keyboard(key);
    await launched;

    expect(opened.tabs.length).toBe(1);
  });
});
