/** What the page draws beside the widget: the history, the events, and what a copy button says. */

const LOG_LENGTH = 7;
const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });
const timeOfDay = new Intl.DateTimeFormat('en', { timeStyle: 'short' });
const clock = new Intl.DateTimeFormat('en', { timeStyle: 'medium', hour12: false });
/** The lab's words that a patient would not know, as the widget says them. */
const PLAIN_WORDS = {
  'Requisition created': 'Lab order ready',
  'Requisition bypassed': 'Lab order ready',
};

export const toPlainWords = (label) => PLAIN_WORDS[label] ?? label;
export const find = (id) => document.getElementById(id);

/** The events of an order, newest first; those that came since the last call for the same order light up. */
export function showJourney(orderId, events) {
  const list = find('events');
  const known = list.dataset.order === orderId ? Number(list.dataset.count) : events.length;
  list.dataset.order = orderId;
  list.dataset.count = String(events.length);
  const lines = events.map(({ createdAt, status }, index) =>
    createEvent(toPlainWords(status.label), createdAt, index >= known),
  );
  if (lines.length === 0) lines.push(createText('li', 'Nothing yet.'));
  list.className = events.length === 0 ? 'no-events' : 'events';
  list.replaceChildren(...lines.reverse());
}

function createEvent(label, createdAt, isNew) {
  const parts = [createText('span', label, 'event-label')];
  if (createdAt) parts.push(createText('time', formatMoment(new Date(createdAt))));
  return createLine(isNew ? 'fresh' : '', ...parts);
}

/** The time for today, else the date. */
function formatMoment(at) {
  const isToday = at.toDateString() === new Date().toDateString();
  return isToday ? `Today, ${timeOfDay.format(at)}` : day.format(at);
}

function createText(name, text, className = '') {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.textContent = text;
  return element;
}

function createLine(className, ...parts) {
  const line = createText('li', '', className);
  line.append(...parts);
  return line;
}

/** One line of the list of events. Their details have nothing secret, so they are shown as they come. */
export function logEvent({ type, detail }) {
  const lines = find('log');
  const parts = [
    createText('time', clock.format(new Date())),
    createText('span', type, 'event-name'),
    createText('span', describeDetail(type, detail), 'event-detail'),
  ];
  const line = createLine('fresh', ...parts);
  line.dataset.event = type;
  lines.prepend(line);
  while (lines.childElementCount > LOG_LENGTH) lines.lastElementChild.remove();
}

function describeDetail(type, detail) {
  if (type === 'portal-status') return `${detail.order.status.label} (${detail.source})`;
  if (type === 'portal-connection') return `${detail.previous} to ${detail.connection}`;
  if (type === 'portal-error') return `${detail.code}: ${detail.message}`;
  return detail.orderId === null ? 'the home of the portal' : `order ${detail.orderId.slice(0, 8)}`;
}

/** Copies the code, or selects it where the browser does not let a page copy. */
export async function copy(button) {
  const code = find(button.dataset.copies);
  const isCopied = await navigator.clipboard?.writeText(code.textContent).then(
    () => true,
    () => false,
  );
  if (!isCopied) getSelection().selectAllChildren(code);
  const isDone = isCopied || document.execCommand('copy');
  const label = button.firstChild;
  label.data = isDone ? 'Copied' : 'Selected';
  find('copied').textContent = isDone
    ? 'The code is copied.'
    : 'The code is selected: copy it with your keyboard.';
  setTimeout(() => {
    label.data = 'Copy';
    find('copied').textContent = '';
  }, 4000);
}
