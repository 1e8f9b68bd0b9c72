import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { reportMissing } from '../../../widget/src/words/language.ts';
import { FakeGateway } from '../support/fake-gateway.ts';
import { mountLaunch } from '../support/launch.ts';
import { emulate, undressPage } from '../support/look.ts';
import { mountStatus } from '../support/order-status.ts';
import { kitAfter, ORDER_ID } from '../support/orders.ts';
import { find, readScreen, untilConnection, untilLabel } from '../support/page.ts';
import { OpenedTabs } from '../support/tabs.ts';

beforeEach(() => {
  document.documentElement.lang = 'en';
});

afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await undressPage();
});

describe('a change that arrives live', () => {
  test.each([
    ['no-preference', 1],
    ['reduce', 0],
  ])('is softly highlighted, save for who asks for less motion (%s)', async (wish, count) => {
    using gateway = new FakeGateway();
    await emulate({ 'prefers-reduced-motion': wish });
    const element = mountStatus(gateway);
    await untilLabel(element, 'Transit customer');
    const before = find(element, '.words').getAnimations().length;

    gateway.push('CHANGED', kitAfter(4));
    await untilLabel(element, 'With customer');
    await element.updateComplete;

    expect([before, find(element, '.words').getAnimations().length]).toEqual([0, count]);
  });
});

describe('among the steps', () => {
  const weightOf = (element: Element, part: string) => getComputedStyle(find(element, part)).fontWeight;

  test('the status stands out from its stage and from what comes next', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway, { status: 'steps' });
    await untilLabel(element, 'Transit customer');

    const weights = ['name', 'label', 'next'].map((part) => weightOf(element, `.current .${part}`));

    expect(weights).toEqual(['400', '600', '400']);
  });

  test('a status with the name of its stage is said once', async () => {
    using gateway = new FakeGateway();
    gateway.order = kitAfter(1);
    const element = mountStatus(gateway, { status: 'steps' });
    await untilLabel(element, 'Ordered');

    expect(find(element, '.current .words').textContent.match(/Ordered/g)).toHaveLength(1);
    expect(weightOf(element, '.current .name')).toBe('600');
  });
});

describe('that the order is up to date', () => {
  test('is said only after the connection was lost, and not for long', async () => {
    using gateway = new FakeGateway();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const element = mountStatus(gateway);
    await untilLabel(element, 'Transit customer');
    await untilConnection(element, 'live');
    const atFirst = readScreen(element);

    (await gateway.socket()).fall(1006);
    await untilConnection(element, 'stale');
    window.dispatchEvent(new Event('online'));
    await untilConnection(element, 'live');
    const afterLoss = readScreen(element);
    vi.advanceTimersByTime(30_000);
    await element.updateComplete;

    const quiet = 'Transit customer When it arrives, follow the instructions in the kit.';
    expect([atFirst, afterLoss, readScreen(element)]).toEqual([quiet, `${quiet} Up to date`, quiet]);
  });
});

describe('the age of a status', () => {
  test('has the exact time as its title, grows by itself and is no live region', async () => {
    using gateway = new FakeGateway();
    const start = Date.now();
    vi.useFakeTimers({ now: start, toFake: ['Date', 'setInterval', 'clearInterval'] });
    const order = kitAfter(3);
    const createdAt = new Date(start - 2 * 3_600_000).toISOString();
    gateway.order = { ...order, events: order.events.map((event) => ({ ...event, createdAt })) };
    const element = mountStatus(gateway, { status: 'steps' });
    await untilLabel(element, 'Transit customer');
    const first = find(element, 'time').textContent;

    vi.advanceTimersByTime(3_600_000);
    await element.updateComplete;

    const time = find(element, 'time');
    expect([first, time.textContent]).toEqual(['2 hours ago', '3 hours ago']);
    expect(time.title).toMatch(/\d:\d\d/);
    expect(time.closest('[aria-live], [role=status], [role=log], [role=alert]')).toBeNull();
  });
});

describe('on paper', () => {
  test('the status has its exact time, and the button with the address of the page', async () => {
    using gateway = new FakeGateway();
    const element = mountLaunch(gateway, { orderId: ORDER_ID, live: 'always' });
    await untilLabel(element, 'Transit customer');

    await emulate({}, 'print');

    const contentOf = (selector: string, pseudo: string) =>
      getComputedStyle(find(element, selector), pseudo).content;
    expect(contentOf('.button', '::after')).toBe(`"${location.host}${location.pathname}"`);
    expect(contentOf('time', '::after')).toContain(find(element, 'time').title);
    expect(getComputedStyle(find(element, '.button')).backgroundColor).toBe('rgba(0, 0, 0, 0)');
  });
});

describe('the tab that waits for the portal', () => {
  test('says who opens what', async () => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    gateway.portalGate = new Promise(() => {});
    const element = mountLaunch(gateway);
    await element.updateComplete;

    void element.launch();

    const { title, body } = opened.newest.document;
    const text = `${location.host} is opening your patient portal…`;
    expect([title, body.textContent]).toEqual([text, text]);
  });
});

describe('a language without its file', () => {
  test('is reported once on the console, unless the file comes in time', () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const warn = vi.spyOn(console, 'warn').mockReturnValue();

    reportMissing('sv-SE');
    reportMissing('sv-SE');
    reportMissing('en-GB');
    vi.runAllTimers();
    reportMissing('sv-SE');
    vi.runAllTimers();

    expect(warn.mock.calls).toEqual([
      ['Labgraph widget: no texts for lang="sv-SE". Load portal-widget.sv.js or call addLanguage.'],
    ]);
  });
});
