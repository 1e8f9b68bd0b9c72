import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FakeGateway } from '../support/fake-gateway.ts';
import { mountLaunch, recordEvents } from '../support/launch.ts';
import { ORDER_ID } from '../support/orders.ts';
import { find, mount, nextEvent, readScreen } from '../support/page.ts';
import { OpenedTabs } from '../support/tabs.ts';

/** Where the page, or a tab of it, was about to go: stopped there, because this page is the test's own. */
const left: string[] = [];
const { click } = HTMLAnchorElement.prototype;

beforeEach(() => {
  left.length = 0;
  HTMLAnchorElement.prototype.click = function () {
    left.push(`${this.href} ${this.rel} ${this.referrerPolicy}`);
  };
});

afterEach(() => {
  HTMLAnchorElement.prototype.click = click;
});

describe('<portal-launch mode="redirect">', () => {
  test('leaves by this page, without a Referer, and stays busy until it is left', async () => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    const element = mountLaunch(gateway, { mode: 'redirect' });
    const events = recordEvents(element);

    await element.launch();
    await element.launch();
    await element.updateComplete;

    expect([left, opened.tabs, element.phase]).toEqual([
      ['https://portal.test/launch?secret=1 noreferrer '],
      [],
      'opening',
    ]);
    expect(events).toEqual(['portal-before-launch {"orderId":null}', 'portal-launched {"orderId":null}']);
    expect(document.documentElement.innerHTML).not.toContain('portal.test');
  });

  test('is there again when the person comes back through the back/forward cache', async () => {
    using gateway = new FakeGateway();
    const element = mountLaunch(gateway, { mode: 'redirect', orderId: ORDER_ID, status: 'none' });
    await element.launch();
    const returned = nextEvent(element, 'portal-returned');

    window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    await returned;
    await element.updateComplete;

    expect([element.phase, find(element, 'button').ariaDisabled]).toEqual(['idle', null]);
  });

  test('shows an error on this page and leaves no tab', async () => {
    using gateway = new FakeGateway();
    gateway.portalResult = { __typename: 'FeatureNotEnabled' };
    const element = mountLaunch(gateway, { mode: 'redirect' });

    await element.launch();
    await element.updateComplete;

    expect([left, element.phase, readScreen(element)]).toEqual([
      [],
      'idle',
      'Open patient portal The patient portal is not available here. Ask support for your results.',
    ]);
  });
});

describe('<portal-launch mode="post">', () => {
  /** The form as it was when it went. */
  function recordForms(opened: OpenedTabs): string[] {
    const seen: string[] = [];
    const record = (form: HTMLFormElement) =>
      seen.push(`${form.method} ${form.action} ${new URLSearchParams(new FormData(form) as never)}`);
    opened.prepare = (tab) => {
      const { HTMLFormElement: Form } = tab as Window & typeof globalThis;
      Form.prototype.submit = function () {
        record(this);
      };
    };
    return seen;
  }

  test('posts a ticket to the gateway in the tab, and never learns the address of the portal', async () => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    const forms = recordForms(opened);
    const element = mountLaunch(gateway, { mode: 'post', orderId: ORDER_ID, status: 'none' });

    await element.launch();

    expect([forms, element.phase, left]).toEqual([
      [`post ${new URL('/api/launch', gateway.endpoint)} ticket=ticket-1`],
      'idle',
      [],
    ]);
    expect(gateway.requests.map(({ operation, variables }) => [operation, variables])).toEqual([
      ['PortalTicket', { orderId: ORDER_ID }],
    ]);
    expect(opened.newest.document.querySelector('form')).toBeNull();
  });

  test('asks for no ticket while the tab is held back: the click on the button opens it', async () => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    const forms = recordForms(opened);
    opened.refuse = true;
    const element = mountLaunch(gateway, { mode: 'post' });
    await element.launch();
    await element.updateComplete;
    const whileBlocked = [element.phase, gateway.requests.length, find(element, 'button').textContent];

    opened.refuse = false;
    const launched = nextEvent(element, 'portal-launched');
    find(element, 'button').click();
    await launched;

    expect(whileBlocked).toEqual(['link', 0, 'Open in a new tabOpening…']);
    expect([forms.length, element.phase]).toEqual([1, 'idle']);
  });

  test.each([
    [{ __typename: 'PortalUrlRejected', demographicsMissing: true }, 'DEMOGRAPHICS_MISSING'],
    [{ __typename: 'NotFound' }, 'NOT_FOUND'],
    [{ __typename: 'PortalUrl', url: 'https://portal.test/' }, 'GATEWAY_ERROR'],
  ])('answers %j with %s', async (ticketResult, code) => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    gateway.ticketResult = ticketResult;
    const element = mountLaunch(gateway, { mode: 'post' });

    await element.launch();

    expect([element.lastError?.code, opened.newest.closed]).toEqual([code, true]);
  });
});

describe('<portal-launch> that leaves the page in the middle', () => {
  test('stops asking and closes its tab', async () => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    gateway.portalGate = new Promise(() => {});
    const element = mountLaunch(gateway);
    const events = recordEvents(element);
    const launch = element.launch();

    element.remove();
    await launch;

    expect([opened.newest.closed, events]).toEqual([true, ['portal-before-launch {"orderId":null}']]);
  });
});

describe('the label of <portal-launch>', () => {
  test.each([
    ['\n  ', 'Open patient portal'],
    ['\n  <a slot="fallback" href="#help">Ask us</a>\n', 'Open patient portal'],
    ['\n  <a href="#help">My results</a>\n', 'My results'],
    ['See <b>my</b> results', 'See my results'],
    ['<svg slot="icon"></svg>', 'Open patient portal'],
  ])('for %j is %j', async (markup, label) => {
    using gateway = new FakeGateway();
    const element = mount('portal-launch', { endpoint: gateway.endpoint });
    element.innerHTML = markup;
    await element.updateComplete;

    expect(readScreen(element)).toBe(label);
    expect(element.querySelector('a')?.checkVisibility() ?? false).toBe(false);
    // React compares the nodes of the page with those that its server wrote.
    expect(element.innerHTML).toBe(markup);
  });

  const write = (node: Node | null | undefined, text: string) => {
    if (node?.firstChild) node.firstChild.nodeValue = text;
  };

  test.each<[string, string, (element: Element) => void, string]>([
    ['a text is added', '', (element) => element.append('Portal'), 'Portal'],
    ['an empty text gets a value', ' ', (element) => write(element, 'Portal'), 'Portal'],
    ['a text becomes empty', 'Portal', (element) => write(element, ''), 'Open patient portal'],
    [
      'the link says something else',
      '<a href="/help">Help</a>',
      (element) => write(element.querySelector('a'), 'Hilfe'),
      'Hilfe',
    ],
    [
      'an element becomes the icon',
      '<b>+</b>',
      (element) => element.querySelector('b')?.setAttribute('slot', 'icon'),
      '+ Open patient portal',
    ],
  ])('follows the page: %s', async (_, markup, change, label) => {
    using gateway = new FakeGateway();
    const element = mountLaunch(gateway);
    element.innerHTML = markup;
    await element.updateComplete;

    change(element);

    await vi.waitFor(() => expect(readScreen(element)).toBe(label));
  });
});
