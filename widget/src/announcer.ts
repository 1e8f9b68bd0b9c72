const COALESCE_MS = 1000;

/** `ariaNotify` is newer than the DOM types. */
type AriaNotifier = Element & { ariaNotify?: (text: string) => void };

let region: HTMLElement | null = null;
let pending: string[] = [];

/** Says a text to people who use a screen reader. One voice per page; what comes within a second is said at once. */
export function announce(text: string): void {
  if (pending.length === 0) {
    // The region has to stand in the page before its text changes, or nothing is said.
    if (!canNotify()) region = ensureRegion(region);
    setTimeout(speak, COALESCE_MS);
  }
  pending = [...pending.filter((other) => other !== text), text];
}

function canNotify(): boolean {
  return 'ariaNotify' in Element.prototype;
}

function speak(): void {
  const text = pending.join(' ');
  pending = [];
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
