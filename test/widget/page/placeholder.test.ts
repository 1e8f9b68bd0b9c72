import { afterAll, afterEach, describe, expect, test } from 'vitest';
import '../../../widget/src/results/define.ts';
import placeholder from '../../../widget/src/placeholder.css?raw';

/** A page in which the module never comes, with the style sheet that keeps the place. */
function openPageWithoutModule(markup: string, css: string): HTMLElement {
  const frame = document.createElement('iframe');
  document.body.append(frame);
  const page = frame.contentDocument;
  if (!page) throw new Error('A frame of this origin has a document.');
  const sheet = page.createElement('style');
  sheet.textContent = placeholder + css;
  page.head.append(sheet);
  page.body.innerHTML = markup;
  return page.body;
}

const heightOf = (body: HTMLElement) => body.querySelector(':not(a)')?.getBoundingClientRect().height;

/** No token ever comes, so that the elements stay as they are first. */
const page = new AbortController();
document.addEventListener('portal-token-request', (event) => event.respondWith(new Promise(() => {})), {
  signal: page.signal,
});
afterAll(() => page.abort());

afterEach(() => {
  document.body.replaceChildren();
  document.adoptedStyleSheets = [];
});

const ELEMENTS = [
  '<portal-launch></portal-launch>',
  '<portal-launch order-id="1"></portal-launch>',
  '<portal-launch order-id="1" status="none"></portal-launch>',
  '<portal-launch order-id="1" status="steps"></portal-launch>',
  '<portal-launch order-id="1"><a href="/help">Ask for your link</a></portal-launch>',
  '<portal-order-status></portal-order-status>',
  '<portal-order-status order-id="1"></portal-order-status>',
  '<portal-order-status order-id="1" status="steps"></portal-order-status>',
  '<portal-results></portal-results>',
  '<portal-results order-id="1"></portal-results>',
];

const FONTS = ['16px / 2 serif', '12px sans-serif', '30px sans-serif'];

describe('before the module is loaded, the page reserves the final size for', () => {
  test.each(ELEMENTS.flatMap((element) => FONTS.map((font) => [element, font] as const)))(
    '%s in %s',
    async (element, font) => {
      const css = `body { font: ${font}; --portal-gap: 20px }`;
      const before = heightOf(openPageWithoutModule(element, css));
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(css);
      document.adoptedStyleSheets = [sheet];
      const there = document.createElement('div');
      there.innerHTML = element.replace(
        'order-id',
        'endpoint="https://gateway.test/graphql" live="off" order-id',
      );
      document.body.append(there);
      await new Promise((resolve) => requestAnimationFrame(resolve));

      expect(before).toBeCloseTo(heightOf(there) ?? 0, 0);
    },
  );
});
