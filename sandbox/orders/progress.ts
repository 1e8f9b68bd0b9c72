import { activeAppointment, followOrder, presentAppointment } from '../appointments/appointment.ts';
import type { Service } from '../service.ts';
import { formatTimestamp } from '../world/clock.ts';
import { seededNumber, seededUuid } from '../world/ids.ts';
import type { Address } from '../world/people.ts';
import { findUser, type World } from '../world/world.ts';
import type { Order, PatientDetails } from './order.ts';
import { partsOf } from './states.ts';

const firstEventId = 728_001;

/** The first values of an order. */
interface NewOrder
  extends Pick<Order, 'userId' | 'labTestId' | 'method' | 'registrable' | 'createdAt'>,
    Partial<Pick<Order, 'shippingDetails' | 'passthrough' | 'extras' | 'sampleId' | 'generatedLabTest'>> {
  /** The order that this one repeats with a new sample. */
  readonly redrawOf?: Order;
  /** It replaces an order that was placed wrongly (specification: update_reason). */
  readonly isRecreation?: boolean;
  readonly patient?: Patient;
}

/** The person an order is for, from its request. */
export interface Patient {
  readonly details: PatientDetails;
  readonly address: Address;
}

/** An order without events; the caller puts it into the world and appends the first event. */
export function startOrder(world: World, from: NewOrder): Order {
  const { seed, counters } = world.state;
  const ordinal = counters.orders;
  counters.orders += 1;
  const order: Order = {
    id: seededUuid(seed, 'order', ordinal),
    ordinal,
    userId: from.userId,
    labTestId: from.labTestId,
    method: from.method,
    registrable: from.registrable,
    origin: originOf(from),
    transactionId: from.redrawOf?.transactionId ?? seededUuid(seed, 'transaction', ordinal),
    parentId: from.redrawOf?.id ?? null,
    detailsId: seededUuid(seed, 'details', ordinal),
    createdAt: from.createdAt,
    updatedAt: from.createdAt,
    events: [],
    patientDetails: from.patient?.details ?? null,
    patientAddress: from.patient?.address ?? null,
    shippingDetails: from.shippingDetails ?? null,
    shipment: null,
    sampleId: from.sampleId ?? (from.method === 'testkit' ? sampleIdOf(seed, ordinal) : null),
    requisitionFormUrl: null,
    interpretation: null,
    passthrough: from.passthrough ?? null,
    extras: from.extras ?? {},
    ...(from.generatedLabTest ? { generatedLabTest: from.generatedLabTest } : {}),
  };
  if (!from.registrable && !from.patient) setPatient(world, order);
  return order;
}

function originOf(from: NewOrder): Order['origin'] {
  if (from.redrawOf) return 'redraw';
  return from.isRecreation ? 'recreation' : 'initial';
}

function sampleIdOf(seed: number, ordinal: number): string {
  return `SMP${String(seededNumber(seed, 'sample', ordinal)).padStart(10, '0')}`;
}

/** Patient and address come from the demographics; without them, the receiver of the parcel is the patient. */
function setPatient(world: World, order: Order): void {
  const known = findUser(world, order.userId)?.demographics;
  const [first, last] = nameOfReceiver(order);
  order.patientDetails = {
    first_name: known?.first_name ?? first,
    last_name: known?.last_name ?? last,
    dob: `${known?.dob ?? '1990-01-01'}T00:00:00+00:00`,
    gender: known?.gender ?? 'unknown',
    phone_number: known?.phone_number ?? order.shippingDetails?.phone_number ?? null,
    email: known?.email ?? null,
    medical_proxy: known?.medical_proxy ?? null,
    race: known?.race ?? null,
    ethnicity: known?.ethnicity ?? null,
    sexual_orientation: known?.sexual_orientation ?? null,
    gender_identity: known?.gender_identity ?? null,
  };
  const { first_name, last_name, phone_number } = order.patientDetails;
  const receiver = { receiver_name: `${first_name} ${last_name}`, phone_number: phone_number ?? '' };
  const address = known?.address ?? order.shippingDetails;
  order.patientAddress = address ? { ...receiver, ...address, country: 'United States' } : null;
}

function nameOfReceiver({ shippingDetails }: Order): readonly [string, string] {
  const [first = 'Patient', ...rest] = (shippingDetails?.receiver_name ?? 'Patient Unknown').split(' ');
  return [first, rest.join(' ') || 'Unknown'];
}

function trackingOf(seed: number, direction: string, ordinal: number) {
  const number = `EX${String(seededNumber(seed, direction, ordinal)).padStart(10, '0')}`;
  return { number, url: `https://tracking.example.com/${number}` };
}

function sendParcel(world: World, order: Order, at: string): void {
  const { number, url } = trackingOf(world.state.seed, 'outbound', order.ordinal);
  order.shipment = {
    id: seededUuid(world.state.seed, 'shipment', order.ordinal),
    created_at: at,
    updated_at: at,
    outbound_courier: 'Example Express',
    outbound_tracking_number: number,
    outbound_tracking_url: url,
    inbound_courier: null,
    inbound_tracking_number: null,
    inbound_tracking_url: null,
    notes: null,
  };
}

function returnParcel(world: World, order: Order, at: string): void {
  if (!order.shipment) sendParcel(world, order, at);
  const { number, url } = trackingOf(world.state.seed, 'inbound', order.ordinal);
  if (!order.shipment) return;
  order.shipment.updated_at = at;
  order.shipment.inbound_courier = 'Example Express';
  order.shipment.inbound_tracking_number = number;
  order.shipment.inbound_tracking_url = url;
}

/** A sample has its number and its person from the requisition on; without a requisition, from the start. */
function identifySample(world: World, order: Order): void {
  if (!order.patientDetails) setPatient(world, order);
  order.sampleId ??= sampleIdOf(world.state.seed, order.ordinal);
}

function writeRequisition(world: World, order: Order): void {
  identifySample(world, order);
  order.requisitionFormUrl = `https://files.example.com/requisitions/${order.id}.pdf`;
}

/** Changes the other fields of an order that reaches a step. */
function applyStep(world: World, order: Order, event: EventToAppend): void {
  const at = formatTimestamp(event.at);
  const { stage, step } = partsOf(event.status);
  followOrder(world, order, { stage, step, at: event.at });
  switch (step) {
    case 'transit_customer':
      sendParcel(world, order, at);
      break;
    case 'transit_lab':
      returnParcel(world, order, at);
      break;
    case 'registered':
      if (!order.patientDetails) setPatient(world, order);
      break;
    case 'requisition_bypassed':
      identifySample(world, order);
      break;
    case 'requisition_created':
      writeRequisition(world, order);
      break;
    case 'completed':
      order.interpretation = event.interpretation ?? 'normal';
      order.hasMissingResults = event.hasMissingResults;
      break;
    case 'corrected':
      order.interpretation = event.interpretation ?? order.interpretation;
      order.hasMissingResults = event.hasMissingResults ?? order.hasMissingResults;
  }
}

/** One step to take. */
interface EventToAppend {
  readonly status: string;
  readonly at: number;
  readonly statusDetail?: string | undefined;
  readonly interpretation?: string | undefined;
  readonly hasMissingResults?: boolean | undefined;
}

/** Appends an event to the order, with all that goes with it: parcels, registration, requisition, result. */
export function appendEvent(world: World, order: Order, event: EventToAppend): void {
  const { counters } = world.state;
  order.events.push({
    id: firstEventId + counters.events,
    createdAt: event.at,
    status: event.status,
    statusDetail: event.statusDetail ?? null,
  });
  counters.events += 1;
  order.updatedAt = event.at;
  applyStep(world, order, event);
}

/** Appends an event that happens now, and sends its webhooks, also the one of an appointment that it cancels. */
export function advance(
  { world, clock, announcer }: Service,
  order: Order,
  event: Omit<EventToAppend, 'at'>,
): void {
  const appointment = activeAppointment(world, order);
  appendEvent(world, order, { ...event, at: clock.now() });
  announcer.announce(order);
  if (appointment?.events.at(-1)?.status !== 'cancelled') return;
  const subject = { userId: order.userId, orderId: order.id };
  announcer.send('labtest.appointment.updated', presentAppointment(world, appointment), subject);
}
