/** A browser as one person uses it, driven in the way its maker offers. */
export interface Browser {
  /** As its maker writes it. */
  readonly version: string;
  /** Opens an address as somebody who was never there: nothing is stored, and no other tab is open. */
  readonly visit: (address: string) => Promise<Tab>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

export interface Tab {
  /** Clicks the button or link that has this text, as a person does; also in a shadow root. */
  readonly click: (text: string) => Promise<void>;
  /** The value of a JavaScript expression in the page, as JSON. */
  readonly read: (expression: string) => Promise<unknown>;
  readonly goBack: () => Promise<void>;
  /** The tabs of this visit, without this one. */
  readonly otherTabs: () => Promise<readonly Tab[]>;
  /** Ends the visit: closes its tabs and drops what was stored. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/** An expression in the page: the button or link that a person can see and that has this text; null while there is none. */
export function findControl(text: string): string {
  return `(() => {
    const find = (root) => {
      for (const element of root.querySelectorAll('*')) {
        const isControl = element.matches('button, a') && element.checkVisibility();
        if (isControl && element.innerText.includes(${JSON.stringify(text)})) return element;
        const inside = element.shadowRoot && find(element.shadowRoot);
        if (inside) return inside;
      }
      return null;
    };
    return find(document);
  })()`;
}
