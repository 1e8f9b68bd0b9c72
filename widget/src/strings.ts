import type { ErrorTexts } from './errors.ts';
import type { CollectionMethod, OrderStage } from './order.ts';

/** Every text the widget shows. `{time}` and `{status}` are replaced. */
export interface Strings {
  readonly open: string;
  readonly opening: string;
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
  /** Statuses by step; English has none, because the gateway's own label is English. */
  readonly statuses: Readonly<Record<string, string | undefined>>;
  readonly errors: ErrorTexts;
}

/** English, the language everything else falls back to. */
const english: Strings = {
  open: 'Open patient portal',
  opening: 'Opening…',
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
    asOf: 'As of {time}',
    stale: 'Reconnecting… as of {time}',
    polling: 'Checked {time}',
    offline: 'Offline, as of {time}',
  },
  stepStates: { done: 'done', reached: 'begun', ahead: 'not begun' },
  stages: {
    RECEIVED: 'Order placed',
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
  statuses: {},
  errors: {
    DEMOGRAPHICS_MISSING: 'A few personal details are still missing before the portal can open.',
    FEATURE_NOT_ENABLED: 'The patient portal is not available here.',
    NOT_FOUND: 'This order could not be found.',
    NETWORK: 'There is no connection right now. Please try again.',
    TIMEOUT: 'This is taking longer than usual. Please try again.',
    other: 'Something went wrong. Please try again in a moment.',
  },
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
