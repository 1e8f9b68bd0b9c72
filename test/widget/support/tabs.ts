/** Records the tabs the page opens; `refuse` makes the browser hold every new tab back. */
export class OpenedTabs implements Disposable {
  readonly tabs: Window[] = [];
  refuse = false;
  /** Looks at a new tab before the page does. */
  prepare: (tab: Window) => void = () => {};
  readonly #open = window.open;

  constructor() {
    window.open = (...args) => {
      if (this.refuse) return null;
      const tab = this.#open.apply(window, args);
      if (tab) this.tabs.push(tab);
      if (tab) this.prepare(tab);
      return tab;
    };
  }

  get newest(): Window {
    const tab = this.tabs.at(-1);
    if (!tab) throw new Error('No tab was opened.');
    return tab;
  }

  [Symbol.dispose](): void {
    window.open = this.#open;
    for (const tab of this.tabs) tab.close();
  }
}
