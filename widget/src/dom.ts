/** Description of one element, made by `h`. */
export interface Drawing {
  readonly tag: string;
  readonly attributes: Attributes;
  readonly children: readonly Child[];
}

/** Null and false draw nothing and keep their position, so that the elements after them are reused. */
export type Child = Drawing | string | null | false;

type Value = string | boolean | null | undefined | ((event: MouseEvent) => unknown);

/** Attributes by name; null and false are absent, true is empty. A function is a listener, as in `onclick`. */
type Attributes = Readonly<Record<string, Value>>;

/** The attributes with which an element was last drawn. */
const drawn = new WeakMap<Node, Attributes>();

/**
 * Describes an element. `names` are its classes and its parts, so that a host can style everything that we style. No
 * HTML is parsed: text can only become text, and the page needs no Trusted Types policy.
 */
export function h(
  tag: string,
  names: string,
  attributes: Attributes = {},
  ...children: readonly Child[]
): Drawing {
  return { tag, attributes: names ? { class: names, part: names, ...attributes } : attributes, children };
}

/** The nearest matching element: this one or an ancestor, through shadow roots. */
export function findAround(element: Element, selector: string): Element | null {
  const root = element.getRootNode();
  return element.closest(selector) ?? (root instanceof ShadowRoot ? findAround(root.host, selector) : null);
}

/** Updates a node's children in place: an element that stays keeps its focus. */
export function draw(parent: Node, children: readonly Child[]): void {
  children.forEach((child, index) => {
    const known = parent.childNodes[index];
    const node = known && isSame(known, child) ? known : create(child);
    if (!known) parent.appendChild(node);
    else if (node !== known) parent.replaceChild(node, known);

    if (node instanceof Element && child && typeof child === 'object') {
      setAttributes(node, child.attributes);
      draw(node, child.children);
    } else if (node.nodeValue !== child) node.nodeValue = String(child || '');
  });
  while (parent.childNodes.length > children.length) parent.lastChild?.remove();
}

function isSame(node: Node, child: Child): boolean {
  const tag = child && typeof child === 'object' ? child.tag : '#text';
  return node.nodeName.toLowerCase() === tag;
}

function create(child: Child): Node {
  if (!child || typeof child === 'string') return document.createTextNode('');
  return /svg|path|circle/.test(child.tag)
    ? document.createElementNS('http://www.w3.org/2000/svg', child.tag)
    : document.createElement(child.tag);
}

/** Updates an element's attributes; those that were set elsewhere stay. */
export function setAttributes(element: Element, next: Attributes): void {
  const before = drawn.get(element) ?? {};
  drawn.set(element, next);
  for (const name of Object.keys({ ...before, ...next })) {
    const value = next[name];
    if (value === before[name]) continue;
    if (name.startsWith('on')) Reflect.set(element, name, value ?? null);
    else if (value === undefined || value === null || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}
