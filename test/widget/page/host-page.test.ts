import { describe, expect, test } from 'vitest';
import '../../../widget/src/languages/de.ts';
import { FakeGateway } from '../support/fake-gateway.ts';
import { mountLaunch } from '../support/launch.ts';
import { mountStatus } from '../support/order-status.ts';
import { kitAfter, ORDER_ID } from '../support/orders.ts';
import { find, mount, nextEvent, readScreen, untilLabel } from '../support/page.ts';

const OTHER_ID = '00000000-0000-4000-8000-0000000000ff';

describe('a page around the elements', () => {
  test('may leave comments inside, as frameworks do: the button keeps its name', async () => {
    using _gateway = new FakeGateway();
    const element = document.createElement('portal-launch');
    element.append(document.createComment('v-if'), '\n');
    document.body.append(element);

    await element.updateComplete;

    expect(readScreen(element)).toBe('Open patient portal');
  });

  test.each([
    ['a line break', '<br>\n', 'Open patient portal'],
    ['an empty paragraph', '<p>&nbsp;<br></p>', 'Open patient portal'],
    ['a line break behind the plain link', '<a href="/help">See my test</a><br>', 'See my test'],
    ['a paragraph around a picture', '<p style="margin: 0"><img style="block-size: 8px"></p>', ''],
  ])(
    'may leave %s inside, as content systems do: the button has its words, in one line',
    async (_, markup, words) => {
      using gateway = new FakeGateway();
      const element = mountLaunch(gateway);
      await element.updateComplete;
      const height = find(element, 'button').offsetHeight;

      element.innerHTML = markup;
      // The observer of the label, then the update.
      await new Promise((later) => setTimeout(later));
      await element.updateComplete;

      expect([readScreen(element), find(element, 'button').offsetHeight]).toEqual([words, height]);
    },
  );

  test('may move an element into another document and back, and it stays styled', async () => {
    using gateway = new FakeGateway();
    const element = mountLaunch(gateway);
    await element.updateComplete;
    const frame = document.createElement('iframe');
    document.body.append(frame);
    const readHeight = () => getComputedStyle(find(element, 'button')).minBlockSize;

    frame.contentDocument?.body.append(element);
    const there = readHeight();
    document.body.append(element);

    expect([there, readHeight()]).toEqual(['44px', '44px']);
  });

  test('keeps its own markup, styles, storage and cookies as they were', async () => {
    using gateway = new FakeGateway();
    const readPage = () => ({
      head: document.head.outerHTML,
      sheets: [...document.styleSheets, ...document.adoptedStyleSheets].length,
      stored: localStorage.length + sessionStorage.length,
      cookies: document.cookie,
    });
    const before = readPage();
    const markup =
      '<b id="own">Open</b><i slot="icon">*</i><p slot="footer">Help</p><p slot="error">Sorry</p>';

    const element = mountLaunch(gateway, { orderId: ORDER_ID, live: 'always', mode: 'redirect' });
    element.innerHTML = markup;
    await untilLabel(element, 'Transit customer');
    gateway.portalResult = null;
    await element.launch();
    await element.updateComplete;

    expect(element.lastError?.code).toBe('GATEWAY_ERROR');
    expect(element.innerHTML).toBe(markup);
    expect(readPage()).toEqual(before);
  });

  test('may set a property before the upgrade: it is newer than the attribute', () => {
    using _gateway = new FakeGateway();
    const element = document.implementation.createHTMLDocument().createElement('portal-order-status');
    element.setAttribute('order-id', ORDER_ID);
    Object.assign(element, { orderId: OTHER_ID });

    document.body.append(element);
    const before = element.orderId;
    element.setAttribute('order-id', ORDER_ID);

    expect([before, element.orderId]).toEqual([OTHER_ID, ORDER_ID]);
  });

  test('may change its language', async () => {
    using gateway = new FakeGateway();
    const element = mountLaunch(gateway);
    await element.updateComplete;

    document.body.lang = 'de';
    // Observers are notified in a microtask of their own.
    await Promise.resolve();
    await element.updateComplete;
    const shown = readScreen(element);
    document.body.removeAttribute('lang');

    expect(shown).toBe('Patientenportal öffnen');
  });

  test('may forbid line breaks around them: a long word stays inside', async () => {
    using gateway = new FakeGateway();
    gateway.order = { ...kitAfter(3), labTest: { name: 'Donaudampfschifffahrtsgesellschaft'.repeat(4) } };
    const box = document.createElement('div');
    box.style.cssText = 'inline-size:280px;white-space:nowrap';
    document.body.append(box);
    const { endpoint } = gateway;
    const element = mount(
      'portal-launch',
      { endpoint, tokenProvider: () => 'token', orderId: ORDER_ID, live: 'always', privacy: 'full' },
      box,
    );

    await untilLabel(element, 'Transit customer');

    expect(find(element, '.frame').scrollWidth).toBeLessThanOrEqual(280);
  });
});

describe('a page that makes mistakes', () => {
  test('receives the error of a statusLabel that throws, and every element still shows its status', async () => {
    using gateway = new FakeGateway();
    const tokenProvider = async () => 'token';
    const mistake = new Error('No words.');
    const errors = new Set<unknown>();
    const onError = (event: ErrorEvent) => {
      errors.add(event.error);
      event.preventDefault();
    };
    // Before the listeners of the test runner.
    window.addEventListener('error', onError, { capture: true });
    const statusLabel = () => {
      throw mistake;
    };
    const first = mountStatus(gateway, { tokenProvider, statusLabel });
    const second = mountStatus(gateway, { tokenProvider });
    await untilLabel(second, 'Transit customer');

    gateway.push('CHANGED', kitAfter(4));
    await Promise.all([first.updateComplete, second.updateComplete]);

    window.removeEventListener('error', onError, { capture: true });
    expect([readScreen(first), readScreen(second)]).toEqual([
      'With customer Follow the instructions in the kit, then send your sample to the lab.',
      'With customer Follow the instructions in the kit, then send your sample to the lab.',
    ]);
    expect([...errors]).toEqual([mistake]);
  });

  test('may leave a text undefined', async () => {
    using gateway = new FakeGateway();
    const strings = { open: undefined } as unknown as { open: string };
    const element = mountLaunch(gateway, { strings });

    await element.updateComplete;

    expect(readScreen(element)).toBe('Open patient portal');
  });
});

describe('a status named like what every object has', () => {
  test('is shown in the words of the gateway', async () => {
    using gateway = new FakeGateway();
    const order = kitAfter(3);
    gateway.order = { ...order, status: { ...order.status, step: 'constructor', label: 'Odd' } };
    const element = mountStatus(gateway);

    await untilLabel(element, 'Odd');

    expect(readScreen(element)).toBe('Odd');
  });
});

describe('a person on the keyboard', () => {
  test('keeps the focus when the button that tries again is gone', async () => {
    using gateway = new FakeGateway();
    let isReady = false;
    const tokenProvider = async () => {
      if (!isReady) throw new Error('Not yet.');
      return 'token';
    };
    gateway.order = kitAfter(3);
    const element = mountStatus(gateway, { tokenProvider });
    await nextEvent(element, 'portal-error');
    await element.updateComplete;
    isReady = true;

    find(element, '.retry').focus();
    find(element, '.retry').click();
    await element.updateComplete;
    const meanwhile = document.activeElement;
    await untilLabel(element, 'Transit customer');

    expect([meanwhile, document.activeElement]).toEqual([element, element]);
  });
});
