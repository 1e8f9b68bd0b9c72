import { html, nothing } from 'lit';
import { type Drawing, drawError, drawMark, drawRow, type Look } from '../elements/drawing.ts';
import type { PortalErrorReport } from '../gateway/errors.ts';
import type { OrderStage, PortalOrder } from '../live/order.ts';
import type { ConnectionState } from '../live/order-listener.ts';
import type { Strings } from '../words/strings.ts';
import { formatAge, formatTime } from '../words/times.ts';
import { readSteps, type Step } from './steps.ts';

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
  readonly error: PortalErrorReport | undefined;
  readonly texts: Strings;
  readonly language: string;
  readonly retry: () => void;
}

/** The status as one line or as steps, or its replacement: skeleton, empty, error. */
export function drawStatus(view: StatusView): Drawing {
  const { order, form, texts, error } = view;
  if (form === 'none') return nothing;
  const failure = error ? drawError(error, view) : nothing;
  if (order) {
    const name = order.testName && html`<p class="test-name" part="test-name">${order.testName}</p>`;
    return html`${failure}${name}${form === 'steps' ? drawSteps(view, order) : drawText(view, order)}`;
  }
  if (error) return failure;
  if (view.isEmpty)
    return html`<div class="empty" part="empty"><slot name="empty">${texts.empty}</slot></div>`;
  return html`<slot name="loading">${drawSkeleton(form, texts)}</slot>`;
}

/** As high as the most likely content, so that nothing below moves. */
function drawSkeleton(form: string, texts: Strings): Drawing {
  const line = html`<span class="bone" part="bone"></span>`;
  const mark = html`<span class="bone mark" part="bone mark"></span>`;
  const draw = (kind: string, lines: readonly Drawing[]) =>
    html`<div class=${kind} part=${kind}>${drawRow(mark, lines)}</div>`;
  const step = draw('step', [line]);
  const rows =
    form === 'steps'
      ? html`<div class="steps" part="steps">${draw('step', [line, line, line, line, line])}${step}${step}${step}</div>`
      : draw('text', [line, line, line, line]);
  return html`<div class="skeleton" part="skeleton" role="img" aria-label=${texts.loading}>${rows}</div>`;
}

function drawText(view: StatusView, order: PortalOrder): Drawing {
  const words = html`${drawWords('headline label', view.label)}${drawDetails(view, order)}`;
  return html`<div class="text" part="text">${drawRow(drawMark(readLook(order)), words)}</div>`;
}

function drawSteps(view: StatusView, order: PortalOrder): Drawing {
  const steps = readSteps(order);
  const hasCurrent = steps.some((step) => step.state === 'current');
  const headline = html`<p class="headline label" part="headline label">${view.label}</p>`;
  return html`
    ${hasCurrent ? nothing : html`<div>${headline}${drawFreshness(view, order)}</div>`}
    <ol class="steps" part="steps" role="list" aria-label=${view.texts.steps}>
      ${steps.map((step) => drawStep(step, view, order))}
    </ol>`;
}

function drawStep({ stage, state }: Step, view: StatusView, order: PortalOrder): Drawing {
  const { texts, label } = view;
  const stageName = readStageName(stage, order, texts);
  if (state !== 'current') {
    const spoken = html`<span class="hidden" part="hidden">, ${texts.stepStates[state]}</span>`;
    const name = drawWords('name', html`${stageName}${spoken}`);
    return html`<li class="step ${state}" part="step ${state}">${drawRow(drawMark(state), name)}</li>`;
  }
  const look = readLook(order);
  // The status is what stands out, as in the status as text. A stage may have the same name.
  const words =
    label === stageName
      ? drawWords('name label', label)
      : html`${drawWords('name', stageName)}${drawWords('detail label', label)}`;
  const row = drawRow(drawMark(look), html`${words}${drawDetails(view, order)}`);
  return html`<li class="step current ${look}" part="step current ${look}" aria-current="step">${row}</li>`;
}

/** What is said of the status besides its name. */
function drawDetails(view: StatusView, order: PortalOrder): Drawing {
  const { texts, next } = view;
  return html`${order.status.needsAttention ? drawWords('badge', texts.attention) : nothing}
    ${next ? drawWords('next', next) : nothing}${drawFreshness(view, order)}`;
}

function drawWords(names: string, words: unknown): Drawing {
  return html`<span class=${names} part=${names}>${words}</span>`;
}

/**
 * When the status began, and the state of the connection where it is news. Not in a live region: ages change too often to
 * be announced.
 */
function drawFreshness(view: StatusView, order: PortalOrder): Drawing {
  const { connection, language } = view;
  const began = drawTime(order.events.at(-1)?.createdAt, language);
  return html`<p class="freshness ${connection}" part="freshness ${connection}">${began}${drawConnection(view)}</p>`;
}

function drawConnection({ connection, isBack, confirmedAt, language, texts }: StatusView): Drawing {
  if (connection === 'live' && !isBack) return nothing;
  const patterns: Readonly<Record<string, string>> = texts.freshness;
  const [before, after] = (patterns[connection] ?? texts.freshness.asOf).split('{time}');
  const text = html`${before}${after === undefined ? nothing : drawTime(confirmedAt, language)}${after}`;
  const shown = connection === 'offline' ? html`<slot name="offline">${text}</slot>` : text;
  return drawWords('connection', shown);
}

/** How long ago; the exact time is the title. */
function drawTime(time: string | number | null | undefined, language: string): Drawing {
  const age = formatAge(time, language);
  const exact = formatTime(time, language);
  return age ? html`<time class="time" part="time" title=${exact}>${age}</time>` : nothing;
}

function readLook({ status }: PortalOrder): Look {
  if (status.stage === 'CANCELLED' || status.stage === 'FAILED') return 'bad';
  if (status.needsAttention) return 'attention';
  return status.stage === 'COMPLETED' ? 'done' : 'current';
}

function readStageName(stage: OrderStage, { method }: PortalOrder, texts: Strings): string {
  return (method && texts.stagesByMethod[method]?.[stage]) ?? texts.stages[stage];
}
