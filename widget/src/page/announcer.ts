import { findAround } from './find-around.ts';
import { MASKED, setMarks } from './masks.ts';

const COALESCE_MS = 900;
/** Screen readers announce a change only in a region that has been in the page for a moment. */
const SETTLE_MS = 100;

/** `ariaNotify` is newer than the DOM types. */
type AriaNotifier = Element & { ariaNotify?: (text: string) => void };

let region: HTMLElement | null = null;
let lang = '';
/** The last text of each speaker: of two texts within a second only the second is announced. */
const pending = new Map<Element, string>();

/** Announces a text in this language to screen readers. A page has one live region; texts within a second are announced together. */
export function announce(speaker: Element, text: string, language: string): void {
  if (!pending.size) setTimeout(speak, COALESCE_MS, speaker);
  lang = language;
  pending.set(speaker, text);
}

function speak(speaker: Element): void {
  const text = [...new Set(pending.values())].join(' ');
  pending.clear();
  region = findRegion(speaker);
  if (region) {
    // A repeated text is announced only if the region had another text in between.
    region.textContent = '';
    region.lang = lang;
  }
  setTimeout(() => {
    if (region) region.textContent = text;
    else (document.documentElement as AriaNotifier).ariaNotify?.(text);
  }, SETTLE_MS);
}

/**
 * The page's live region; null where the browser can announce a text by itself. It is in the dialog of its speaker, if
 * there is one: while a dialog is open, screen readers ignore the rest of the page.
 */
function findRegion(speaker: Element): HTMLElement | null {
  if ('ariaNotify' in Element.prototype) return null;
  const node = region ?? createRegion();
  const place = findAround(speaker, 'dialog[open],[role*=dialog]') ?? document.body;
  if (node.parentNode !== place) place.append(node);
  return node;
}

/** In light DOM, hidden through the CSSOM: a style attribute in markup would break a strict CSP. */
function createRegion(): HTMLElement {
  const node = document.createElement('div');
  node.setAttribute('role', 'status');
  // Libraries that hide the page behind a dialog recognize a live region by this attribute.
  node.setAttribute('aria-live', 'polite');
  setMarks(node, MASKED, true);
  // Word for word as in styles.css, which compresses well.
  node.style.cssText =
    'clip-path:inset(50%);white-space:nowrap;block-size:1px;inline-size:1px;position:absolute;overflow:hidden';
  return node;
}
