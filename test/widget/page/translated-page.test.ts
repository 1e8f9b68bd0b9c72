import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { FakeGateway } from '../support/fake-gateway.ts';
import { mountLaunch } from '../support/launch.ts';
import { mountStatus } from '../support/order-status.ts';
import { kitAfter, ORDER_ID } from '../support/orders.ts';
import { find, readScreen, untilLabel } from '../support/page.ts';
import { complete, mountResults, untilPhase } from '../support/results.ts';

/** How translators change a text: in place, by an element of their own, or the whole block by other markup. */
const translators = {
  'the data of a text': (text: Text) => {
    text.data = `[${text.data}]`;
  },
  'a text by an element': (text: Text) => {
    const font = document.createElement('font');
    font.textContent = `[${text.data}]`;
    text.replaceWith(font);
  },
  'a block by other markup': (text: Text) => {
    const block = text.parentElement;
    if (block) block.innerHTML = `[${block.textContent}]`;
  },
};

/** Translates everything in an element, its shadow tree too, once. */
function translate(element: Element, change: (text: Text) => void): void {
  const walker = document.createTreeWalker(element.shadowRoot ?? element, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    if (node instanceof Text && node.data.trim()) texts.push(node);
  for (const text of texts) change(text);
}

describe.each(Object.entries(translators))('a translator that replaces %s', (_, change) => {
  test('hides no later status', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway, { status: 'steps' });
    await untilLabel(element, 'Transit customer');
    translate(element, change);

    gateway.push('CHANGED', kitAfter(4));

    await vi.waitFor(() => expect(readScreen(element)).toContain('With customer'));
    expect(readScreen(element)).not.toContain('Transit');
  });

  test('hides no later results', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    gateway.resultAnswers.push({ data: { order: null } });
    const element = mountResults(gateway);
    await untilPhase(element, 'failed');
    translate(element, change);

    await element.retry();

    await vi.waitFor(() => expect(readScreen(element)).toContain('Cholesterol'));
    expect(readScreen(element)).not.toContain('[');
  });

  test('changes nothing about the button', async () => {
    using gateway = new FakeGateway();
    const element = mountLaunch(gateway, { orderId: ORDER_ID, live: 'always' });
    await untilLabel(element, 'Transit customer');
    gateway.portalResult = null;
    find(element, 'button').focus();
    translate(element, change);

    element.click();

    await vi.waitFor(() => expect(element.lastError?.code).toBe('GATEWAY_ERROR'));
    await element.updateComplete;
    expect(element.shadowRoot?.activeElement).toBe(find(element, 'button'));
    expect(readScreen(element)).toContain(element.lastError?.message);
  });
});

test.each(['no', 'yes'])(
  'a page that says translate="%s" says it for what is inside, too',
  async (translate) => {
    using gateway = new FakeGateway();
    document.body.setAttribute('translate', translate);
    onTestFinished(() => document.body.removeAttribute('translate'));
    const element = mountStatus(gateway);
    await untilLabel(element, 'Transit customer');

    expect(find(element, '.frame').translate).toBe(translate === 'yes');
  },
);

test('numbers and units of results are not for translators, and words are', async () => {
  using gateway = new FakeGateway();
  gateway.order = complete();
  const element = mountResults(gateway);
  await untilPhase(element, 'ready');
  await element.updateComplete;

  const texts = [...(element.shadowRoot?.querySelectorAll<HTMLElement>('.value,.unit') ?? [])];
  const read = (isFor: boolean) =>
    texts.filter((each) => each.translate === isFor).map((each) => each.textContent);
  expect(read(true)).toEqual(['Negative', 'Positive', 'Yellow']);
  expect(read(false)).toEqual(expect.arrayContaining(['231', 'mg/dL', '6.9', 'mmol/L']));
});
