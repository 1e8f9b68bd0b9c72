import { type Child, type Drawing, h } from './dom.ts';
import { EXCLUDED } from './masks.ts';
import { drawSlot } from './status-view.ts';
import type { Strings } from './strings.ts';

/** Everything that the button, or the link that replaces it, is drawn from. */
export interface LaunchView {
  readonly isOpening: boolean;
  /** The browser blocked the tab: with an address there is a link to it, without one the person presses the button again. */
  readonly isBlocked: boolean;
  readonly linkUrl: string | null;
  readonly isDisabled: boolean;
  readonly hasError: boolean;
  readonly texts: Strings;
  readonly launch: () => unknown;
  readonly followLink: (event: MouseEvent) => unknown;
  readonly slotChanged: () => unknown;
}

/** The one thing to press. `host` is the element whose children are its label. */
export function drawLaunch(view: LaunchView, host: Element): Drawing {
  return view.linkUrl ? drawLink(view, view.linkUrl) : drawButton(view, host);
}

function drawButton(view: LaunchView, host: Element): Drawing {
  const { texts, isOpening, isBlocked, isDisabled, hasError } = view;
  const words = isBlocked ? drawSlot('blocked', texts.openLink) : drawWords(view, host);
  return h(
    'button',
    isOpening ? 'button opening' : 'button',
    {
      type: 'button',
      disabled: isDisabled,
      'aria-disabled': isOpening && 'true',
      'aria-describedby': hasError && 'error',
      onclick: view.launch,
    },
    ...drawLabel(words, drawSlot('loading', texts.opening)),
  );
}

function drawLink({ texts, followLink }: LaunchView, href: string): Drawing {
  return h(
    'a',
    'button link',
    {
      ...EXCLUDED,
      class: `button link ${EXCLUDED.class}`,
      href,
      target: '_blank',
      rel: 'noreferrer',
      onclick: followLink,
      onauxclick: followLink,
    },
    ...drawLabel(drawSlot('blocked', texts.openLink), null),
  );
}

/** The host's words, else ours. Beside the slot and not in it: a line break alone counts as filling a slot, and comments of frameworks are no words. */
function drawWords({ texts, slotChanged }: LaunchView, host: Element): Drawing {
  const nodes = [...host.childNodes];
  // A plain link is for browsers without scripts. Here it only gives its words, from a slot that is never drawn.
  const link = nodes.find((node) => node instanceof HTMLAnchorElement && /^(link)?$/.test(node.slot));
  if (link instanceof Element) link.slot = 'link';
  const isFilled = nodes.some((node) =>
    node instanceof Element ? !node.slot : node instanceof Text && node.data.trim(),
  );
  const words = !isFilled && (link?.textContent?.trim() || texts.open);
  return h('span', '', {}, h('slot', '', { onslotchange: slotChanged }), words);
}

/** Both labels lie on one another, so that the button never changes its size. */
function drawLabel(...labels: readonly Child[]): readonly Drawing[] {
  const layers = labels.map((label) => label && h('span', 'layer', {}, label));
  const arrow = h('path', '', { d: 'M6 3h7v7M13 3 4 12' });
  return [
    drawSlot('icon', null),
    h('span', 'button-label', {}, ...layers),
    h('svg', 'away-icon', { viewBox: '0 0 16 16', 'aria-hidden': 'true' }, arrow),
  ];
}
