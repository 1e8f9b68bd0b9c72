/** The demo page: picks a person and a test, moves the test, and shows what the widget does about it. */

import { ask, readJson, tokenProviderOf } from './ask.js';
import { copy, find, logEvent, showJourney, toPlainWords } from './draw.js';

const ORDER = 'id collectionMethod createdAt labTest { name } status { label stage isTerminal }';
const ORDERS = `{ orders(first: 100) { nodes { ${ORDER} } } }`;
const JOURNEY = `query ($id: ID!) { order(id: $id) { ${ORDER} events { id createdAt status { label } } } }`;
const STEP = `mutation ($id: ID!) { simulateOrder(input: { id: $id }) {
  __typename ... on OrderSimulated { order { ${ORDER} } } ... on UserError { code message } } }`;

const METHODS = {
  TESTKIT: 'Test kit',
  WALK_IN_TEST: 'Walk-in test',
  AT_HOME_PHLEBOTOMY: 'Visit at home',
  ON_SITE_COLLECTION: 'On-site collection',
};
const TEXTS = {
  ready: 'You play the lab: press, and watch the widget.',
  empty: 'This person has no test yet. The button of the widget opens the home page of the portal.',
  moving: 'The lab takes the step…',
  moved: 'Done. The widget shows it in a moment.',
  elsewhere: 'This test was moved from another window, and the widget shows it.',
  allEnded: 'Every test has ended. To start anew: stop Labgraph, delete its data folder, start it again.',
  failed: 'The step could not be taken. Please try again.',
  unreachable: 'Labgraph does not answer. Is it still running?',
  insecure: `The widget sends its token only over https, or to http://localhost. Forward the port, and open that: ssh -L ${location.port}:localhost:${location.port} ${location.hostname}`,
  noDetails:
    'The lab has no personal details of this person, so the portal cannot open. Press the button: the widget says so.',
};

const LOGGED = ['status', 'connection', 'before-launch', 'launched', 'blocked', 'returned', 'error'];

const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });

/** What is on the page: the people, the picked one with its orders, and the picked order or null. */
const shown = { people: [], person: null, orders: [], order: null };
/** The newest pick, which is shown once its orders are read. */
let pickedPerson = null;
/** When the button was pressed, until the widget has shown the step. */
let pressedAt = null;

async function pickPerson(userId, wishedOrderId = null) {
  const person = shown.people.find((one) => one.userId === userId) ?? findGoodExample(shown.people);
  pickedPerson = person;
  find('person').value = person.userId;
  find('step').setAttribute('aria-disabled', 'true');
  let orders;
  try {
    ({ orders } = await ask(person.userId, ORDERS));
  } catch (cause) {
    if (pickedPerson === person) showFormerPerson();
    throw cause;
  }
  // Another person was picked while this one's orders were on their way.
  if (pickedPerson !== person) return;
  shown.person = person;
  shown.orders = orders.nodes;
  const wished = shown.orders.find((order) => order.id === wishedOrderId);
  pickOrder(wished ?? findMovable(null) ?? shown.orders[0] ?? null);
}

/** So that the page is of one person again, and the other one can be picked anew. */
function showFormerPerson() {
  find('person').value = shown.person?.userId ?? '';
  find('step').setAttribute('aria-disabled', String(shown.person === null));
}

/** Somebody whose test kit is at the start of its way: there is the most to see. */
function findGoodExample(people) {
  const hasNewKit = ({ orders }) => orders.some(({ status }) => status.startsWith('received.testkit.'));
  return people.findLast(hasNewKit) ?? people[0];
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
  find('person').replaceChildren(...shown.people.map(({ userId, name }) => new Option(name, userId)));
}

function showOrderChoice() {
  const groups = [
    createGroup('Under way', (order) => !order.status.isTerminal),
    createGroup('Ended', (order) => order.status.isTerminal),
  ].filter((group) => group.childElementCount > 0);
  const select = find('order');
  select.replaceChildren(...(groups.length > 0 ? groups : [new Option('No test yet', '')]));
  select.disabled = groups.length === 0;
  select.value = shown.order?.id ?? '';
}

function createGroup(label, belongs) {
  const group = document.createElement('optgroup');
  group.label = label;
  const options = shown.orders
    .filter(belongs)
    .map(
      (order) =>
        new Option(`${order.labTest?.name ?? 'Lab test'}: ${toPlainWords(order.status.label)}`, order.id),
    );
  group.append(...options);
  return group;
}

/** The invented app around the widget, and the widget itself: as a host's page would do it. */
function showApp() {
  const { person, order } = shown;
  find('app-person').textContent = person.name;
  find('app-face').textContent = person.name.replaceAll(/(\p{L})\S*\s*/gu, '$1').slice(0, 2);
  find('test-name').textContent = order === null ? 'No test yet' : (order.labTest?.name ?? 'Lab test');
  find('test-meta').textContent = order === null ? 'Nothing was ordered so far' : describeOrder(order);
  find('note').textContent = person.canLaunch ? '' : TEXTS.noDetails;
  find('widget').toggleAttribute('disabled', false);
  find('widget').setAttribute('status', 'steps');
  for (const widget of [find('widget'), find('results')]) {
    widget.tokenProvider = tokenProviderOf(person.userId);
    if (order === null) widget.removeAttribute('order-id');
    else widget.setAttribute('order-id', order.id);
  }
}

function describeOrder({ collectionMethod, createdAt }) {
  return [
    METHODS[collectionMethod] ?? 'Lab test',
    createdAt ? `ordered ${day.format(new Date(createdAt))}` : '',
  ]
    .filter(Boolean)
    .join(' · ');
}

function showEmbed() {
  const { person, order } = shown;
  for (const place of document.querySelectorAll('[data-origin]')) place.textContent = location.origin;
  find('embed-order').textContent = order === null ? '' : `order-id="${order.id}" `;
  find('server-user').textContent = person.userId;
}

/** The button, and the sentence under it. At the end of an order the button leads on to another one. */
function showStep(sentence, { isBusy = false } = {}) {
  const isAtEnd = shown.order === null || shown.order.status.isTerminal;
  const button = find('step');
  find('step-label').textContent = isAtEnd ? 'Show another test' : 'Move the test one step';
  button.setAttribute('aria-disabled', String(isBusy));
  const end = `This test has come to its end: ${toPlainWords(shown.order?.status.label)}.`;
  find('outcome').textContent = isAtEnd && shown.order !== null ? end : sentence;
}

async function press() {
  if (find('step').getAttribute('aria-disabled') === 'true') return;
  const { order } = shown;
  if (order === null || order.status.isTerminal) return pickNext().catch(showUnreachable);
  pressedAt = performance.now();
  showStep(TEXTS.moving, { isBusy: true });
  // On a phone the widget may be out of sight.
  find('widget').scrollIntoView({ block: 'nearest' });
  const sentence = await takeStep(order).catch(() => TEXTS.failed);
  // The widget may have been quicker than this answer.
  if (shown.order !== order && shown.order?.id !== order.id) return;
  if (sentence !== null) pressedAt = null;
  if (pressedAt !== null || sentence !== null) showStep(sentence ?? TEXTS.moved);
  else find('step').setAttribute('aria-disabled', 'false');
}

/** Null when the step was taken, else a sentence that says why not. */
async function takeStep(order) {
  const { simulateOrder: result } = await ask(shown.person.userId, STEP, { id: order.id });
  if (result.__typename === 'OrderSimulated') return null;
  return result.code === 'INPUT_REJECTED' ? 'This test cannot be moved any further.' : result.message;
}

/** Another order of this person that still moves, else the next person who has one. */
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

/** By the raw status, which is all the list of people has. */
function canMove(status) {
  return !/^(completed|cancelled|failed)\.|\.redraw_available$/.test(status);
}

/** The widget shows a change: the page says how long that took, and reads the history again. */
function showChange({ detail }) {
  const { order, previous } = detail;
  if (order.id !== shown.order?.id) return;
  const known = shown.orders.find((one) => one.id === order.id);
  known.status = { ...known.status, ...order.status };
  // A reconnect brings the same order again: nothing has changed.
  if (previous === null || previous.events.length === order.events.length) return;
  const took = pressedAt === null ? null : Math.round(performance.now() - pressedAt);
  pressedAt = null;
  showOrderChoice();
  showStep(took === null ? TEXTS.elsewhere : `Done. The widget shows it, ${took} ms after your click.`);
  void loadJourney();
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

/** In place of the widget's own words, which are for patients. */
function explainInsecure() {
  for (const widget of [find('widget'), find('results')]) {
    const text = document.createElement('span');
    text.slot = 'error-endpoint-invalid';
    text.textContent = TEXTS.insecure;
    widget.append(text);
  }
}

function listen() {
  find('person').addEventListener('change', ({ target }) => {
    pickPerson(target.value).catch(showUnreachable);
  });
  find('order').addEventListener('change', ({ target }) => {
    pickOrder(shown.orders.find((order) => order.id === target.value) ?? null);
  });
  find('step').addEventListener('click', press);
  find('widget').addEventListener('portal-status', showChange);
  for (const name of LOGGED) find('widget').addEventListener(`portal-${name}`, logEvent);
  for (const button of document.querySelectorAll('.copy'))
    button.addEventListener('click', () => copy(button));
  addEventListener('hashchange', followHash);
}

async function start() {
  listen();
  explainInsecure();
  const { userId, orderId } = readPick();
  const { people } = await readJson('/demo/people');
  shown.people = people;
  showPeople();
  await pickPerson(userId, orderId);
}

await start().catch(showUnreachable);
