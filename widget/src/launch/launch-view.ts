import { html, nothing } from 'lit';
import type { Drawing } from '../elements/drawing.ts';
import type { Strings } from '../words/strings.ts';

/** Everything that the button, or the link that replaces it, is drawn from. */
export interface LaunchView {
  /** `link`: the browser blocked the tab. With an address there is a link to it, without one the person presses the button again. */
  readonly phase: 'idle' | 'opening' | 'link';
  readonly linkUrl: string | null;
  readonly isDisabled: boolean;
  readonly hasError: boolean;
  readonly texts: Strings;
  readonly launch: () => unknown;
  readonly followLink: (event: MouseEvent) => unknown;
}

/** The one thing to press. `host` is the element whose children are its label. */
export function drawLaunch(view: LaunchView, host: Element): Drawing {
  return view.linkUrl ? drawLink(view, view.linkUrl) : drawButton(view, host);
}

function drawButton(view: LaunchView, host: Element): Drawing {
  const { texts, phase, isDisabled, hasError } = view;
  const isOpening = phase === 'opening';
  const names = isOpening ? 'button opening' : 'button';
  const words = phase === 'link' ? drawBlocked(texts) : drawWords(view, host);
  const loading = html`<slot name="loading">${texts.opening}</slot>`;
  return html`<button
    class=${names}
    part=${names}
    type="button"
    ?disabled=${isDisabled}
    aria-disabled=${isOpening ? 'true' : nothing}
    aria-describedby=${hasError ? 'error' : nothing}
    data-address=${readAddress()}
    @click=${view.launch}
    >${drawLabel(html`${drawLayer(words)}${drawLayer(loading)}`)}</button
  >`;
}

function drawLink({ texts, followLink }: LaunchView, href: string): Drawing {
  return html`<a
    class="button link"
    part="button link"
    href=${href}
    target="_blank"
    rel="noreferrer"
    data-address=${readAddress()}
    @click=${followLink}
    @auxclick=${followLink}
    >${drawLabel(drawLayer(drawBlocked(texts)))}</a
  >`;
}

function drawBlocked({ openLink }: Strings): Drawing {
  return html`<slot name="blocked">${openLink}</slot>`;
}

/** The host's words, else ours. Comments, line breaks and empty paragraphs, which frameworks and content systems insert, are no words. */
function drawWords({ texts }: LaunchView, host: Element): Drawing {
  const nodes = [...host.childNodes];
  // A plain link is for browsers without scripts. Here it only gives its words.
  const link = nodes.find((node) => node instanceof HTMLAnchorElement && !node.slot);
  const isFilled = nodes.some((node) =>
    node instanceof Element
      ? node !== link && !node.slot && !isBlank(node)
      : node instanceof Text && node.data.trim(),
  );
  const words = isFilled ? html`<slot class="label-slot"></slot>` : link?.textContent?.trim() || texts.open;
  return html`<span>${words}</span>`;
}

/** A line break or an empty paragraph. */
function isBlank(node: Element): boolean {
  return node.matches('br,p') && !node.textContent.trim() && !node.querySelector(':not(br)');
}

/** Both labels lie on one another, so that the button never changes its size. */
function drawLabel(layers: Drawing): Drawing {
  return html`<slot name="icon"></slot
    ><span class="button-label" part="button-label">${layers}</span
    ><svg class="away-icon" part="away-icon" viewBox="0 0 16 16" aria-hidden="true"><path d="M6 3h7v7M13 3 4 12" /></svg>`;
}

function drawLayer(words: Drawing): Drawing {
  return html`<span class="layer" part="layer">${words}</span>`;
}

/** Where the button is found again, for paper. Without the query, which may be a secret. */
function readAddress(): string {
  return location.host + location.pathname;
}
