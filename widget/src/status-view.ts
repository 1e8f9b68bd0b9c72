import { type Child, type Drawing, h } from './dom.ts';
import type { PortalErrorReport } from './errors.ts';
import type { ConnectionState } from './events.ts';
import { formatTime } from './language.ts';
import type { OrderStage, PortalOrder } from './order.ts';
import { readSteps, type Step } from './steps.ts';
import type { Strings } from './strings.ts';

/** Everything the status of an order is drawn from. */
export interface StatusView {
  readonly order: PortalOrder | null;
  readonly label: string;
  /** There is no order to wait for. */
  readonly isEmpty: boolean;
  readonly form: 'none' | 'text' | 'steps';
  readonly connection: ConnectionState;
  /** When the order was last known to be as shown, in milliseconds since 1970. */
  readonly confirmedAt: number | null;
  readonly error: PortalErrorReport | null;
  readonly texts: Strings;
  readonly language: string;
  readonly retry: () => void;
}

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
export function drawStatus(view: StatusView): readonly Child[] {
  const { order, form, texts, error } = view;
  if (form === 'none') return [];
  if (order) {
    const name = order.testName && h('p', 'test-name', {}, order.testName);
    return [name, ...(form === 'steps' ? drawSteps(view, order) : [drawText(view, order)])];
  }
  if (error) return [drawError(error, texts, view.retry)];
  if (view.isEmpty) return [h('div', 'empty', {}, drawSlot('empty', texts.empty))];
  return [drawSlot('loading', drawSkeleton(form, texts))];
}

/** As high as the most likely content, so that nothing below moves. */
function drawSkeleton(form: string, texts: Strings): Drawing {
  const line = h('span', 'bone');
  const drawRow = (kind: string, lines: number) =>
    h('div', kind, {}, h('span', 'bone mark'), h('div', 'words', {}, ...Array<Drawing>(lines).fill(line)));
  const rows =
    form === 'steps'
      ? [h('div', 'steps', {}, drawRow('step', 3), ...Array<Drawing>(3).fill(drawRow('step', 1))), line]
      : [drawRow('text', 2)];
  return h('div', 'skeleton', { role: 'img', 'aria-label': texts.loading }, ...rows);
}

/** An error in words for a patient, with a way on where trying again can help. */
export function drawError(error: PortalErrorReport, texts: Strings, retry: (() => void) | null): Drawing {
  const slot = `error-${error.code.toLowerCase().replaceAll('_', '-')}`;
  return h(
    'div',
    'text error',
    {},
    drawMark('attention'),
    h(
      'div',
      'words',
      {},
      h('span', '', { id: 'error' }, drawSlot(slot, drawSlot('error', error.message))),
      retry && error.retryable && h('button', 'retry', { type: 'button', onclick: retry }, texts.retry),
    ),
  );
}

/** A slot of this name, with its default content. */
export function drawSlot(name: string, content: Child): Drawing {
  return h('slot', '', { name }, content);
}

function drawText(view: StatusView, order: PortalOrder): Drawing {
  const label = h('span', 'headline label', {}, view.label);
  const words = h('div', 'words', {}, label, drawAttention(view, order), drawFreshness(view));
  return h('div', 'text', {}, drawMark(readLook(order)), words);
}

function drawSteps(view: StatusView, order: PortalOrder): readonly Child[] {
  const steps = readSteps(order);
  const hasCurrent = steps.some((step) => step.state === 'current');
  return [
    !hasCurrent && h('p', 'headline label', {}, view.label),
    h(
      'ol',
      'steps',
      { role: 'list', 'aria-label': view.texts.steps },
      ...steps.map((step) => drawStep(step, view, order)),
    ),
    drawFreshness(view),
  ];
}

function drawStep({ stage, state }: Step, view: StatusView, order: PortalOrder): Drawing {
  const { texts, label } = view;
  const name = readStageName(stage, order, texts);
  if (state !== 'current') {
    const words = h('span', 'name', {}, name, h('span', 'hidden', {}, `, ${texts.stepStates[state]}`));
    return h('li', `step ${state}`, {}, drawMark(state), h('div', 'words', {}, words));
  }
  const look = readLook(order);
  const at = formatTime(order.events.at(-1)?.createdAt, view.language);
  return h(
    'li',
    `step current ${look}`,
    { 'aria-current': 'step' },
    drawMark(look),
    h(
      'div',
      'words',
      {},
      h('span', 'name', {}, name),
      label !== name && h('span', 'detail label', {}, label),
      drawAttention(view, order),
      at && h('time', 'time', {}, at),
    ),
  );
}

function drawAttention({ texts }: StatusView, { status }: PortalOrder): Child {
  return status.needsAttention && h('span', 'badge', {}, texts.attention);
}

/** Shows the age of the status. Not in a live region: it changes too often to be announced. */
function drawFreshness({ connection, confirmedAt, language, texts }: StatusView): Drawing {
  const patterns: Readonly<Record<string, string>> = texts.freshness;
  const pattern = patterns[connection] ?? texts.freshness.asOf;
  const text = pattern.replace('{time}', () => formatTime(confirmedAt, language));
  const shown = connection === 'offline' ? drawSlot(connection, text) : text;
  return h('p', `freshness ${connection}`, {}, shown);
}

function drawMark(look: Look): Drawing {
  const disc = h('circle', 'disc', { cx: '10', cy: '10', r: '9' });
  const line = h('path', 'line', { d: MARKS[look] });
  return h('svg', `mark ${look}`, { viewBox: '0 0 20 20', 'aria-hidden': 'true' }, disc, line);
}

function readLook({ status }: PortalOrder): Look {
  if (status.stage === 'CANCELLED' || status.stage === 'FAILED') return 'bad';
  if (status.needsAttention) return 'attention';
  return status.stage === 'COMPLETED' ? 'done' : 'current';
}

function readStageName(stage: OrderStage, { method }: PortalOrder, texts: Strings): string {
  return (method && texts.stagesByMethod[method]?.[stage]) ?? texts.stages[stage];
}
