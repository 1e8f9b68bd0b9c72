import { setAttributes } from './dom.ts';
import { MASKED } from './masks.ts';

const COALESCE_MS = 1000;

/** `ariaNotify` is newer than the DOM types. */
type AriaNotifier = Element & { ariaNotify?: (text: string) => void };

let region: HTMLElement | null = null;
/** The last word of each speaker: who says two things within a second is heard with the second. */
const pending = new Map<object, string>();

/** Says a text to people who use a screen reader. One voice per page; what comes within a second is said at once. */
export function announce(speaker: object, text: string): void {
  if (pending.size === 0) {
    // The region has to stand in the page before its text changes, or nothing is said.
    if (!canNotify()) region = ensureRegion(region);
    // The same words once more are heard only where something else stood between.
    if (region) region.textContent = '';
    setTimeout(speak, COALESCE_MS);
  }
  pending.set(speaker, text);
}

function canNotify(): boolean {
  return 'ariaNotify' in Element.prototype;
}

function speak(): void {
  const text = [...new Set(pending.values())].join(' ');
  pending.clear();
  if (region) region.textContent = text;
  else (document.documentElement as AriaNotifier).ariaNotify?.(text);
}

/** Light DOM, hidden through the CSSOM: a style attribute in markup would break a strict CSP. */
function ensureRegion(known: HTMLElement | null): HTMLElement {
  if (known?.isConnected) return known;
  const node = document.createElement('div');
  setAttributes(node, { role: 'status', ...MASKED });
  // Word for word as in styles.css, which compresses well.
  node.style.cssText =
    'clip-path:inset(50%);white-space:nowrap;block-size:1px;inline-size:1px;position:absolute;overflow:hidden';
  document.body.append(node);
  return node;
}
