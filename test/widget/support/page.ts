import { onTestFinished } from 'vitest';
import '../../../widget/src/results/define.ts';
import type { PortalEventDetails } from '../../../widget/src/page/events.ts';
import type { PortalElement } from '../../../widget/src/status/portal-element.ts';

/** Puts an element on the page with its properties set before it is connected. */
export function mount<
  Name extends 'portal-launch' | 'portal-order-status' | 'portal-results' | 'portal-gateway',
>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]>,
  parent: Element = document.body,
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  Object.assign(element, properties);
  parent.append(element);
  return element;
}

/** The next event of this name. */
export function nextEvent<Name extends keyof PortalEventDetails>(
  target: EventTarget,
  name: Name,
): Promise<CustomEvent<PortalEventDetails[Name]>> {
  return new Promise((resolve) => {
    target.addEventListener(name, (event) => resolve(event as CustomEvent<PortalEventDetails[Name]>), {
      once: true,
    });
  });
}

/** Settles when the element shows this label. */
export async function untilLabel(element: PortalElement, label: string): Promise<void> {
  while (element.order?.status.label !== label) await nextEvent(element, 'portal-status');
  await element.updateComplete;
}

/** Settles when the element is in this state of connection. */
export async function untilConnection(element: PortalElement, connection: string): Promise<void> {
  while (element.connection !== connection) await nextEvent(element, 'portal-connection');
  await element.updateComplete;
}

/**
 * What a person reads inside the element, with single spaces. Slots count with what is shown in them; ages do not count,
 * because they differ from day to day.
 */
export function readScreen(element: Element): string {
  return (element.shadowRoot ? collectText(element.shadowRoot) : '').replace(/\s+/g, ' ').trim();
}

function collectText(node: Node): string {
  if (node instanceof Text) return node.data;
  if (node instanceof HTMLTimeElement) return '';
  if (node instanceof HTMLSlotElement) {
    const assigned = node.assignedNodes();
    return (assigned.length > 0 ? assigned : [...node.childNodes]).map(collectText).join(' ');
  }
  if (node instanceof Element && isHidden(getComputedStyle(node))) return '';
  return [...node.childNodes].map(collectText).join(' ');
}

function isHidden({ visibility, display }: CSSStyleDeclaration): boolean {
  return visibility === 'hidden' || display === 'none';
}

/** The one element inside that fits. */
export function find(element: Element, selector: string): HTMLElement {
  const found = element.shadowRoot?.querySelector<HTMLElement>(selector);
  if (!found) throw new Error(`Nothing fits ${selector}.`);
  return found;
}

/** Begins to record; the function takes the texts that were put into a live region since its last call. */
export function recordAnnouncements(): () => readonly string[] {
  const said: string[] = [];
  const note = (records: readonly MutationRecord[]) => {
    for (const { target, addedNodes } of records) {
      if (!(target instanceof Element) || !target.matches('[role=status]')) continue;
      for (const { textContent } of addedNodes) said.push(textContent ?? '');
    }
  };
  const observer = new MutationObserver(note);
  observer.observe(document, { childList: true, subtree: true });
  onTestFinished(() => observer.disconnect());
  return () => {
    note(observer.takeRecords());
    return said.splice(0);
  };
}
