import { html, nothing, type TemplateResult } from 'lit';
import { type PortalErrorReport, reportError } from '../gateway/errors.ts';
import type { Strings } from '../words/strings.ts';

/** A piece of a view; `nothing` draws nothing. */
export type Drawing = TemplateResult | typeof nothing;

/** How a mark looks, and the line it is drawn with. */
const MARKS = {
  done: 'm5.5 10.5 3 3 6-7',
  current: 'M7 10a3 3 0 1 0 6 0a3 3 0 1 0-6 0',
  attention: 'M10 5.5v5.5M10 14.2v.1',
  bad: 'm7 7 6 6M13 7l-6 6',
  reached: '',
  ahead: '',
} as const;

export type Look = keyof typeof MARKS;

/** How an error is shown: `id` for a control that it describes, `retry` where there is no other button that tries again. */
interface ErrorView {
  readonly texts: Strings;
  readonly id?: string;
  readonly retry?: () => void;
}

/** An error in words for a patient, with a way on where trying again can help. */
export function drawError(error: PortalErrorReport, { texts, id, retry }: ErrorView): Drawing {
  // In the current language: the page may have changed or added it after the error.
  const { code, message, retryable } = reportError(error, texts);
  const slot = `error-${code.toLowerCase().replaceAll('_', '-')}`;
  const button =
    retry && retryable
      ? html`<button class="retry" part="retry" type="button" @click=${retry}>${texts.retry}</button>`
      : nothing;
  const words = html`
    <span id=${id ?? nothing}><slot name=${slot}><slot name="error">${message}</slot></slot></span>
    ${button}`;
  return html`<div class="text error" part="text error">${drawRow(drawMark('attention'), words)}</div>`;
}

/** A mark, and words beside it. */
export function drawRow(mark: Drawing, words: unknown): Drawing {
  return html`${mark}<div class="words" part="words">${words}</div>`;
}

export function drawMark(look: Look): Drawing {
  return html`
    <svg class="mark ${look}" part="mark ${look}" viewBox="0 0 20 20" aria-hidden="true">
      <circle class="disc" part="disc" cx="10" cy="10" r="9" />
      <path class="line" part="line" d=${MARKS[look]} />
    </svg>`;
}
