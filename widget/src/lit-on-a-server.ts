/**
 * In place of Lit where there is no page: there nothing is ever drawn, and Lit's own build for servers would define a
 * global `customElements`. Everything that the elements take from Lit, doing nothing.
 */
export const LitElement = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/** As Lit's own on a server: nothing is registered. */
export const isServer = true;

const nothingAtAll = (): null => null;

export {
  nothingAtAll as adoptStyles,
  nothingAtAll as css,
  nothingAtAll as html,
  nothingAtAll as nothing,
  nothingAtAll as render,
  nothingAtAll as unsafeCSS,
};
