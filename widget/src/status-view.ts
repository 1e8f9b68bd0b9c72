import { html, nothing, svg, type TemplateResult } from 'lit';
import type { PortalErrorReport } from './errors.ts';
import type { ConnectionState } from './events.ts';
import type { OrderStage, PortalOrder } from './order.ts';
import { readSteps, type Step } from './steps.ts';
import type { Strings } from './strings.ts';

/** Everything the status of an order is drawn from. */
export interface StatusView {
  readonly order: PortalOrder | null;
  readonly hasOrder: boolean;
  readonly label: string;
  readonly form: 'none' | 'text' | 'steps';
  readonly connection: ConnectionState;
  /** When the order was last known to be as shown, in milliseconds since 1970. */
  readonly confirmedAt: number | null;
  readonly error: PortalErrorReport | null;
  readonly texts: Strings;
  readonly language: string | undefined;
  readonly retry: () => void;
}

type Look = 'done' | 'current' | 'reached' | 'ahead' | 'attention' | 'bad';

const MARKS: Readonly<Record<Look, TemplateResult | typeof nothing>> = {
  done: svg`<path d="m5.5 10.5 3 3 6-7" />`,
  current: svg`<circle cx="10" cy="10" r="3" />`,
  reached: nothing,
  ahead: nothing,
  attention: svg`<path d="M10 5.5v5.5M10 14.2v.1" />`,
  bad: svg`<path d="m7 7 6 6M13 7l-6 6" />`,
};

/** The status as one line, as steps, or what stands in for it: skeleton, empty, error. */
export function renderStatus(view: StatusView): TemplateResult | typeof nothing {
  const { order, form, texts } = view;
  if (form === 'none') return nothing;
  if (order) return form === 'steps' ? renderSteps(view, order) : renderText(view, order);
  if (view.error) return renderError(view.error, texts, view.retry);
  if (!view.hasOrder)
    return html`<div class="text muted" part="empty"><slot name="empty">${texts.empty}</slot></div>`;
  return renderSkeleton(view);
}

/** An error in words for a patient, with a way on where trying again can help. */
export function renderError(
  error: PortalErrorReport,
  texts: Strings,
  retry: (() => void) | null,
): TemplateResult {
  const slot = `error-${error.code.toLowerCase().replaceAll('_', '-')}`;
  return html`
    <div class="text error" part="error">
      ${renderMark('attention')}
      <div class="words">
        <span><slot name=${slot}><slot name="error">${texts.errors[error.code] ?? texts.errors.other}</slot></slot></span>
        ${retry && error.retryable ? html`<button type="button" class="retry" part="retry" @click=${retry}>${texts.retry}</button>` : nothing}
      </div>
    </div>`;
}

function renderText(view: StatusView, order: PortalOrder): TemplateResult {
  return html`
    ${renderTestName(order)}
    <div class="text" part="text">
      ${renderMark(readLook(order))}
      <div class="words">
        <span class="headline" part="label">${view.label}</span>
        ${renderAttention(view, order)}
        ${renderFreshness(view)}
      </div>
    </div>`;
}

function renderSteps(view: StatusView, order: PortalOrder): TemplateResult {
  const steps = readSteps(order);
  const hasCurrent = steps.some((step) => step.state === 'current');
  return html`
    ${renderTestName(order)}
    ${hasCurrent ? nothing : html`<p class="headline" part="label">${view.label}</p>`}
    <ol class="steps" part="steps" role="list" aria-label=${view.texts.steps}>
      ${steps.map((step) => renderStep(step, view, order))}
    </ol>
    ${renderFreshness(view)}`;
}

function renderStep(step: Step, view: StatusView, order: PortalOrder): TemplateResult {
  const { texts } = view;
  const isCurrent = step.state === 'current';
  const look = isCurrent ? readLook(order) : step.state;
  const name = readStageName(step.stage, order, texts);
  const at = readTime(order.events.at(-1)?.createdAt, view.language);
  return html`
    <li class="step ${step.state} ${look}" part="step ${step.state}" aria-current=${isCurrent ? 'step' : nothing}>
      ${renderMark(look)}
      <div class="words">
        <span class="name">${name}${isCurrent ? nothing : html`<span class="hidden">, ${texts.stepStates[step.state as 'done']}</span>`}</span>
        ${isCurrent && view.label !== name ? html`<span class="detail" part="label">${view.label}</span>` : nothing}
        ${isCurrent ? renderAttention(view, order) : nothing}
        ${isCurrent && at ? html`<time class="muted" part="time">${at}</time>` : nothing}
      </div>
    </li>`;
}

function renderAttention(view: StatusView, order: PortalOrder): TemplateResult | typeof nothing {
  return order.status.needsAttention
    ? html`<span class="badge" part="attention">${view.texts.attention}</span>`
    : nothing;
}

function renderTestName(order: PortalOrder): TemplateResult | typeof nothing {
  return order.testName ? html`<p class="test" part="test-name">${order.testName}</p>` : nothing;
}

/** Says how old what stands there is. Not in a live region: it changes too often to be read out. */
function renderFreshness(view: StatusView): TemplateResult {
  const { connection, texts } = view;
  const pattern =
    connection in texts.freshness ? texts.freshness[connection as 'live'] : texts.freshness.asOf;
  const text = pattern.replace('{time}', readTime(view.confirmedAt, view.language));
  const shown = connection === 'offline' ? html`<slot name="offline">${text}</slot>` : text;
  return html`<p class="freshness ${connection}" part="freshness">${shown}</p>`;
}

function renderSkeleton(view: StatusView): TemplateResult {
  const line = html`<span class="bone long"></span><span class="bone"></span>`;
  const rows = view.form === 'steps' ? [0, 1, 2, 3] : [0];
  return html`
    <div class="skeleton" part="skeleton" role="img" aria-label=${view.texts.loading}>
      ${rows.map(() => html`<div class="text"><span class="mark bone"></span><div class="words">${line}</div></div>`)}
    </div>`;
}

function renderMark(look: Look): TemplateResult {
  return html`<svg class="mark ${look}" viewBox="0 0 20 20" aria-hidden="true"><circle class="disc" cx="10" cy="10" r="9" />${MARKS[look]}</svg>`;
}

function readLook({ status }: PortalOrder): Look {
  if (status.stage === 'CANCELLED' || status.stage === 'FAILED') return 'bad';
  if (status.needsAttention) return 'attention';
  return status.stage === 'COMPLETED' ? 'done' : 'current';
}

function readStageName(stage: OrderStage, order: PortalOrder, texts: Strings): string {
  const own = order.method ? texts.stagesByMethod[order.method]?.[stage] : undefined;
  return own ?? texts.stages[stage];
}

function readTime(time: string | number | null | undefined, language: string | undefined): string {
  const date = time ? new Date(time) : null;
  if (!date || Number.isNaN(date.getTime())) return '';
  const isToday = date.toDateString() === new Date().toDateString();
  const form: Intl.DateTimeFormatOptions = isToday
    ? { timeStyle: 'short' }
    : { dateStyle: 'medium', timeStyle: 'short' };
  return new Intl.DateTimeFormat(language, form).format(date);
}
