import type { PortalErrorCode } from '../src/gateway/errors.ts';
import type { PortalLaunch } from '../src/launch/portal-launch.ts';
import type { ConnectionState } from '../src/live/order-listener.ts';
import type { PortalElement } from '../src/status/portal-element.ts';
import {
  FAKE_ORDER_ID,
  type FakeOrder,
  fakeStatus,
  fakeOrder as orderWithoutWords,
} from '../src/testing/fake-order.ts';
import { createFixedClient, type Fixed } from './fixed-client.ts';

/** One state of one element, as it is shown in the gallery. */
export interface State<Shown extends HTMLElement = PortalElement> {
  readonly name: string;
  /** Makes the element; it comes into the state by itself once it is in the page. */
  readonly make: () => Shown;
  /** What is then done with it. */
  readonly act?: (element: Shown) => unknown;
}

/** The states of one kind. */
export interface Section {
  readonly title: string;
  readonly states: readonly State[];
}

type Tag = 'portal-launch' | 'portal-order-status';
type Settings = Partial<Omit<PortalLaunch, 'order' | 'connection'>>;

function make(tag: Tag, fixed: Fixed, settings: Settings = {}): PortalElement {
  const element = document.createElement(tag);
  const { order, fails } = fixed;
  const orderId = order || fails ? FAKE_ORDER_ID : null;
  return Object.assign(element, { client: createFixedClient(fixed), live: 'always', orderId, ...settings });
}

const status = (fixed: Fixed, settings: Settings = {}) => make('portal-order-status', fixed, settings);
const launch = (fixed: Fixed, settings: Settings = {}) => make('portal-launch', fixed, settings);
const loading = { orderId: FAKE_ORDER_ID };

function press(element: PortalElement): unknown {
  // As where the browser holds every new tab back: the gallery opens none.
  const { open } = window;
  window.open = () => null;
  const launching = 'launch' in element && (element as PortalLaunch).launch();
  window.open = open;
  return launching;
}

/** The gateway's words for the steps that are shown here. */
const LABELS: Readonly<Record<string, string>> = {
  TRANSIT_CUSTOMER: 'Kit on its way to you',
  REGISTERED: 'Kit registered',
  APPOINTMENT_SCHEDULED: 'Appointment scheduled',
  APPOINTMENT_PENDING: 'Appointment pending',
  DRAW_COMPLETED: 'Sample taken',
  PARTIAL_RESULTS: 'Some results ready',
  WITH_CUSTOMER: 'Kit delivered',
  COMPLETED: 'Results ready',
  CANCELLED: 'Cancelled',
};

const HOUR_MS = 3_600_000;
const NOW = Date.now();

/** An order whose last event was two hours ago, and each before it a day earlier. */
function fakeOrder(way: readonly (readonly [string, string])[], more: Partial<FakeOrder> = {}): FakeOrder {
  const order = orderWithoutWords(way, more);
  const { status } = order;
  const events = order.events.map((event, index) => {
    const days = order.events.length - 1 - index;
    return { ...event, createdAt: new Date(NOW - (24 * days + 2) * HOUR_MS).toISOString() };
  });
  return { ...order, events, status: { ...status, label: LABELS[status.step] ?? status.label } };
}

const KIT: readonly (readonly [string, string])[] = [
  ['RECEIVED', 'ordered'],
  ['RECEIVED', 'awaiting_registration'],
  ['COLLECTING_SAMPLE', 'transit_customer'],
  ['COLLECTING_SAMPLE', 'with_customer'],
  ['RECEIVED', 'registered'],
  ['COLLECTING_SAMPLE', 'transit_lab'],
  ['SAMPLE_WITH_LAB', 'delivered_to_lab'],
  ['COMPLETED', 'completed'],
];

const kit = (count: number, more: Partial<FakeOrder> = {}) => fakeOrder(KIT.slice(0, count), more);

/** Orders that show every look of a status. */
const ORDERS = {
  'Test kit on its way': kit(3),
  'Test kit delivered': kit(4),
  'Test kit registered after its delivery': kit(5),
  'Visit to a centre': fakeOrder(
    [
      ['RECEIVED', 'ordered'],
      ['COLLECTING_SAMPLE', 'appointment_scheduled'],
    ],
    { method: 'WALK_IN_TEST' },
  ),
  'Visit at home': fakeOrder(
    [
      ['RECEIVED', 'ordered'],
      ['COLLECTING_SAMPLE', 'appointment_pending'],
    ],
    { method: 'AT_HOME_PHLEBOTOMY' },
  ),
  'Collected on site': fakeOrder(
    [
      ['RECEIVED', 'ordered'],
      ['SAMPLE_WITH_LAB', 'draw_completed'],
    ],
    { method: 'ON_SITE_COLLECTION' },
  ),
  'A problem on the way': kit(6, {
    status: fakeStatus('COLLECTING_SAMPLE', 'problem_in_transit_lab', {
      needsAttention: true,
      label: 'Problem on the way to the lab',
    }),
  }),
  'Some results': fakeOrder(
    [
      ['RECEIVED', 'ordered'],
      ['SAMPLE_WITH_LAB', 'partial_results'],
    ],
    { method: 'WALK_IN_TEST' },
  ),
  Complete: kit(8),
  Cancelled: fakeOrder([
    ['RECEIVED', 'ordered'],
    ['CANCELLED', 'cancelled'],
  ]),
  Failed: kit(7, {
    status: fakeStatus('FAILED', 'sample_error', { needsAttention: true, label: 'Sample could not be used' }),
  }),
  'A status nobody knows': fakeOrder([['QUARANTINED', 'in_quarantine']], { method: 'AT_HOME_PHLEBOTOMY' }),
} as const satisfies Readonly<Record<string, FakeOrder>>;

const onItsWay = ORDERS['Test kit on its way'];

const FRESHNESS: Readonly<Record<ConnectionState, string>> = {
  live: 'Live',
  idle: 'Read once',
  connecting: 'Not yet connected',
  stale: 'Reconnecting',
  polling: 'Read from time to time',
  offline: 'Offline',
  closed: 'Paused',
};

const TROUBLE: readonly PortalErrorCode[] = [
  'NETWORK',
  'TIMEOUT',
  'NOT_FOUND',
  'UNAUTHENTICATED',
  'GATEWAY_ERROR',
  'ENDPOINT_INVALID',
];
const NO_LAUNCH: readonly PortalErrorCode[] = [
  'DEMOGRAPHICS_MISSING',
  'FEATURE_NOT_ENABLED',
  'NETWORK',
  'URL_REJECTED',
];

/** Every state, section by section. */
export const SECTIONS: readonly Section[] = [
  {
    title: 'Launch',
    states: [
      { name: 'Ready', make: () => launch({}) },
      { name: 'Opening', make: () => launch({}, { mode: 'redirect' }), act: press },
      { name: 'Tab held back', make: () => launch({ portalUrl: 'https://portal.test/' }), act: press },
      { name: 'With words of the page', make: () => launch({}, { textContent: 'See my test' }) },
      { name: 'Disabled', make: () => launch({}, { disabled: true }) },
      { name: 'With the status as text', make: () => launch({ order: onItsWay }) },
      { name: 'With the status as steps', make: () => launch({ order: onItsWay }, { status: 'steps' }) },
    ],
  },
  {
    title: 'Status as text',
    states: Object.entries(ORDERS).map(([name, order]) => ({ name, make: () => status({ order }) })),
  },
  {
    title: 'Status as steps',
    states: Object.entries(ORDERS).map(([name, order]) => ({
      name,
      make: () => status({ order }, { status: 'steps' }),
    })),
  },
  {
    title: 'Before there is anything to show',
    states: [
      { name: 'Loading, as text', make: () => status({}, loading) },
      { name: 'Loading, as steps', make: () => status({}, { ...loading, status: 'steps' }) },
      { name: 'No order', make: () => status({}) },
      {
        name: 'With the name of the test',
        make: () => status({ order: { ...onItsWay, labTest: { name: 'Lipid panel' } } }, { privacy: 'full' }),
      },
    ],
  },
  {
    title: 'Freshness',
    states: Object.entries(FRESHNESS).map(([connection, name]) => ({
      name,
      make: () => status({ order: onItsWay, connection: connection as ConnectionState }),
    })),
  },
  {
    title: 'Trouble',
    states: [
      ...TROUBLE.map((fails) => ({ name: `Status: ${fails}`, make: () => status({ fails }) })),
      ...NO_LAUNCH.map((launchFails) => ({
        name: `Launch: ${launchFails}`,
        make: () => launch({ launchFails }, { mode: 'redirect' }),
        act: press,
      })),
    ],
  },
];

/** What other hosts made of it, by custom properties and parts: a class of the gallery's style sheet each. */
export const HOSTS: Readonly<Record<string, string>> = {
  clinic: 'Warm, with round buttons: custom properties',
  night: 'A dark page: custom properties',
  outlined: 'An outlined button: ::part(button)',
  compact: 'Small, as wide as its place: both',
};

/** Pages that do not help: a class of the gallery's style sheet each. */
export const DIFFICULT_PAGES: Readonly<Record<string, string>> = {
  bare: 'A dark page that names no color-scheme',
  narrow: '200 pixels wide, text of 200 %',
};

/** The content of all of these pages. */
export const hostState = (): PortalElement => launch({ order: onItsWay }, { status: 'steps' });
