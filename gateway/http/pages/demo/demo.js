/** The demo page: picks a member and an order, moves the order, and shows what the widget does about it. */

import { ask, readJson, tokenProviderOf } from './ask.js';
import { copy, find, logEvent, showJourney } from './draw.js';

const ORDER = 'id method createdAt labTest { name } status { label stage isTerminal }';
const ORDERS = `{ orders(first: 100) { nodes { ${ORDER} } } }`;
const JOURNEY = `query ($id: ID!) { order(id: $id) { ${ORDER} events { id createdAt status { label } } } }`;
const STEP = `mutation ($id: ID!) { simulateOrder(id: $id) {
  __typename ... on OrderSimulated { order { ${ORDER} } } ... on UserError { code message } } }`;

const METHODS = {
  TESTKIT: 'Test kit',
  WALK_IN_TEST: 'Walk-in test',
  AT_HOME_PHLEBOTOMY: 'Visit at home',
  ON_SITE_COLLECTION: 'On-site collection',
};
const TEXTS = {
  ready: 'The sandbox takes the step, and the card hears of it. No reload.',
  empty: 'This member has no orders. The button on the card opens the home of the portal.',
  moved: 'Moved. The widget has yet to hear of it.',
  elsewhere: 'Somebody else moved this order just now, and the card heard of it.',
  allEnded:
    'Every order has ended. For a fresh start stop the gateway, delete its data folder and start it again.',
  failed: 'The step could not be taken. Please try again.',
  unreachable: 'The gateway cannot be reached. Is it still running?',
  launch: 'Fernwell is made up. The steps and the button are the widget, as your page would have them.',
  noLaunch:
    'This member has no personal details yet, so the portal stays shut. Press the button: the widget says so.',
};

const LOGGED = ['status', 'connection', 'before-launch', 'launched', 'blocked', 'returned', 'error'];

const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });

/** What is on the page: the members, the picked one with its orders, and the picked order or null. */
const shown = { people: [], person: null, orders: [], order: null };
/** When the button was pressed, until the widget has heard of the step. */
let pressedAt = null;

async function pickPerson(userId, wishedOrderId = null) {
  const person = shown.people.find((one) => one.userId === userId) ?? shown.people[0];
  shown.person = person;
  find('member').value = person.userId;
  find('step').setAttribute('aria-disabled', 'true');
  const { orders } = await ask(person.userId, ORDERS);
  // Another member was picked while this one's orders were on their way.
  if (shown.person !== person) return;
  shown.orders = orders.nodes;
  const wished = shown.orders.find((order) => order.id === wishedOrderId);
  pickOrder(wished ?? findMovable(null) ?? shown.orders[0] ?? null);
}

/** The order after the given one that can still move; one at the start of its way before any other. */
function findMovable(after) {
  const start = after === null ? 0 : shown.orders.indexOf(after) + 1;
  const inTurn = [...shown.orders.slice(start), ...shown.orders.slice(0, start)];
  const movable = inTurn.filter((order) => !order.status.isTerminal && order !== after);
  return movable.find((order) => order.status.stage === 'RECEIVED') ?? movable[0] ?? null;
}

function pickOrder(order) {
  shown.order = order;
  pressedAt = null;
  showOrderChoice();
  showApp();
  showEmbed();
  showStep(order === null ? TEXTS.empty : TEXTS.ready);
  rememberPick();
  void loadJourney();
}

function showPeople() {
  const options = shown.people.map(({ userId, name }) => new Option(readName(name), userId));
  find('member').replaceChildren(...options);
}

/** `member-0001` as people write it. */
function readName(name) {
  const words = name.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function showOrderChoice() {
  const groups = [
    createGroup('Under way', (order) => !order.status.isTerminal),
    createGroup('Ended', (order) => order.status.isTerminal),
  ].filter((group) => group.childElementCount > 0);
  const select = find('order');
  select.replaceChildren(...(groups.length > 0 ? groups : [new Option('No orders yet', '')]));
  select.disabled = groups.length === 0;
  select.value = shown.order?.id ?? '';
}

function createGroup(label, belongs) {
  const group = document.createElement('optgroup');
  group.label = label;
  const options = shown.orders
    .filter(belongs)
    .map((order) => new Option(`${order.labTest?.name ?? 'Lab test'}: ${order.status.label}`, order.id));
  group.append(...options);
  return group;
}

/** The invented app around the widget, and the widget's own two attributes. */
function showApp() {
  const { person, order } = shown;
  find('app-member').textContent = readName(person.name);
  find('app-face').textContent = person.name.slice(-2);
  find('test-name').textContent = order === null ? 'No test yet' : (order.labTest?.name ?? 'Lab test');
  find('test-meta').textContent = order === null ? 'Nothing was ordered so far' : describeOrder(order);
  find('caption').textContent = person.canLaunch ? TEXTS.launch : TEXTS.noLaunch;
  find('gateway').tokenProvider = tokenProviderOf(person.userId);
  for (const element of [find('status'), find('launch')]) {
    if (order === null) element.removeAttribute('order-id');
    else element.setAttribute('order-id', order.id);
  }
}

function describeOrder({ method, createdAt }) {
  return [METHODS[method] ?? 'Lab test', createdAt ? `ordered ${day.format(new Date(createdAt))}` : '']
    .filter(Boolean)
    .join(' · ');
}

function showEmbed() {
  const { person, order } = shown;
  for (const place of document.querySelectorAll('[data-origin]')) place.textContent = location.origin;
  find('embed-order').textContent = order === null ? '' : ` order-id="${order.id}"`;
  find('server-user').textContent = person.userId;
}

/** The button, and the sentence under it. At the end of an order the button leads on to another one. */
function showStep(sentence, { isBusy = false } = {}) {
  const isAtEnd = shown.order === null || shown.order.status.isTerminal;
  const button = find('step');
  find('step-label').textContent = isAtEnd ? 'Pick another order' : 'Move the order one step';
  button.toggleAttribute('data-ended', isAtEnd);
  button.setAttribute('aria-disabled', String(isBusy));
  const end = `This order has come to its end: ${shown.order?.status.label}. It moves no further.`;
  find('outcome').textContent = isAtEnd && shown.order !== null ? end : sentence;
}

async function press() {
  if (find('step').getAttribute('aria-disabled') === 'true') return;
  const { order } = shown;
  if (order === null || order.status.isTerminal) return pickNext().catch(showUnreachable);
  pressedAt = performance.now();
  showStep('On its way…', { isBusy: true });
  // On a phone the card may be out of sight.
  find('status').scrollIntoView({ block: 'nearest' });
  const sentence = await takeStep(order).catch(() => TEXTS.failed);
  // The widget may have been quicker than this answer, and has said more.
  if (shown.order !== order && shown.order?.id !== order.id) return;
  if (sentence !== null) pressedAt = null;
  if (pressedAt !== null || sentence !== null)
    showStep(sentence ?? 'Moved. The widget has yet to hear of it.');
  else find('step').setAttribute('aria-disabled', 'false');
}

/** Null when the step was taken, else a sentence that says why not. */
async function takeStep(order) {
  const { simulateOrder: result } = await ask(shown.person.userId, STEP, { id: order.id });
  if (result.__typename === 'OrderSimulated') return null;
  return result.code === 'INPUT_REJECTED' ? 'This order cannot be moved any further.' : result.message;
}

/** Another order of this member that still moves, else the next member who has one. */
async function pickNext() {
  const order = findMovable(shown.order);
  if (order !== null) return pickOrder(order);
  const { people } = await readJson('/demo/people');
  const place = people.findIndex(({ userId }) => userId === shown.person.userId) + 1;
  const others = [...people.slice(place), ...people.slice(0, place)];
  const next = others.find((person) => person.orders.some(({ status }) => canMove(status)));
  if (next) return pickPerson(next.userId);
  find('outcome').textContent = TEXTS.allEnded;
}

/** By the raw status, which is all the list of members has. */
function canMove(status) {
  return !/^(completed|cancelled|failed)\.|\.redraw_available$/.test(status);
}

/** The widget has heard of a change: the page tells how long that took, and reads the journey again. */
function hear({ detail }) {
  const { order, previous } = detail;
  if (order.id !== shown.order?.id) return;
  const known = shown.orders.find((one) => one.id === order.id);
  known.status = { ...known.status, ...order.status };
  // A reconnect brings the same order again: nothing was heard.
  if (previous === null || previous.events.length === order.events.length) return;
  const took = pressedAt === null ? null : Math.round(performance.now() - pressedAt);
  pressedAt = null;
  showOrderChoice();
  showStep(took === null ? TEXTS.elsewhere : `Moved, and heard ${took} ms after the press. No reload.`);
  showPassing();
  void loadJourney();
}

/** One light to the card, and along the three stations of "how it works". */
function showPassing() {
  find('main').removeAttribute('data-passing');
  // Two frames: an animation starts anew only after it was gone from one of them.
  requestAnimationFrame(() => requestAnimationFrame(() => find('main').setAttribute('data-passing', '')));
}

async function loadJourney() {
  const id = shown.order?.id;
  const answer =
    id === undefined ? { order: null } : await ask(shown.person.userId, JOURNEY, { id }).catch(() => null);
  if (answer === null || shown.order?.id !== id) return;
  showJourney(id ?? '', answer.order?.events ?? []);
}

function rememberPick() {
  const pick = new URLSearchParams({ user: shown.person.userId });
  if (shown.order !== null) pick.set('order', shown.order.id);
  history.replaceState(null, '', `#${pick}`);
}

function readPick() {
  const pick = new URLSearchParams(location.hash.slice(1));
  return { userId: pick.get('user'), orderId: pick.get('order') };
}

/** A link within the page took the pick's place in the address; another pick was typed or pasted there. */
function followHash() {
  const { userId, orderId } = readPick();
  if (userId === null) return rememberPick();
  const isShown = userId === shown.person?.userId && orderId === (shown.order?.id ?? null);
  if (!isShown) pickPerson(userId, orderId).catch(showUnreachable);
}

function showUnreachable() {
  find('outcome').textContent = TEXTS.unreachable;
}

function listen() {
  find('member').addEventListener('change', ({ target }) => {
    pickPerson(target.value).catch(showUnreachable);
  });
  find('order').addEventListener('change', ({ target }) => {
    pickOrder(shown.orders.find((order) => order.id === target.value) ?? null);
  });
  find('step').addEventListener('click', press);
  find('gateway').addEventListener('portal-status', hear);
  for (const name of LOGGED) find('gateway').addEventListener(`portal-${name}`, logEvent);
  for (const button of document.querySelectorAll('.copy'))
    button.addEventListener('click', () => copy(button));
  addEventListener('hashchange', followHash);
}

async function start() {
  listen();
  const { userId, orderId } = readPick();
  const { people } = await readJson('/demo/people');
  shown.people = people;
  showPeople();
  await pickPerson(userId, orderId);
}

await start().catch(showUnreachable);
