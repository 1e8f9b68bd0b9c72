import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { userEvent } from 'vitest/browser';
import { contrastOf } from '../support/colors.ts';
import { FakeGateway } from '../support/fake-gateway.ts';
import { mountLaunch } from '../support/launch.ts';
import { dressPage, undressPage } from '../support/look.ts';
import { mountStatus } from '../support/order-status.ts';
import { find, untilLabel } from '../support/page.ts';
import { STATES } from '../support/states.ts';
import { OpenedTabs } from '../support/tabs.ts';
import '../../../widget/src/languages/de.ts';

beforeEach(() => {
  document.title = 'A page';
});

afterEach(async () => {
  vi.restoreAllMocks();
  document.body.removeAttribute('style');
  await undressPage();
});

/** The widget's own elements on the page, and everything that is drawn inside them. */
function readDrawn(): readonly Element[] {
  const hosts = [...document.querySelectorAll('portal-launch, portal-order-status')];
  return hosts.flatMap((host) => [...(host.shadowRoot?.querySelectorAll('*') ?? [])]).filter(isVisible);
}

function isVisible(element: Element): boolean {
  return element.checkVisibility({ visibilityProperty: true }) && !element.closest('.hidden');
}

function hasWords(element: Element): boolean {
  return [...element.childNodes].some((node) => node instanceof Text && node.data.trim() !== '');
}

/** An inactive control needs no contrast. */
const isActive = (element: Element) => !element.closest(':disabled');

describe('on a dark page without a color-scheme, words keep a contrast of 4.5 and marks one of 3 in', () => {
  test.each(Object.entries(STATES))('%s', async (_, reach) => {
    using gateway = new FakeGateway();
    using _opened = new OpenedTabs();
    await dressPage('ltr', 'bare');
    await reach(gateway);

    const drawn = readDrawn();
    const words = drawn
      .filter((element) => hasWords(element) && isActive(element))
      .map((element) => [element.textContent, contrastOf(element)] as const);
    const marks = drawn.filter((element) => element.matches('svg.mark:not(.ahead)'));

    expect(words.filter(([, contrast]) => contrast < 4.5)).toEqual([]);
    expect(marks.map(contrastOf).filter((contrast) => contrast < 3)).toEqual([]);
  });
});

describe('in German, with text of 200 % in a column of 200 pixels, nothing breaks out of', () => {
  test.each(Object.entries(STATES))('%s', async (_, reach) => {
    using gateway = new FakeGateway();
    using _opened = new OpenedTabs();
    document.documentElement.lang = 'de';
    document.documentElement.style.fontSize = '200%';
    document.body.style.cssText = 'inline-size: 200px; margin: 0';
    await reach(gateway);

    const column = document.body.getBoundingClientRect();
    const outside = readDrawn().filter((element) => {
      const { left, right, width } = element.getBoundingClientRect();
      return width > 0 && (left < column.left - 0.5 || right > column.right + 0.5);
    });

    expect(column.width).toBe(200);
    expect(document.body.scrollWidth).toBeLessThanOrEqual(200);
    expect(outside.map((element) => element.outerHTML)).toEqual([]);
  });
});

test('larger text needs no more room for marks and gaps: in a column of 200 pixels 164 are for the words', async () => {
  using gateway = new FakeGateway();
  document.documentElement.style.fontSize = '200%';
  document.body.style.cssText = 'inline-size: 200px; margin: 0';
  const text = mountStatus(gateway);
  const steps = mountStatus(gateway, { status: 'steps' });
  await Promise.all([untilLabel(text, 'Transit customer'), untilLabel(steps, 'Transit customer')]);

  const [widthOfText, widthOfStep] = [text, steps].map((element) => find(element, '.words').offsetWidth);

  expect([widthOfText, widthOfStep]).toEqual([164, 164]);
});

describe('a button', () => {
  /** Everything that makes a look, of the button and of the arrow in it. */
  function lookOf(element: Element): string {
    const button = getComputedStyle(find(element, '.button'));
    const arrow = getComputedStyle(find(element, '.away-icon'));
    const { filter, opacity, textDecorationLine, outlineStyle, boxShadow } = button;
    return [filter, opacity, textDecorationLine, outlineStyle, boxShadow, arrow.borderTopStyle].join(' | ');
  }

  test('looks different at rest, under the pointer, focused, busy and disabled', async () => {
    using gateway = new FakeGateway();
    using _opened = new OpenedTabs();
    gateway.portalGate = new Promise(() => {});
    const element = mountLaunch(gateway);
    await element.updateComplete;
    const button = find(element, '.button');

    const atRest = lookOf(element);
    await userEvent.hover(button);
    const hovered = lookOf(element);
    await userEvent.unhover(button);
    await userEvent.tab();
    const focused = lookOf(element);
    button.blur();
    element.disabled = true;
    await element.updateComplete;
    const disabled = lookOf(element);
    element.disabled = false;
    void element.launch();
    await element.updateComplete;
    const busy = lookOf(element);

    const looks = { atRest, hovered, focused, disabled, busy };
    expect(new Set(Object.values(looks)).size, JSON.stringify(looks, null, 1)).toBe(5);
  });

  test.each(['light', 'dark', 'bare'] as const)(
    'has a focus ring of two colours, one of which is seen on any background (%s)',
    async (scheme) => {
      using gateway = new FakeGateway();
      await dressPage('ltr', scheme);
      const element = mountLaunch(gateway);
      await element.updateComplete;
      await userEvent.keyboard('{Shift}');
      element.focus();

      const { outlineColor, boxShadow } = getComputedStyle(find(element, '.button'));
      const ring = document.body.appendChild(document.createElement('p'));
      ring.style.color = outlineColor;
      ring.style.backgroundColor = boxShadow.replace(/ 0px.*/, '');

      expect(contrastOf(ring)).toBeGreaterThan(4.5);
    },
  );
});
