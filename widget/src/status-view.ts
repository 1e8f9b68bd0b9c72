import { html, nothing, type TemplateResult } from 'lit';
import type { PortalErrorReport } from './errors.ts';
import type { ConnectionState } from './events.ts';
import type { OrderStage, PortalOrder } from './order.ts';
import { readSteps, type Step } from './steps.ts';
import type { Strings } from './strings.ts';
import { formatAge, formatTime } from './times.ts';

/** Everything the status of an order is drawn from. */
export interface StatusView {
  readonly order: PortalOrder | null;
  readonly label: string;
  /** What comes next, in words. */
  readonly next: string | undefined;
  /** There is no order to wait for. */
  readonly isEmpty: boolean;
  readonly form: 'none' | 'text' | 'steps';
  readonly connection: ConnectionState;
  /** The connection was lost and has just returned. */
  readonly isBack: boolean;
  /** When the order was last known to be as shown, in milliseconds since 1970. */
  readonly confirmedAt: number | null;
  readonly error: PortalErrorReport | null;
  readonly texts: Strings;
  readonly language: string;
  readonly retry: () => void;
}

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

type Look = keyof typeof MARKS;

/** The status as one line or as steps, or its replacement: skeleton, empty, error. */
export function drawStatus(view: StatusView): Drawing {
  const { order, form, texts, error } = view;
  if (form === 'none') return nothing;
  if (order) {
    const name = order.testName && html`<p class="test-name" part="test-name">${order.testName}</p>`;
    return html`${name}${form === 'steps' ? drawSteps(view, order) : drawText(view, order)}`;
  }
  if (error) return drawError(error, view);
  if (view.isEmpty)
    return html`<div class="empty" part="empty"><slot name="empty">${texts.empty}</slot></div>`;
  return html`<slot name="loading">${drawSkeleton(form, texts)}</slot>`;
}

/** As high as the most likely content, so that nothing below moves. */
function drawSkeleton(form: string, texts: Strings): Drawing {
  const line = html`<span class="bone" part="bone"></span>`;
  const drawRow = (kind: string, lines: readonly Drawing[]) => html`
    <div class=${kind} part=${kind}>
      <span class="bone mark" part="bone mark"></span>
      <div class="words" part="words">${lines}</div>
    </div>`;
  const step = drawRow('step', [line]);
  const rows =
    form === 'steps'
      ? html`<div class="steps" part="steps">${drawRow('step', [line, line, line, line, line])}${step}${step}${step}</div>`
      : drawRow('text', [line, line, line, line]);
  return html`<div class="skeleton" part="skeleton" role="img" aria-label=${texts.loading}>${rows}</div>`;
}

/** How an error is shown: `id` for a control that it describes, `retry` where there is no other button that tries again. */
interface ErrorView {
  readonly texts: Strings;
  readonly id?: string;
  readonly retry?: () => void;
}

/** An error in words for a patient, with a way on where trying again can help. */
export function drawError(error: PortalErrorReport, { texts, id, retry }: ErrorView): Drawing {
  const slot = `error-${error.code.toLowerCase().replaceAll('_', '-')}`;
  const button =
    retry && error.retryable
      ? html`<button class="retry" part="retry" type="button" @click=${retry}>${texts.retry}</button>`
      : nothing;
  return html`
    <div class="text error" part="text error">
      ${drawMark('attention')}
      <div class="words" part="words">
        <span id=${id ?? nothing}><slot name=${slot}><slot name="error">${error.message}</slot></slot></span>
        ${button}
      </div>
    </div>`;
}

function drawText(view: StatusView, order: PortalOrder): Drawing {
  return html`
    <div class="text" part="text">
      ${drawMark(readLook(order))}
      <div class="words" part="words">
        <span class="headline label" part="headline label">${view.label}</span>
        ${drawNext(view)}${drawAttention(view, order)}${drawFreshness(view, order)}
      </div>
    </div>`;
}

function drawSteps(view: StatusView, order: PortalOrder): Drawing {
  const steps = readSteps(order);
  const hasCurrent = steps.some((step) => step.state === 'current');
  const headline = html`<p class="headline label" part="headline label">${view.label}</p>`;
  return html`
    ${hasCurrent ? nothing : headline}
    <ol class="steps" part="steps" role="list" aria-label=${view.texts.steps}>
      ${steps.map((step) => drawStep(step, view, order))}
    </ol>
    ${hasCurrent ? nothing : drawFreshness(view, order)}`;
}

function drawStep({ stage, state }: Step, view: StatusView, order: PortalOrder): Drawing {
  if (state === 'current') return drawCurrentStep(stage, view, order);
  const { texts } = view;
  const name = readStageName(stage, order, texts);
  const spoken = `, ${texts.stepStates[state]}`;
  return html`
    <li class="step ${state}" part="step ${state}">
      ${drawMark(state)}
      <div class="words" part="words">
        <span class="name" part="name">${name}<span class="hidden" part="hidden">${spoken}</span></span>
      </div>
    </li>`;
}

function drawCurrentStep(stage: OrderStage, view: StatusView, order: PortalOrder): Drawing {
  const { texts, label } = view;
  const name = readStageName(stage, order, texts);
  const look = readLook(order);
  const detail = html`<span class="detail label" part="detail label">${label}</span>`;
  return html`
    <li class="step current ${look}" part="step current ${look}" aria-current="step">
      ${drawMark(look)}
      <div class="words" part="words">
        <span class="name" part="name">${name}</span>
        ${label === name ? nothing : detail}
        ${drawNext(view)}${drawAttention(view, order)}${drawFreshness(view, order)}
      </div>
    </li>`;
}

function drawAttention({ texts }: StatusView, { status }: PortalOrder): Drawing {
  return status.needsAttention ? html`<span class="badge" part="badge">${texts.attention}</span>` : nothing;
}

function drawNext({ next }: StatusView): Drawing {
  return next ? html`<span class="next" part="next">${next}</span>` : nothing;
}

/**
 * When the status began, and the state of the connection where it is news. Not in a live region: ages change too often to
 * be announced.
 */
function drawFreshness(view: StatusView, order: PortalOrder): Drawing {
  const { connection, language } = view;
  const began = drawTime(order.events.at(-1)?.createdAt, language);
  return html`<p class="freshness ${connection}" part="freshness ${connection}"
    >${began}${drawConnection(view)}</p
  >`;
}

function drawConnection({ connection, isBack, confirmedAt, language, texts }: StatusView): Drawing {
  if (connection === 'live' && !isBack) return nothing;
  const patterns: Readonly<Record<string, string>> = texts.freshness;
  const [before, after] = (patterns[connection] ?? texts.freshness.asOf).split('{time}');
  const text = html`${before}${after === undefined ? nothing : drawTime(confirmedAt, language)}${after}`;
  const shown = connection === 'offline' ? html`<slot name="offline">${text}</slot>` : text;
  return html`<span class="connection" part="connection">${shown}</span>`;
}

/** How long ago; the exact time is the title. */
function drawTime(time: string | number | null | undefined, language: string): Drawing {
  const age = formatAge(time, language);
  const exact = formatTime(time, language);
  return age ? html`<time class="time" part="time" title=${exact}>${age}</time>` : nothing;
}

function drawMark(look: Look): Drawing {
  return html`
    <svg class="mark ${look}" part="mark ${look}" viewBox="0 0 20 20" aria-hidden="true">
      <circle class="disc" part="disc" cx="10" cy="10" r="9" />
      <path class="line" part="line" d=${MARKS[look]} />
    </svg>`;
}

function readLook({ status }: PortalOrder): Look {
  if (status.stage === 'CANCELLED' || status.stage === 'FAILED') return 'bad';
  if (status.needsAttention) return 'attention';
  return status.stage === 'COMPLETED' ? 'done' : 'current';
}

function readStageName(stage: OrderStage, { method }: PortalOrder, texts: Strings): string {
  return (method && texts.stagesByMethod[method]?.[stage]) ?? texts.stages[stage];
}
