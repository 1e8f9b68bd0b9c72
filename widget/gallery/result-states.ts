import type { ConnectionState } from '../src/live/order-listener.ts';
import type { PortalResults } from '../src/results/portal-results.ts';
import { FAKE_ORDER_ID, type FakeOrder, fakeOrder, fakeStatus } from '../src/testing/fake-order.ts';
import { fakeBiomarker, fakeResults } from '../src/testing/fake-results.ts';
import { createFixedClient, type Fixed } from './fixed-client.ts';
import type { State } from './states.ts';

const done: FakeOrder = {
  ...fakeOrder([
    ['RECEIVED', 'ordered'],
    ['COMPLETED', 'completed'],
  ]),
  labTest: { name: 'Annual Check-up' },
};
const withStep = (stage: string, step: string): FakeOrder => ({ ...done, status: fakeStatus(stage, step) });

function results(
  fixed: Fixed,
  settings: Partial<Pick<PortalResults, 'privacy' | 'orderId'>> = {},
): PortalResults {
  const client = createFixedClient(fixed);
  const fields = { client, live: 'always', privacy: 'full', orderId: FAKE_ORDER_ID, ...settings };
  return Object.assign(document.createElement('portal-results'), fields);
}

const full = fakeResults();
const corrected = fakeResults({
  metadata: { ...full.metadata, statusRaw: 'corrected', interpretation: 'CRITICAL' },
  biomarkers: [
    ...full.biomarkers.slice(-1),
    fakeBiomarker('Hemoglobin', '9.1', {
      unit: 'g/dL',
      referenceRange: '13.0-17.7',
      isBelowRange: true,
      interpretation: 'CRITICAL',
      notes: 'Corrected from 19.1.',
      performingLaboratory: 'Specimen Labs',
    }),
    fakeBiomarker('Remark', '', { type: 'COMMENT', interpretation: null }),
  ],
  missing: [],
});
const CONNECTIONS: readonly ConnectionState[] = [
  'idle',
  'connecting',
  'stale',
  'polling',
  'offline',
  'closed',
];
const many = Array.from({ length: 501 }, (_, index) => fakeBiomarker(`Test ${index + 1}`, '1'));

type Shown = readonly State<PortalResults>[];

const WITH_RESULTS: Shown = [
  { name: 'All results', make: () => results({ order: done, results: full }) },
  {
    name: 'Some of them',
    make: () =>
      results({
        order: withStep('SAMPLE_WITH_LAB', 'partial_results'),
        results: fakeResults({ biomarkers: full.biomarkers.slice(0, 3), missing: [] }),
      }),
  },
  {
    name: 'Corrected and critical, of two laboratories',
    make: () => results({ order: withStep('COMPLETED', 'corrected'), results: corrected }),
  },
  {
    name: 'With privacy="minimal"',
    make: () => results({ order: done, results: full }, { privacy: 'minimal' }),
  },
];

const OTHERS: Shown = [
  {
    name: 'The report is not ready',
    make: () => results({ order: done, results: fakeResults({ biomarkers: full.biomarkers.slice(0, 1) }) }),
    act: async (element) => {
      await untilReady(element);
      element.shadowRoot?.querySelector<HTMLElement>('.download')?.click();
    },
  },
  { name: 'None yet', make: () => results({ order: done, results: null }) },
  { name: 'Loading', make: () => results({ order: done }) },
  { name: 'No order', make: () => results({}, { orderId: null }) },
  {
    name: 'A token without read:results',
    make: () => results({ order: done, resultsFail: 'SCOPE_MISSING' }),
  },
  { name: 'No answer', make: () => results({ order: done, resultsFail: 'TIMEOUT' }) },
];

/** The states of `<portal-results>` by section. */
export const RESULT_SECTIONS: Readonly<Record<string, Shown>> = {
  Results: WITH_RESULTS,
  'Results that are not there': OTHERS,
};

/** States that are too long for a picture. */
export const LONG_RESULT_STATES: Shown = [
  { name: 'Too many', make: () => results({ order: done, results: fakeResults({ biomarkers: many }) }) },
  ...CONNECTIONS.map((connection) => ({
    name: connection,
    make: () => results({ order: done, results: full, connection }),
  })),
];

async function untilReady(element: PortalResults): Promise<void> {
  while (element.phase !== 'ready') await new Promise((resolve) => setTimeout(resolve));
  await element.updateComplete;
}
