import { css } from 'lit';

/**
 * Font and text colour are the page's; everything else follows from a few custom properties. Muted tones are
 * mixed from the text colour, so they are readable on any background the page gives.
 */
export const styles = css`
  :host {
    --_accent: var(--portal-accent, light-dark(#0b5f7d, #7fcbe6));
    --_on-accent: var(--portal-on-accent, light-dark(#fff, #06222e));
    --_good: var(--portal-good, light-dark(#1b7048, #7dd3a4));
    --_warn: var(--portal-attention, light-dark(#8a5300, #f4c06a));
    --_bad: var(--portal-bad, light-dark(#a5282f, #ff9f9a));
    --_muted: var(--portal-muted, color-mix(in srgb, currentColor 68%, transparent));
    --_line: var(--portal-line, color-mix(in srgb, currentColor 22%, transparent));
    --_mark: 1.5rem;
    display: inline-block;
    max-inline-size: 100%;
    vertical-align: top;
    font: inherit;
    color: inherit;
    text-align: start;
    line-height: 1.4;
  }
  :host([hidden]) { display: none }
  *, ::before { box-sizing: border-box }
  p, ol { margin: 0; padding: 0 }

  .launch, .status { display: grid; gap: var(--portal-gap, 1rem); justify-items: start }

  .button, .retry {
    font: inherit;
    cursor: pointer;
    border-radius: var(--portal-radius, .625rem);
    transition: background-color .15s, box-shadow .15s;
  }
  .button {
    display: inline-flex;
    align-items: center;
    justify-content: center;
    gap: .5rem;
    min-block-size: max(44px, 2.75rem);
    padding: .5rem 1.125rem;
    border: 1px solid transparent;
    background: var(--_accent);
    color: var(--_on-accent);
    font-weight: 600;
    text-decoration: none;
    box-shadow: 0 1px 2px rgb(0 0 0 / .16);
  }
  .button:hover { background: color-mix(in srgb, var(--_accent) 88%, black) }
  .button:active { box-shadow: none }
  .button:disabled { cursor: not-allowed; opacity: .55; box-shadow: none }
  .button[aria-disabled] { cursor: progress }
  :focus-visible { outline: 3px solid var(--_accent); outline-offset: 3px }

  /* Both labels lie on one another, so that the button never changes its size. */
  .label { display: inline-grid }
  .label > * { grid-area: 1 / 1; text-align: center }
  .button:not(.opening) .label > :nth-child(2), .opening .label > :first-child { visibility: hidden }
  .away { inline-size: 1em; block-size: 1em; fill: none; stroke: currentColor; stroke-width: 1.75; opacity: .85 }
  .opening .away { animation: breathe 1.2s ease-in-out infinite alternate }
  :dir(rtl) .away { transform: scaleX(-1) }

  .retry {
    min-block-size: 44px;
    padding: .25rem 1rem;
    margin-block-start: .375rem;
    background: none;
    color: inherit;
    border: 1px solid var(--_line);
    font-weight: 600;
    justify-self: start;
  }
  .retry:hover { background: color-mix(in srgb, currentColor 7%, transparent) }

  .text, .steps, .skeleton { min-inline-size: min(100%, 13rem) }
  .text, .step { display: grid; grid-template-columns: var(--_mark) 1fr; column-gap: .75rem; align-items: start }
  .words { display: grid; justify-items: start; align-content: start; min-inline-size: 0; overflow-wrap: anywhere }
  .headline, .test { font-weight: 600 }
  .text.muted { display: block }
  .muted, .detail, .freshness, .note { color: var(--_muted) }
  .muted, .freshness, .note { font-size: .875em }
  .freshness { min-block-size: 1.4em }
  .freshness.live::before {
    content: '';
    display: inline-block;
    inline-size: .5em;
    block-size: .5em;
    margin-inline-end: .45em;
    border-radius: 50%;
    background: var(--_good);
    vertical-align: .08em;
  }
  .badge {
    margin-block: .25rem;
    padding: .1em .6em;
    border-radius: 1em;
    border: 1px solid currentColor;
    font-size: .8125em;
    font-weight: 600;
    color: var(--_warn);
  }

  .mark { inline-size: var(--_mark); block-size: var(--_mark); fill: none; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round }
  .mark { --_tone: var(--_line); stroke: var(--_tone); margin-block-start: calc((1.4em - var(--_mark)) / 2) }
  .mark.done { --_tone: var(--_good) }
  .mark.current, .mark.reached { --_tone: var(--_accent) }
  .mark.attention { --_tone: var(--_warn) }
  .mark.bad { --_tone: var(--_bad) }
  .mark.current circle:not(.disc) { fill: var(--_tone) }
  .mark.current .disc, .mark.attention .disc, .mark.bad .disc { fill: color-mix(in srgb, var(--_tone) 12%, transparent) }
  .mark.done .disc { fill: var(--_tone) }
  .mark.done path { stroke: var(--portal-on-good, light-dark(#fff, #0c2418)) }
  .mark.reached .disc { stroke-dasharray: 2.4 3.25 }

  .steps { list-style: none; display: grid; inline-size: 100% }
  .step { position: relative; padding-block-end: 1.125rem; min-block-size: 3rem }
  .step:last-child { padding-block-end: 0; min-block-size: 0 }
  .step:not(:last-child)::before {
    content: '';
    position: absolute;
    inset-block: calc((1.4em + var(--_mark)) / 2 + .1875rem) calc((var(--_mark) - 1.4em) / 2 + .1875rem);
    inset-inline-start: calc(var(--_mark) / 2 - 1px);
    inline-size: 2px;
    border-radius: 1px;
    background: var(--_line);
  }
  .step:not(:last-child).done::before { background: var(--_good) }
  .step.current .name { font-weight: 600 }
  .step.ahead .name, .step.reached .name { color: var(--_muted) }
  .step .detail { color: inherit }

  .bone { display: block; inline-size: 6rem; block-size: .75em; margin-block: .325em; border-radius: .375em }
  .bone { background: color-mix(in srgb, currentColor 11%, transparent); animation: breathe 1.2s ease-in-out infinite alternate }
  .bone:not(.long, .mark) { font-size: .875em }
  .bone.long { inline-size: 9rem }
  .bone.mark { inline-size: var(--_mark); block-size: var(--_mark); margin-block-end: 0; border-radius: 50% }
  .skeleton { display: grid; gap: 1.125rem }

  .hidden { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }

  @keyframes breathe { to { opacity: .45 } }
  @media (prefers-reduced-motion: reduce) { * { animation: none !important; transition: none !important } }
  @media (forced-colors: active) {
    .button { border-color: ButtonText }
    .mark, .mark.current circle:not(.disc) { stroke: CanvasText }
    .mark.current circle:not(.disc) { fill: CanvasText }
    .step:not(:last-child)::before, .step:not(:last-child).done::before { background: CanvasText }
    .mark.done .disc { fill: CanvasText }
    .mark.done path { stroke: Canvas }
    .bone { background: CanvasText; opacity: .2; animation: none }
  }
`;
