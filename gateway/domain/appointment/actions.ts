import { GatewayError, isGatewayError } from '../../errors.ts';
import { countCharacters } from '../../graph/arguments.ts';
import type { GraphContext } from '../../graph/context.ts';
import { findIssues, findKeyIssues, type InputRule, isGiven } from '../../graph/input-rules.ts';
import { type InputIssue, inputRejected } from '../../graph/user-error.ts';
import { fingerprintOf, referenceOf } from '../order/place/actions-reference.ts';
import {
  type AppointmentChange,
  type AppointmentResult,
  changeAppointment,
  type RefusedState,
} from './actions-change.ts';
import {
  type AppointmentKind,
  type AppointmentRequest,
  type Booking,
  bookAppointment,
  bookCenterAppointment,
  type Cancellation,
  cancelAppointment,
  isActive,
  listCancellationReasons,
  requestAppointment,
  rescheduleAppointment,
  type VisitAddress,
} from './rest.ts';

/** The order whose appointment is meant, and the kind of appointment. */
export interface Target {
  readonly kind: AppointmentKind;
  readonly orderId: string;
}

/** Specification, Appointment notes; the bound is the public service's. */
const maxNotes = 1000;

/** The statuses from which a first or a new appointment is booked (public service: lifecycles). */
const bookable: ReadonlySet<string> = new Set([
  'REQUISITION_CREATED',
  'REQUISITION_BYPASSED',
  'APPOINTMENT_PENDING',
  'APPOINTMENT_CANCELLED',
]);

/** The stages after the collection of the sample, and those without one: no other slot helps here. */
const unbookable: ReadonlySet<string> = new Set(['SAMPLE_WITH_LAB', 'COMPLETED', 'CANCELLED', 'FAILED']);

/** A slot that is gone is at fault at any step before the collection: some teams book before the requisition. */
function isBookedSlotAtFault({ status, appointment, isVague }: RefusedState): boolean {
  if (isActive(appointment)) return false;
  return isVague ? bookable.has(status.step ?? '') : !unbookable.has(status.stage);
}

/** Books a slot for a visit at home. @throws GatewayError FORBIDDEN, UPSTREAM_* */
export function submitBooking(
  context: GraphContext,
  orderId: string,
  booking: Booking,
): Promise<AppointmentResult> {
  return submitAnyBooking(context, booking, {
    kind: 'phlebotomy',
    orderId,
    send: (visit) => bookAppointment(context.service, visit, booking),
    isReplayed: false,
  });
}

/** A booking at a service center as the caller asks for it. */
interface CenterBookingRequest extends Booking {
  readonly asyncConfirmation: boolean | null;
  readonly idempotencyKey: string | null;
}

/** Books a slot at a service center. @throws GatewayError FORBIDDEN, IDEMPOTENCY_UNSETTLED, UPSTREAM_* */
export function submitCenterBooking(
  context: GraphContext,
  orderId: string,
  { idempotencyKey, ...booking }: CenterBookingRequest,
): Promise<AppointmentResult> {
  const message = 'Give 1 to 255 characters, or leave it out.';
  const issues = idempotencyKey === null ? [] : findKeyIssues(idempotencyKey, message);
  if (issues.length > 0) return Promise.resolve(inputRejected(issues));
  const { service } = context;
  // The name of the attempt covers the whole input. Otherwise the service would replay its answer to another booking.
  const attempt = `${service.rights.key} appointment ${orderId} ${fingerprintOf(booking)}`;
  const reference = idempotencyKey === null ? null : referenceOf(attempt, idempotencyKey);
  return submitAnyBooking(context, booking, {
    kind: 'patient_service_center',
    orderId,
    send: (visit) => bookCenterAppointment(service, visit, { ...booking, reference }),
    isReplayed: reference !== null,
  });
}

async function submitAnyBooking(
  context: GraphContext,
  booking: Booking,
  { kind, orderId, send, isReplayed }: Target & Pick<AppointmentChange, 'send' | 'isReplayed'>,
): Promise<AppointmentResult> {
  const issues = findBookingIssues(booking);
  if (issues.length > 0) return inputRejected(issues);
  return await changeAppointment(context, {
    kind,
    orderId,
    send,
    isReplayed,
    needsAppointment: false,
    isDone: (before, after) => isActive(after) && !isActive(before),
    isSlotAtFault: isBookedSlotAtFault,
  });
}

/** A caller's request to a provider for an appointment. */
export interface RequestedAppointment extends AppointmentRequest {
  readonly contradictions: readonly InputIssue[];
}

/** Asks a provider for an appointment. @throws GatewayError FORBIDDEN, UPSTREAM_* */
export async function submitRequest(
  context: GraphContext,
  orderId: string,
  request: RequestedAppointment,
): Promise<AppointmentResult> {
  const issues = [
    ...findIssues(addressRules, request.address),
    ...(request.provider === ''
      ? [{ path: ['provider'], code: 'REQUIRED' as const, message: 'Give provider or providerRaw.' }]
      : []),
    ...request.contradictions,
    ...findNotesIssues(request.appointmentNotes),
  ];
  if (issues.length > 0) return inputRejected(issues);
  return await changeAppointment(context, {
    kind: 'phlebotomy',
    orderId,
    send: (visit) => requestAppointment(context.service, visit, request),
    isReplayed: false,
    needsAppointment: false,
    isDone: (before, after) => isActive(after) && !isActive(before),
    isSlotAtFault: () => false,
  });
}

/** Moves an appointment to another slot. @throws GatewayError FORBIDDEN, UPSTREAM_* */
export async function submitReschedule(
  context: GraphContext,
  { kind, orderId }: Target,
  booking: Booking,
): Promise<AppointmentResult> {
  const issues = findBookingIssues(booking);
  if (issues.length > 0) return inputRejected(issues);
  return await changeAppointment(context, {
    kind,
    orderId,
    send: (visit) => rescheduleAppointment(context.service, visit, booking),
    isReplayed: false,
    needsAppointment: true,
    isDone: (before, after) =>
      isActive(after) &&
      (after?.startAt?.getTime() !== before?.startAt?.getTime() ||
        (after?.events.length ?? 0) > (before?.events.length ?? 0)),
    isSlotAtFault: ({ appointment }) => isActive(appointment) && appointment?.canReschedule !== false,
  });
}

/** Cancels an appointment. @throws GatewayError FORBIDDEN, UPSTREAM_* */
export async function submitCancellation(
  context: GraphContext,
  { kind, orderId }: Target,
  cancellation: Cancellation,
): Promise<AppointmentResult> {
  const issues = await findCancellationIssues(context, kind, cancellation);
  if (issues.length > 0) return inputRejected(issues);
  return await changeAppointment(context, {
    kind,
    orderId,
    send: (visit) => cancelAppointment(context.service, visit, cancellation),
    isReplayed: false,
    needsAppointment: true,
    isDone: (before, after) => isActive(before) && (after === null || after.status === 'cancelled'),
    isSlotAtFault: () => false,
  });
}

function findBookingIssues({ bookingKey, appointmentNotes }: Booking): readonly InputIssue[] {
  const key: InputIssue = {
    path: ['bookingKey'],
    code: 'REQUIRED',
    message: 'Give the booking key of a slot.',
  };
  return [...(isGiven(bookingKey) ? [] : [key]), ...findNotesIssues(appointmentNotes)];
}

function findNotesIssues(notes: string | null): readonly InputIssue[] {
  if (countCharacters(notes) <= maxNotes) return [];
  return [{ path: ['appointmentNotes'], code: 'TOO_LONG', message: `Give ${maxNotes} characters at most.` }];
}

async function findCancellationIssues(
  { service }: GraphContext,
  kind: AppointmentKind,
  { cancellationReasonId, notes }: Cancellation,
): Promise<readonly InputIssue[]> {
  const reasons = await listCancellationReasons(service, kind).catch((error: unknown) => {
    // A list that cannot be read does not prevent a cancellation: the service checks the reason, and a caller without
    // rights gets the error of the next read.
    if (isGatewayError(error)) return [];
    throw error;
  });
  const reason = reasons.find(({ id }) => id.toLowerCase() === cancellationReasonId);
  if (reason === undefined && reasons.length > 0) {
    const message = 'Give the id of one of appointmentCancellationReasons of this kind.';
    return [{ path: ['cancellationReasonId'], message }];
  }
  if (!reason?.needsNotes || isGiven(notes ?? '')) return [];
  return [{ path: ['notes'], code: 'REQUIRED', message: 'This reason needs notes.' }];
}

/** The public service's rules for an address of a visit. */
const addressRules: readonly InputRule<VisitAddress>[] = [
  [
    'address.firstLine',
    'Give the street and number.',
    ({ firstLine }) => /\d/.test(firstLine) && /\p{L}/u.test(firstLine),
  ],
  ['address.city', 'Give the city.', ({ city }) => isGiven(city), 'REQUIRED'],
  [
    'address.state',
    'Give the two letters of the state, such as AZ.',
    ({ state }) => /^[A-Za-z]{2}$/.test(state),
  ],
  ['address.zip', 'Give five digits, or five, a dash and four.', ({ zip }) => /^\d{5}(-\d{4})?$/.test(zip)],
  [
    'address.accessNotes',
    `Give ${maxNotes} characters at most.`,
    ({ accessNotes }) => countCharacters(accessNotes) <= maxNotes,
    'TOO_LONG',
  ],
];

/** The address of a query. @throws GatewayError BAD_USER_INPUT with every fault at once */
export function requireAddress(address: VisitAddress): VisitAddress {
  const issues = findIssues(addressRules, address);
  if (issues.length === 0) return address;
  const faults = issues.map(({ path, message }) => `input.${path.join('.')}: ${message}`);
  throw new GatewayError('BAD_USER_INPUT', faults.join(' '));
}

/** A zip code of five digits. @throws GatewayError BAD_USER_INPUT */
export function requireZipCode(name: string, zipCode: string): string {
  if (/^\d{5}$/.test(zipCode)) return zipCode;
  throw new GatewayError('BAD_USER_INPUT', `${name} must be five digits.`);
}

/** In miles. */
export const radii = [10, 20, 25, 50, 100];

/** A radius of a search in miles, as an enum or as a number. */
interface Radius {
  readonly within?: number | null | undefined;
  readonly radius?: number | null | undefined;
}

/**
 * A radius in miles, 25 when left out.
 * @param place where the two are, such as `input.`
 * @throws GatewayError BAD_USER_INPUT
 */
export function requireRadius({ within, radius }: Radius, place = ''): number {
  if (within && radius)
    throw new GatewayError('BAD_USER_INPUT', `Give either ${place}within or ${place}radius.`);
  const miles = within ?? radius ?? 25;
  if (radii.includes(miles)) return miles;
  throw new GatewayError('BAD_USER_INPUT', `${place}radius must be one of ${radii.join(', ')} miles.`);
}
