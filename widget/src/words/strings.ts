import type { ErrorTexts } from '../gateway/errors.ts';
import type { CollectionMethod, OrderStage } from '../live/order.ts';
import type { PartialResultStrings } from '../results/strings.ts';

/** Every text the widget shows. `{time}`, `{status}` and `{page}` (the host of the page's address) are replaced. */
export interface Strings {
  readonly open: string;
  readonly opening: string;
  /** In the tab that waits for the portal. */
  readonly waiting: string;
  readonly openLink: string;
  readonly blocked: string;
  readonly retry: string;
  readonly loading: string;
  readonly empty: string;
  readonly attention: string;
  readonly steps: string;
  readonly changed: string;
  readonly freshness: Readonly<Record<'live' | 'asOf' | 'stale' | 'polling' | 'offline', string>>;
  readonly stepStates: Readonly<Record<'done' | 'reached' | 'ahead', string>>;
  readonly stages: Readonly<Record<OrderStage, string>>;
  /** More precise stage names for one collection method. */
  readonly stagesByMethod: Readonly<
    Partial<Record<CollectionMethod, Readonly<Partial<Record<OrderStage, string>>>>>
  >;
  /** Statuses by step; English has few, because the gateway's own label is English. */
  readonly statuses: Readonly<Record<string, string | undefined>>;
  /** What comes next after a status, by step, or by method and step where the methods differ. */
  readonly next: Readonly<Record<string, string | undefined>>;
  readonly errors: ErrorTexts;
  /** Of `<portal-results>`, which brings its own English. */
  readonly results: PartialResultStrings;
}

/** English, the language everything else falls back to. */
const english: Strings = {
  open: 'Open patient portal',
  opening: 'Opening…',
  waiting: '{page} is opening your patient portal…',
  openLink: 'Open in a new tab',
  blocked: 'Your browser held the new tab back. Use the link to open the portal.',
  retry: 'Try again',
  loading: 'Loading the status of your order',
  empty: 'No order to show yet.',
  attention: 'Needs attention',
  steps: 'Progress of your order',
  changed: 'Order status: {status}',
  freshness: {
    live: 'Up to date',
    asOf: 'Last checked {time}',
    stale: 'Reconnecting… Last checked {time}',
    polling: 'Last checked {time}',
    offline: 'You are offline. Last checked {time}',
  },
  stepStates: { done: 'done', reached: 'begun', ahead: 'not begun' },
  stages: {
    RECEIVED: 'Ordered',
    COLLECTING_SAMPLE: 'Sample collection',
    SAMPLE_WITH_LAB: 'At the lab',
    COMPLETED: 'Results ready',
    CANCELLED: 'Cancelled',
    FAILED: 'Could not be completed',
    UNKNOWN: 'In progress',
  },
  stagesByMethod: {
    TESTKIT: { COLLECTING_SAMPLE: 'Your test kit' },
    WALK_IN_TEST: { COLLECTING_SAMPLE: 'Visit to a centre' },
    AT_HOME_PHLEBOTOMY: { COLLECTING_SAMPLE: 'Visit at home' },
  },
  statuses: {
    REQUISITION_CREATED: 'Lab order ready',
    REQUISITION_BYPASSED: 'Lab order ready',
    DO_NOT_PROCESS: 'Will not be tested',
  },
  next: {
    ORDERED: 'Your order is being prepared.',
    'TESTKIT.ORDERED': 'Your kit is being prepared for shipping.',
    'TESTKIT.REQUISITION_CREATED': 'Next, your kit is shipped.',
    'WALK_IN_TEST.REQUISITION_CREATED': 'Visit a centre to have your sample taken.',
    'AT_HOME_PHLEBOTOMY.REQUISITION_CREATED': 'Next, an appointment is made for a visit to your home.',
    'ON_SITE_COLLECTION.REQUISITION_CREATED': 'Your sample can now be taken on site.',
    AWAITING_REGISTRATION: 'Register your kit when you have it.',
    TRANSIT_CUSTOMER: 'When it arrives, follow the instructions in the kit.',
    OUT_FOR_DELIVERY: 'When it arrives, follow the instructions in the kit.',
    PROBLEM_IN_TRANSIT_CUSTOMER: 'The delivery may be late. If the kit does not arrive, contact support.',
    WITH_CUSTOMER: 'Follow the instructions in the kit, then send your sample to the lab.',
    REGISTERED: 'Take your sample as the kit’s instructions say, then send it to the lab.',
    TRANSIT_LAB: 'The lab tests your sample when it arrives.',
    PROBLEM_IN_TRANSIT_LAB: 'Your sample may reach the lab late.',
    DELIVERED_TO_LAB: 'The lab is testing your sample. Your results come next.',
    LAB_PROCESSING_BLOCKED: 'The test goes on when the lab has the missing information.',
    APPOINTMENT_PENDING: 'Your appointment still has to be confirmed.',
    'WALK_IN_TEST.APPOINTMENT_SCHEDULED': 'Go to the centre at the time of your appointment.',
    'AT_HOME_PHLEBOTOMY.APPOINTMENT_SCHEDULED':
      'Be at home at the time of your appointment. Your sample is taken there.',
    APPOINTMENT_CANCELLED: 'A new appointment is needed.',
    DRAW_COMPLETED: 'Next, the lab tests your sample.',
    PARTIAL_RESULTS: 'The other results follow.',
    REDRAW_AVAILABLE: 'Some results are missing. A new sample can be taken for them.',
    COMPLETED: 'Your results are in the patient portal.',
    CORRECTED: 'The lab has corrected your results. Please read the new ones.',
    CANCELLED: 'Nothing more happens with this order.',
    DO_NOT_PROCESS: 'Ask support how to go on.',
    SAMPLE_ERROR: 'A new sample is needed. Contact support.',
    LOST: 'A new sample is needed. Contact support.',
    FAILURE_TO_DELIVER_TO_LAB: 'A new sample is needed. Contact support.',
    FAILURE_TO_DELIVER_TO_CUSTOMER: 'Contact support to get another kit.',
  },
  errors: {
    DEMOGRAPHICS_MISSING:
      'A few personal details are still missing before the portal can open. Add them, or contact support.',
    FEATURE_NOT_ENABLED: 'The patient portal is not available here. Ask support for your results.',
    NOT_FOUND: 'This order could not be found. If it should be here, contact support.',
    UNAUTHENTICATED: 'Your sign-in has ended, or may not show this. Sign in again, then try again.',
    NETWORK: 'There is no connection right now. Check your internet, then try again.',
    TIMEOUT: 'This is taking longer than usual. Please try again.',
    other: 'Something went wrong. Please try again in a moment.',
    final: 'This does not work here at the moment. Contact support.',
  },
  results: {},
};

/** The texts a host or a language may replace: any of them, alone. */
export type PartialStrings = {
  readonly [Key in keyof Strings]?: Strings[Key] extends string ? string : Partial<Strings[Key]>;
};

/** English with other texts over it, group by group; the last one wins. */
export function mergeStrings(...layers: readonly (PartialStrings | null | undefined)[]): Strings {
  const merged: Record<string, unknown> = {};
  for (const layer of [english, ...layers]) {
    for (const [key, text] of Object.entries(layer ?? {})) {
      // A text that a host leaves undefined is none.
      if (typeof text === 'string') merged[key] = text;
      // Without a prototype: a status of the service may be called `constructor`.
      else if (text) merged[key] = Object.assign(Object.create(null), merged[key], text);
    }
  }
  return merged as unknown as Strings;
}
