import { describe, expect, test, vi } from 'vitest';
import { userEvent } from 'vitest/browser';
import { FakeGateway } from '../support/fake-gateway.ts';
import { mountLaunch, PORTAL_URL, portalArrival, recordEvents } from '../support/launch.ts';
import { ORDER_ID } from '../support/orders.ts';
import { find, nextEvent, readScreen, untilLabel } from '../support/page.ts';
import { OpenedTabs } from '../support/tabs.ts';

describe('<portal-launch>', () => {
  test('opens a blank tab in the task of the click, before there is a token', () => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    const element = mountLaunch(gateway, { tokenProvider: () => new Promise(() => {}) });

    void element.launch();

    expect([opened.tabs.length, opened.newest.document.body.textContent, element.phase]).toEqual([
      1,
      `${location.host} is opening your patient portal…`,
      'opening',
    ]);
  });

  test('sends the tab to the portal with neither opener nor Referer, and discloses the address to nobody', async () => {
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

  test('opens the home of the portal if a template leaves the order empty', async () => {
    using gateway = new FakeGateway();
    using _opened = new OpenedTabs();
    gateway.portalResult = { __typename: 'PortalUrl', url: PORTAL_URL };
    const element = mountLaunch(gateway, { orderId: '' });

    await element.launch();

    expect(gateway.requests[0]?.variables).toEqual({ orderId: null });
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
