import type { Order, OrderEvent } from '../orders/order.ts';
import { partsOf } from '../orders/states.ts';
import type { Marker } from '../world/catalogue.ts';
import { formatTimestamp } from '../world/clock.ts';
import { labs } from '../world/lab-tests.ts';
import { labTestOf, type World } from '../world/world.ts';
import { type Interpretation, type Measurement, measure } from './measure.ts';

const resultSteps = new Set(['partial_results', 'completed', 'corrected', 'redraw_available']);
const drawSteps = new Set(['draw_completed', 'transit_lab', 'appointment_scheduled']);

/** Why a result is missing, in turn (public service: FailureType). */
const failures = [
  ['quantity_not_sufficient_failure', 'The sample was too small for this test.'],
  ['patient_condition_failure', 'The sample was lipemic.'],
  ['internal_lab_failure', null],
] as const;

/** The event that last brought results; undefined before there are any. */
function lastResultOf(order: Order): OrderEvent | undefined {
  return order.events.findLast((event) => resultSteps.has(partsOf(event.status).step));
}

/** One thing that an order is to bring back, and the marker it comes from. */
interface Expected {
  readonly marker: Marker;
  readonly expected: Marker['expected_results'][number];
}

function expectedOf(world: World, order: Order): readonly Expected[] {
  const ids = labTestOf(world, order)?.markerIds ?? [];
  return world.catalogue.markers
    .filter((marker) => ids.includes(marker.id))
    .flatMap((marker) => marker.expected_results.map((expected) => ({ marker, expected })));
}

/** Whether results are missing: as the simulation set it, otherwise in every fourth order that has several results. */
function isIncomplete(order: Order, total: number): boolean {
  return order.hasMissingResults ?? (order.ordinal % 4 === 1 && total > 1);
}

/** How many results there are: a first part while the lab works; where some are missing, all but two, or half if that is more. */
function countOf(order: Order, total: number): number {
  const step = partsOf(lastResultOf(order)?.status ?? '').step;
  if (step === 'partial_results') return Math.ceil((total * 2) / 3);
  if (step === 'redraw_available') return Math.ceil(total / 2);
  return isIncomplete(order, total) ? Math.max(Math.floor(total / 2), total - 2) : total;
}

/** Whether expected results are missing; null before the results are final. */
export function hasMissingResults(world: World, order: Order): boolean | null {
  const result = lastResultOf(order);
  if (!result || partsOf(result.status).step === 'partial_results') return null;
  const total = expectedOf(world, order).length;
  return countOf(order, total) < total;
}

/** The first result is critical in a critical order; the first, the one after it, or every ninth, is out of range. */
function interpretationOf(order: Order, place: number): Interpretation {
  if (order.interpretation === 'critical') return (['critical', 'abnormal'] as const)[place] ?? 'normal';
  return order.interpretation === 'abnormal' && place % 9 === 0 ? 'abnormal' : 'normal';
}

function sourceOf({ marker, expected }: Expected) {
  return {
    loinc: expected.loinc.code,
    loinc_slug: expected.loinc.slug,
    provider_id: expected.provider_id,
    source_markers: [
      { marker_id: marker.id, name: marker.name, slug: marker.slug, provider_id: marker.provider_id },
    ],
  };
}

/** The lab's own mark; a remark has none. */
function markOf({ type, interpretation, isAbove, isBelow }: Measurement): string {
  if (type === 'comment') return '';
  if (interpretation === 'normal') return 'N';
  if (isBelow) return 'L';
  return isAbove ? 'H' : 'A';
}

function presentResult(world: World, order: Order, { each, place }: { each: Expected; place: number }) {
  const measured = measure({
    seed: world.state.seed,
    ordinal: order.ordinal,
    loinc: each.expected.loinc.code,
    gender: order.patientDetails?.gender ?? 'unknown',
    interpretation: interpretationOf(order, place),
  });
  const event = lastResultOf(order);
  return {
    name: each.expected.name,
    slug: each.expected.slug,
    value: measured.value,
    result: measured.result,
    type: measured.type,
    unit: each.expected.loinc.unit,
    timestamp: formatTimestamp(event?.createdAt ?? order.updatedAt),
    notes: partsOf(event?.status ?? '').step === 'corrected' && place === 0 ? 'Corrected by the lab.' : null,
    reference_range: measured.range,
    min_range_value: measured.min,
    max_range_value: measured.max,
    is_above_max_range: measured.isAbove,
    is_below_min_range: measured.isBelow,
    interpretation: measured.interpretation,
    source_interpretation: markOf(measured),
    ...sourceOf(each),
    performing_laboratory: labOf(world, order)?.name ?? null,
    source_sample_id: order.sampleId,
  };
}

function presentMissing(each: Expected, index: number) {
  const [type, note] = failures[index % failures.length] ?? failures[0];
  return {
    name: each.expected.name,
    slug: each.expected.slug,
    inferred_failure_type: type,
    note,
    ...sourceOf(each),
  };
}

function labOf(world: World, order: Order) {
  const labId = labTestOf(world, order)?.labId;
  return labs.find((lab) => lab.id === labId);
}

function ageAt(dob: string, timeMs: number): string {
  const yearMs = 365.2425 * 24 * 60 * 60 * 1000;
  return String(Math.floor((timeMs - Date.parse(dob)) / yearMs));
}

/** When the sample was taken, came to the lab and was reported. */
function timesOf(order: Order, result: OrderEvent) {
  const drawn = order.events.findLast((event) => drawSteps.has(partsOf(event.status).step));
  const received = order.events.find((event) => partsOf(event.status).stage === 'sample_with_lab');
  return {
    date_collected: formatTimestamp(drawn?.createdAt ?? order.createdAt),
    date_received: formatTimestamp(received?.createdAt ?? result.createdAt),
    date_reported: formatTimestamp(result.createdAt),
  };
}

/** Who was tested, by whom and when (public service: LabResultsMetadata); null before results. */
export function presentMetadata(world: World, order: Order) {
  const result = lastResultOf(order);
  if (!result) return null;
  const { first_name = '', last_name = '', dob = '1990-01-01' } = order.patientDetails ?? {};
  return {
    age: ageAt(dob, result.createdAt),
    dob: dob.slice(0, 10),
    'clia_#': '00D0000000',
    patient: `${first_name} ${last_name}`.trim(),
    provider: 'Dr. Jordan Placeholder',
    laboratory: labOf(world, order)?.name ?? null,
    ...timesOf(order, result),
    specimen_number: order.sampleId ?? '',
    status: partsOf(result.status).step === 'partial_results' ? 'partial' : 'final',
    interpretation: order.interpretation,
    patient_id: null,
    account_id: null,
  };
}

/** Address and medical director of a lab (public service: PerformingLaboratory). */
function presentLaboratory({ name, city }: (typeof labs)[number]) {
  return {
    name,
    phone_number: '+16025550142',
    medical_director: 'Dr. Robin Standin',
    address: {
      first_line: '1 Example Plaza',
      second_line: null,
      city,
      state: 'AZ',
      zip: '85004',
      country: 'US',
      access_notes: null,
    },
  };
}

function presentSamples(world: World, order: Order, result: OrderEvent) {
  const sampleId = order.sampleId ?? order.id;
  const lab = labOf(world, order);
  return {
    [sampleId]: {
      sample_id: order.sampleId,
      control_number: null,
      ...timesOf(order, result),
      performing_laboratories: lab ? { [lab.slug]: presentLaboratory(lab) } : null,
      clinical_information: {
        fasting: false,
        notes: null,
        information: 'No medication was reported.',
        total_volume: '5 mL',
      },
    },
  };
}

/** The results of an order (public service: LabResultsRaw); null before there are any. */
export function presentResults(world: World, order: Order) {
  const metadata = presentMetadata(world, order);
  const result = lastResultOf(order);
  if (!metadata || !result) return null;
  const expected = expectedOf(world, order);
  const count = countOf(order, expected.length);
  const isOpen = metadata.status === 'partial';
  return {
    metadata,
    results: expected.slice(0, count).map((each, place) => presentResult(world, order, { each, place })),
    missing_results: isOpen ? null : expected.slice(count).map(presentMissing),
    sample_information: presentSamples(world, order, result),
    order_transaction: null,
  };
}
