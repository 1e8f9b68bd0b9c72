import { findAround } from './find-around.ts';
import { MASKED, setMarks } from './masks.ts';

const COALESCE_MS = 900;
/** Screen readers announce a change only in a region that has been in the page for a moment. */
const SETTLE_MS = 100;

let region: HTMLElement | undefined;
let lang = '';
/** The last text of each speaker: of two texts within a second only the second is announced. */
const pending = new Map<Element, string>();

/**
 * Announces a text in this language to screen readers. A page has one live region; texts within a second are announced
 * together. `ariaNotify` would need no region, but there are browsers that have it and screen readers that hear nothing of it.
 */
export function announce(speaker: Element, text: string, language: string): void {
  if (!pending.size) {
    placeRegion(speaker);
    setTimeout(speak, COALESCE_MS, speaker);
  }
  lang = language;
  pending.set(speaker, text);
}

function speak(speaker: Element): void {
  const text = [...new Set(pending.values())].join(' ');
  pending.clear();
  const node = placeRegion(speaker);
  // A repeated text is announced only if the region had another text in between.
  node.textContent = '';
  node.lang = lang;
  setTimeout(() => {
    node.textContent = text;
  }, SETTLE_MS);
}

/**
 * The page's live region. It is in the dialog of its speaker, if there is one: while a dialog is open, screen readers
 * ignore the rest of the page. Its text stays until the next is about to be spoken, because some read it late.
 */
function placeRegion(speaker: Element): HTMLElement {
  region ??= createRegion();
  const place = findAround(speaker, 'dialog[open],[role*=dialog]') ?? document.body;
  if (region.parentNode !== place) {
    region.textContent = '';
    place.append(region);
  }
  return region;
}

/** In light DOM, hidden through the CSSOM: a style attribute in markup would break a strict CSP. */
function createRegion(): HTMLElement {
  const node = document.createElement('div');
  node.setAttribute('role', 'status');
  // Libraries that hide the page behind a dialog recognize a live region by this attribute.
  node.setAttribute('aria-live', 'polite');
  setMarks(node, MASKED, true);
  // Shown although empty, because some pages hide empty elements. The rest is word for word as in styles.css, which
  // compresses well.
  node.style.cssText =
    'display:block;clip-path:inset(50%);white-space:nowrap;block-size:1px;inline-size:1px;position:absolute;overflow:hidden';
  return node;
}
