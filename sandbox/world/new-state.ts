import type { Order, OrderExtras } from '../orders/order.ts';
import { appendEvent, startOrder } from '../orders/progress.ts';
import { statusOf, successPathOf } from '../orders/states.ts';
import type { Demographics } from './people.ts';
import { emptyState, type WorldState } from './state.ts';
import { createUsers } from './users.ts';
import { createWorld, type World } from './world.ts';

interface SeededOrder {
  readonly user: number;
  readonly labTest: number;
  /** The last status, `stage.step`. */
  readonly ends: string;
  /** For an end beside the success path: the status before it. */
  readonly after?: string;
  readonly statusDetail?: string;
  readonly interpretation?: string;
  readonly registrable?: true;
  readonly redrawOfPrevious?: true;
  readonly extras?: OrderExtras;
  /** Scheduled: released this many days after it was placed. */
  readonly activatesAfterDays?: number;
}

type Row = readonly [user: number, labTest: number, ends: string, more?: Partial<SeededOrder>];

const delivered = { after: 'sample_with_lab.delivered_to_lab' };
const insured = { healthInsuranceId: '5b1c3a52-2f0e-4a7d-9c55-0d6a1f3e8b21' };
const kit = { registrable: true } as const;

/** Forty-eight orders: every method, every stage. User 0 has ten; users 12 and 13 have none. */
const rows: readonly Row[] = [
  [0, 0, 'completed.completed', { interpretation: 'abnormal' }],
  [0, 2, 'completed.completed', { extras: { clinicalNotes: 'Fasting since the evening before.' } }],
  [0, 4, 'completed.corrected', { after: 'completed.completed', interpretation: 'abnormal' }],
  [0, 6, 'completed.completed', { interpretation: 'critical', extras: { notes: 'Drawn at the clinic.' } }],
  [0, 1, 'failed.sample_error', { ...delivered, statusDetail: 'sample_hemolyzed' }],
  [0, 0, 'cancelled.cancelled', { after: 'received.ordered' }],
  [0, 1, 'collecting_sample.with_customer', kit],
  [0, 3, 'collecting_sample.appointment_scheduled', { extras: { hasAbn: true } }],
  [0, 0, 'collecting_sample.transit_lab', kit],
  [0, 5, 'received.requisition_created'],
  [1, 2, 'collecting_sample.redraw_available', { after: 'sample_with_lab.partial_results' }],
  [1, 2, 'received.requisition_created', { redrawOfPrevious: true }],
  [1, 0, 'completed.completed', kit],
  [1, 1, 'collecting_sample.problem_in_transit_customer', { after: 'collecting_sample.transit_customer' }],
  [1, 7, 'sample_with_lab.draw_completed'],
  [2, 4, 'completed.completed'],
  [2, 5, 'collecting_sample.appointment_cancelled', { after: 'collecting_sample.appointment_scheduled' }],
  [2, 0, 'sample_with_lab.delivered_to_lab'],
  [2, 1, 'received.awaiting_registration', kit],
  [
    3,
    0,
    'sample_with_lab.lab_processing_blocked',
    { ...delivered, statusDetail: 'date_of_collection_unspecified' },
  ],
  [3, 6, 'received.ordered', { activatesAfterDays: 102 }],
  [3, 3, 'completed.completed', { interpretation: 'abnormal', extras: insured }],
  [4, 5, 'collecting_sample.draw_completed'],
  [4, 1, 'failed.failure_to_deliver_to_customer', { after: 'collecting_sample.out_for_delivery' }],
  [4, 2, 'sample_with_lab.partial_results'],
  [5, 0, 'received.registered', kit],
  [5, 7, 'completed.completed'],
  [5, 3, 'cancelled.cancelled', { after: 'received.requisition_created' }],
  [6, 0, 'failed.lost', { after: 'collecting_sample.transit_lab' }],
  [6, 4, 'collecting_sample.appointment_pending'],
  [7, 1, 'collecting_sample.problem_in_transit_lab', { after: 'collecting_sample.transit_lab' }],
  [7, 2, 'completed.completed'],
  [7, 6, 'failed.sample_error', { after: 'sample_with_lab.draw_completed' }],
  [8, 0, 'cancelled.do_not_process', { after: 'received.requisition_created' }],
  [8, 5, 'sample_with_lab.partial_results', { after: 'collecting_sample.draw_completed' }],
  [9, 1, 'collecting_sample.transit_customer', kit],
  [10, 7, 'received.requisition_bypassed', { after: '' }],
  [10, 3, 'received.ordered'],
  [10, 0, 'completed.completed', { ...kit, interpretation: 'abnormal' }],
  [11, 0, 'collecting_sample.out_for_delivery', kit],
  [14, 2, 'received.requisition_created'],
  [14, 1, 'sample_with_lab.delivered_to_lab', kit],
  [15, 4, 'collecting_sample.appointment_scheduled'],
  [16, 6, 'completed.completed'],
  [17, 3, 'collecting_sample.appointment_pending'],
  [17, 0, 'received.awaiting_registration', kit],
  [18, 5, 'received.ordered'],
  [19, 7, 'sample_with_lab.draw_completed'],
];

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
/** Each seeded order has ended its seeded history before the next one begins. */
const betweenOrdersMs = 4 * dayMs;
/** The first account is this much older than the first order. */
const beforeOrdersMs = 147 * dayMs + 4 * hourMs;
/** The end of a history that has no other. */
export const usualEndMs = Date.parse('2025-12-11T13:00:00Z');

function shippingOf(demographics: Demographics | null | undefined) {
  return {
    receiver_name: demographics ? `${demographics.first_name} ${demographics.last_name}` : 'Front Desk',
    first_line: demographics?.address.first_line ?? '1 Example Plaza',
    second_line: demographics?.address.second_line ?? null,
    city: demographics?.address.city ?? 'Austin',
    state: demographics?.address.state ?? 'TX',
    zip: demographics?.address.zip ?? '78701',
    country: 'United States',
    phone_number: demographics?.phone_number ?? '+15125550199',
  };
}

/** The statuses of an order, up to the last one of its row. */
function statusesOf(row: SeededOrder, order: Order): readonly string[] {
  const path = successPathOf(order);
  const end = statusOf(order.method, row.ends);
  if (row.after === undefined) return path.slice(0, path.indexOf(end) + 1);
  if (row.after === '') return [end];
  return [...path.slice(0, path.indexOf(statusOf(order.method, row.after)) + 1), end];
}

function extrasOf({ extras = {}, activatesAfterDays }: SeededOrder, createdAt: number): OrderExtras {
  if (activatesAfterDays === undefined) return extras;
  const activatesAt = new Date(createdAt + activatesAfterDays * dayMs);
  return { ...extras, activateBy: activatesAt.toISOString().slice(0, 10) };
}

interface Place {
  readonly createdAt: number;
  /** The order of the row before this one. */
  readonly previous: Order | undefined;
}

function createSeededOrder(world: World, row: SeededOrder, { createdAt, previous }: Place): Order {
  const user = world.state.users[row.user];
  const labTest = world.catalogue.labTests[row.labTest];
  if (!user || !labTest) throw new Error(`Seeded order ${row.ends} names an unknown user or lab test.`);
  const order = startOrder(world, {
    userId: user.id,
    labTestId: labTest.id,
    method: labTest.method,
    registrable: row.registrable ?? false,
    createdAt,
    ...(labTest.method === 'testkit' ? { shippingDetails: shippingOf(user.demographics) } : {}),
    extras: extrasOf(row, createdAt),
    ...(row.redrawOfPrevious && previous ? { redrawOf: previous } : {}),
  });
  const statuses = statusesOf(row, order);
  statuses.forEach((status, step) => {
    const isLast = step === statuses.length - 1;
    appendEvent(world, order, {
      status,
      at: createdAt + step * 9 * hourMs,
      ...(isLast ? { statusDetail: row.statusDetail } : {}),
      interpretation: row.interpretation,
    });
  });
  return order;
}

/** What a new world is made from, as in the options of a sandbox. */
interface NewWorld {
  readonly seed: number;
  readonly historyEndsAt: number;
  readonly firstNumber: number;
}

let newest: { readonly key: string; readonly state: WorldState } | null = null;

/** The invented users and orders of one seed: equal options make equal worlds. No order is newer than `historyEndsAt`. */
export function createState(options: NewWorld): WorldState {
  // Tests start hundreds of sandboxes with one seed: to copy a state takes a third of the time to make one.
  const key = JSON.stringify(options);
  if (newest?.key !== key) newest = { key, state: makeState(options) };
  return structuredClone(newest.state);
}

function makeState({ seed, historyEndsAt, firstNumber }: NewWorld): WorldState {
  const firstOrderMs = historyEndsAt - rows.length * betweenOrdersMs;
  const users = createUsers(seed, firstOrderMs - beforeOrdersMs);
  const state: WorldState = { ...emptyState(seed, firstNumber), users };
  const world = createWorld(state);
  const orders: Order[] = [];
  for (const [user, labTest, ends, more] of rows) {
    const createdAt = firstOrderMs + orders.length * betweenOrdersMs;
    const place = { createdAt, previous: orders.at(-1) };
    orders.push(createSeededOrder(world, { user, labTest, ends, ...more }, place));
  }
  state.orders.push(...orders);
  return state;
}
