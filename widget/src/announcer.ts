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
  node.setAttribute('role', 'status');
  Object.assign(node.style, {
    position: 'absolute',
    width: '1px',
    height: '1px',
    overflow: 'hidden',
    clipPath: 'inset(50%)',
    whiteSpace: 'nowrap',
  });
  document.body.append(node);
  return node;
}
