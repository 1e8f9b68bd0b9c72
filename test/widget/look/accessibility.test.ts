import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { FakeGateway } from '../support/fake-gateway.ts';
import { mountLaunch } from '../support/launch.ts';
import { mountStatus } from '../support/order-status.ts';
import { kitAfter, ORDER_ID, wireStatus } from '../support/orders.ts';
import { find, mount, nextEvent, untilLabel } from '../support/page.ts';
import { mountResults } from '../support/results.ts';
import { OpenedTabs } from '../support/tabs.ts';

beforeEach(() => {
  document.documentElement.lang = 'en';
  document.title = 'A page';
});

afterEach(() => {
  document.documentElement.removeAttribute('style');
  document.documentElement.dir = '';
});

describe('to a screen reader', () => {
  test('the steps are a list with one current step', async () => {
    using gateway = new FakeGateway();
    gateway.order = kitAfter(5);
    const element = mount('portal-order-status', {
      endpoint: gateway.endpoint,
      orderId: ORDER_ID,
      live: 'always',
      status: 'steps',
      tokenProvider: () => 'token',
    });
    await untilLabel(element, 'Registered');

    const list = page.getByRole('list', { name: 'Progress of your order' });
    const items = [...find(element, 'ol').children].map((item) => [
      item.ariaCurrent,
      item.querySelector('.name')?.textContent,
    ]);

    await expect.element(list).toBeVisible();
    expect(items).toEqual([
      [null, 'Ordered, done'],
      ['step', 'Your test kit'],
      [null, 'At the lab, not begun'],
      [null, 'Results ready, not begun'],
    ]);
  });

  test('a launch with an order reads as one button and its status', async () => {
    using gateway = new FakeGateway();
    const element = mount('portal-launch', {
      endpoint: gateway.endpoint,
      orderId: ORDER_ID,
      live: 'always',
      status: 'steps',
      tokenProvider: () => 'token',
    });
    await untilLabel(element, 'Transit customer');

    await expect.element(page.elementLocator(element)).toMatchAriaInlineSnapshot(`
      - button "Open patient portal"
      - list "Progress of your order":
        - listitem: Ordered , done
        - listitem:
          - text: Your test kit Transit customer When it arrives, follow the instructions in the kit.
          - paragraph:
            - time: /2026/
        - listitem: At the lab , not begun
        - listitem: Results ready , not begun
    `);
  });

  test('an order that needs attention says so in words', async () => {
    using gateway = new FakeGateway();
    gateway.order = {
      ...kitAfter(6),
      status: wireStatus('COLLECTING_SAMPLE', 'lost', { needsAttention: true }),
    };
    const element = mountStatus(gateway);
    await untilLabel(element, 'Lost');

    await expect.element(page.elementLocator(element)).toMatchAriaInlineSnapshot(`
      - text: Lost Needs attention A new sample is needed. Contact support.
      - paragraph:
        - time: /2026/
    `);
  });

  test('a status that failed reads as its reason and a button', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway, { tokenProvider: () => Promise.reject(new Error('Down.')) });
    await nextEvent(element, 'portal-error');

    await expect.element(page.elementLocator(element)).toMatchAriaInlineSnapshot(`
      - text: Something went wrong. Please try again in a moment.
      - button "Try again"
    `);
  });

  test('a tab held back reads as a link and why', async () => {
    using gateway = new FakeGateway();
    using opened = new OpenedTabs();
    opened.refuse = true;
    const element = mountLaunch(gateway);
    await element.launch();

    await expect.element(page.elementLocator(element)).toMatchAriaInlineSnapshot(`
      - link "Open in a new tab":
        - /url: https://portal.test/launch?secret=1
      - paragraph: Your browser held the new tab back. Use the link to open the portal.
    `);
  });

  test('what has not come yet is one picture with a name', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway, { status: 'steps', tokenProvider: () => new Promise(() => {}) });

    await expect
      .element(page.elementLocator(element))
      .toMatchAriaInlineSnapshot(`- img "Loading the status of your order"`);
  });

  test('the button has its label as its name, and the error as its description', async () => {
    using gateway = new FakeGateway();
    using _opened = new OpenedTabs();
    gateway.portalResult = { __typename: 'FeatureNotEnabled' };
    const element = mount('portal-launch', { endpoint: gateway.endpoint, tokenProvider: () => 'token' });
    element.textContent = 'See my results';
    await element.launch();
    await element.updateComplete;

    const button = page.getByRole('button', { name: 'See my results' });
    await expect
      .element(button)
      .toHaveAccessibleDescription('The patient portal is not available here. Ask support for your results.');
  });

  test('the targets are at least 44 pixels high', async () => {
    using gateway = new FakeGateway();
    const launch = mount('portal-launch', { endpoint: gateway.endpoint });
    const failed = mount('portal-order-status', {
      endpoint: gateway.endpoint,
      orderId: ORDER_ID,
      live: 'always',
    });
    await nextEvent(failed, 'portal-error');
    await failed.updateComplete;

    const heights = [find(launch, 'button').offsetHeight, find(failed, 'button').offsetHeight];

    expect(heights.every((height) => height >= 44)).toBe(true);
  });

  test('a busy button can still be reached by keyboard', async () => {
    using gateway = new FakeGateway();
    using _opened = new OpenedTabs();
    gateway.portalGate = new Promise(() => {});
    const element = mount('portal-launch', { endpoint: gateway.endpoint, tokenProvider: () => 'token' });
    await element.updateComplete;
    void element.launch();
    await element.updateComplete;

    await userEvent.tab();

    expect(document.activeElement).toBe(element);
  });
});

describe('focus', () => {
  test('does not move to the button after a click on the text beside it', async () => {
    using gateway = new FakeGateway();
    using _tabs = new OpenedTabs();
    const element = mountLaunch(gateway, { orderId: ORDER_ID, live: 'always' });
    await untilLabel(element, 'Transit customer');

    await userEvent.click(find(element, '.words'));

    expect([document.activeElement, element.shadowRoot?.activeElement]).toEqual([document.body, null]);
  });

  test('moves to the control of an element when its focus() is called', async () => {
    using gateway = new FakeGateway();
    gateway.refusedTokens.add('token');
    const launch = mountLaunch(gateway, { orderId: ORDER_ID, live: 'off' });
    const results = mountResults(gateway, { live: 'off' });
    await Promise.all([nextEvent(launch, 'portal-error'), nextEvent(results, 'portal-error')]);
    await Promise.all([launch.updateComplete, results.updateComplete]);

    const focused = [launch, results].map((element) => {
      element.focus();
      return element.shadowRoot?.activeElement?.textContent?.trim();
    });
    launch.disabled = true;
    await launch.updateComplete;
    launch.focus();

    expect(focused).toEqual([find(launch, '.button').textContent?.trim(), 'Try again']);
    expect(launch.shadowRoot?.activeElement).toBe(find(launch, '.retry'));
  });
});
