/** The nearest matching element: this one or an ancestor, through shadow roots. */
export function findAround(element: Element, selector: string): Element | null {
  const root = element.getRootNode();
  return element.closest(selector) ?? (root instanceof ShadowRoot ? findAround(root.host, selector) : null);
}
