import { afterEach, describe, expect, test, vi } from 'vitest';
import { FakeGateway } from '../support/fake-gateway.ts';
import { mountLaunch, PORTAL_URL, recordEvents } from '../support/launch.ts';
import { find, nextEvent, readScreen } from '../support/page.ts';
import { OpenedTabs } from '../support/tabs.ts';

afterEach(() => {
  vi.useRealTimers();
});

describe('<portal-launch> that fails', () => {
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
  ])('answers %j with %s: closes the tab, shows the error, keeps the focus', async (portalResult, code) => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    gateway.portalResult = portalResult;
    const element = mountLaunch(gateway, { portalOrigins: 'https://portal.test https://second.test' });
    await element.updateComplete;
    find(element, 'button').focus();

    await element.launch();
    await element.updateComplete;

    expect(element.lastError).toMatchObject({ code, requestId: 'request-1' });
    expect([opened.newest.closed, element.phase]).toEqual([true, 'idle']);
    expect(element.shadowRoot?.activeElement).toBe(find(element, 'button'));
    expect(find(element, '[part~=error]').textContent).not.toBe('');
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

  test('times out after 15 seconds', async () => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    const timeout = vi
      .spyOn(AbortSignal, 'timeout')
      .mockImplementation((ms) => AbortSignal.abort(`${ms} ms`));
    const element = mountLaunch(gateway);

    await element.launch();
    const limits = timeout.mock.calls.map(([ms]) => ms);
    timeout.mockRestore();

    expect(element.lastError).toMatchObject({ code: 'TIMEOUT', retryable: true, requestId: null });
    expect([opened.newest.closed, limits[0]]).toEqual([true, 15_000]);
  });

  test('names the request whose token was refused, too', async () => {
    using gateway = new FakeGateway();
    using _opened = new OpenedTabs();
    gateway.refusedTokens.add('token');
    const element = mountLaunch(gateway);

    await element.launch();

    expect(element.lastError).toMatchObject({ code: 'UNAUTHENTICATED', requestId: 'request-2' });
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
      'noreferrer',
    ]);
    expect([element.phase, element.shadowRoot?.activeElement, element.matches(':state(blocked)')]).toEqual([
      'link',
      link,
      true,
    ]);
    expect(events).toEqual(['portal-before-launch {"orderId":null}', 'portal-blocked {"orderId":null}']);
  });

  test('becomes a link too where the browser throws instead', async () => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    opened.prepare = () => {
      throw new DOMException('Not from here.', 'InvalidAccessError');
    };
    const element = mountLaunch(gateway);

    await element.launch();
    await element.updateComplete;

    expect((find(element, 'a') as HTMLAnchorElement).href).toBe('https://portal.test/launch?secret=1');
  });

  test('becomes a link too where the tab cannot be used, and closes it', async () => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    opened.prepare = (tab) => tab.document.documentElement.remove();
    const element = mountLaunch(gateway);

    await element.launch();
    await element.updateComplete;

    expect([element.phase, opened.newest.closed]).toEqual(['link', true]);
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
