/** The nearest matching element: this one, or one around it where it is drawn, through slots and shadow roots. */
export function findAround(element: Element, selector: string): Element | null {
  const root = element.getRootNode();
  const around = element.assignedSlot ?? element.parentElement ?? (root instanceof ShadowRoot && root.host);
  if (element.matches(selector)) return element;
  return around ? findAround(around, selector) : null;
}
