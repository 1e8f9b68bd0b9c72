import { isGatewayError } from '../../errors.ts';
import type { GraphContext } from '../../graph/context.ts';
import {
  type FeatureNotEnabled,
  type InputRejected,
  type NotFound,
  notFound,
  toRefusal,
  type UserError,
  withReason,
} from '../../graph/user-error.ts';
import { getOrder } from '../order/read/rest.ts';
import type { CurrentOrder, Order } from '../order/read/rest-order.ts';
import { type OrderStatus, readOrderStatus } from '../order/read/rest-status.ts';
import { afterWrite, settleLost, withoutWrite } from '../settle.ts';
import {
  type Appointment,
  type AppointmentKind,
  getAppointment,
  hasNoAppointment,
  isActive,
  type Visit,
} from './rest.ts';

export interface AppointmentAccepted {
  readonly kind: 'AppointmentAccepted';
  readonly orderId: string;
  readonly appointment: Appointment | null;
}

export type SlotUnavailable = UserError<'SlotUnavailable'>;

export interface AppointmentRefused extends UserError<'AppointmentRefused'> {
  readonly order: Order;
  readonly appointment: Appointment | null;
}

export type AppointmentResult =
  | AppointmentAccepted
  | SlotUnavailable
  | AppointmentRefused
  | InputRejected
  | NotFound
  | FeatureNotEnabled;

/** One way to change an order's appointment. */
export interface AppointmentChange {
  readonly kind: AppointmentKind;
  readonly orderId: string;
  /** Sends it to the service, once; null when the service finds no such thing. */
  readonly send: (visit: Visit) => Promise<Appointment | null>;
  /** Whether the service may repeat its answer to an earlier call with the same key, days ago. */
  readonly isReplayed: boolean;
  readonly needsAppointment: boolean;
  /** Whether the appointment now shows that the change took place. */
  readonly isDone: (before: Appointment | null, after: Appointment | null) => boolean;
  /** Whether the slot is the reason of a refusal, where order and appointment are like this. */
  readonly isSlotAtFault: (state: RefusedState) => boolean;
}

/** The state of an order whose change was refused. */
export interface RefusedState {
  readonly status: OrderStatus;
  readonly appointment: Appointment | null;
  /** The refusal may concern anything: the service answers many faults with 400, in its sandbox also a slot that is gone. */
  readonly isVague: boolean;
}

/** Two names that the service spells in its own way within appointments. */
const ourNames = { zip_code: 'zip', note: 'notes' };

interface Attempt {
  readonly change: AppointmentChange;
  readonly order: CurrentOrder;
  readonly before: Appointment | null;
}

/**
 * Changes the appointment of an order that the caller may see. Sent once. If the answer is lost, the appointment is
 * read: the caller gets the change if it took place, else the error.
 * @throws GatewayError FORBIDDEN, UPSTREAM_*
 */
export async function changeAppointment(
  context: GraphContext,
  change: AppointmentChange,
): Promise<AppointmentResult> {
  const { service } = context;
  const order = await getOrder(service, change.orderId);
  if (order === null) return notFound('order');
  const before = await getAppointment(service, order, change.kind);
  if (before === null && change.needsAppointment && !isAppointmentExpected(order))
    return notFound('appointment');
  const attempt = { change, order, before };
  let answered: Appointment | null;
  try {
    answered = await change.send({ kind: change.kind, order });
  } catch (error) {
    return await describeFailure(context, attempt, error);
  }
  // A 404 for an existing order means that its slot or its appointment is gone (public service: production).
  if (answered === null) {
    return await withoutWrite(() => describeRefusal(context, attempt, { isVague: false }));
  }
  return change.isReplayed
    ? await afterWrite(() => acceptUnlessCancelled(context, attempt, answered))
    : accept(order, answered);
}

/** The specification has no path to read an appointment. Without one, only the order's status says that there is one. */
function isAppointmentExpected({ status }: Order): boolean {
  const { step } = readOrderStatus(status);
  return step === 'APPOINTMENT_SCHEDULED' || step === 'APPOINTMENT_PENDING';
}

function accept(order: Order, appointment: Appointment | null): AppointmentAccepted {
  return { kind: 'AppointmentAccepted', orderId: order.id, appointment };
}

/**
 * A replayed answer may show an appointment that was cancelled since. Its booking key is used up. A read that shows neither
 * this appointment nor another active one may be older than the booking.
 */
async function acceptUnlessCancelled(
  context: GraphContext,
  attempt: Attempt,
  booked: Appointment,
): Promise<AppointmentResult> {
  const { order, change } = attempt;
  const current = await getAppointment(context.service, order, change.kind);
  if (current?.id === booked.id && current.status !== 'cancelled') return accept(order, current);
  const isOver =
    current?.id === booked.id ||
    isActive(current) ||
    isCancelledSince(await getOrder(context.service, order.id), booked);
  return isOver ? await describeRefusal(context, attempt, { isVague: false }) : accept(order, booked);
}

/** Whether the order shows the end of this appointment, and not the cancellation of an earlier one. */
function isCancelledSince(order: Order | null, { events }: Appointment): boolean {
  if (order === null) return true;
  const { stage, step } = readOrderStatus(order.status);
  if (stage === 'CANCELLED') return true;
  if (step !== 'APPOINTMENT_CANCELLED') return false;
  const cancelledAt = order.lastEvent?.createdAt ?? null;
  return !events.some(({ createdAt }) => cancelledAt && createdAt && createdAt > cancelledAt);
}

/** The statuses of refusals that concern the slot, the appointment or the order. */
const refusals: readonly unknown[] = [400, 409, 410];

async function describeFailure(
  context: GraphContext,
  attempt: Attempt,
  error: unknown,
): Promise<AppointmentResult> {
  if (isGatewayError(error, 'UPSTREAM_REJECTED') && refusals.includes(error.status)) {
    const refusal = { isVague: error.status === 400, error };
    return await withoutWrite(() => describeRefusal(context, attempt, refusal));
  }
  const isOfInput = isGatewayError(error, 'UPSTREAM_REJECTED') && error.status === 422;
  if (isOfInput || isGatewayError(error, 'UPSTREAM_FORBIDDEN')) return toRefusal(error, ourNames);
  const { change, order, before } = attempt;
  // Nothing to compare with.
  if (before === null && change.needsAppointment) throw error;
  return await settleLost(error, async () => {
    const after = await getAppointment(context.service, order, change.kind);
    return change.isDone(before, after) ? accept(order, after) : null;
  });
}

interface Refusal extends Pick<RefusedState, 'isVague'> {
  /** Left out where the service answered with no refusal. */
  readonly error?: unknown;
}

/**
 * The service's refusals differ only in their text, which the gateway never reads. So it reads the order and the
 * appointment to find the reason.
 */
async function describeRefusal(
  { service }: GraphContext,
  { change, order }: Attempt,
  { isVague, error }: Refusal,
): Promise<AppointmentResult> {
  const [current, appointment] = await Promise.all([
    getOrder(service, order.id),
    getAppointment(service, order, change.kind),
  ]);
  if (current === null) return notFound('order');
  const refused = {
    kind: 'AppointmentRefused',
    code: 'APPOINTMENT_REFUSED',
    order: current,
    appointment,
  } as const;
  if (hasNoAppointment(current.method, change.kind)) {
    const message = 'The sample of this order is taken in another way: it has no appointment of this kind.';
    return { ...refused, message: withReason(message, error) };
  }
  const status = readOrderStatus(current.status);
  if (change.isSlotAtFault({ status, appointment, isVague })) return slotUnavailable({ isVague, error });
  const besides = isActive(appointment) ? ' and an active appointment' : '';
  const message = `The service refused this for an order with the status "${status.label}"${besides}.`;
  return { ...refused, message: withReason(message, error) };
}

function slotUnavailable({ isVague, error }: Refusal): SlotUnavailable {
  const message = isVague
    ? 'The service refused the booking; most often the slot is taken, or its booking key was used or has expired. Ask for the slots again.'
    : 'This slot is taken, or its booking key was used or has expired. Ask for the slots again.';
  return { kind: 'SlotUnavailable', code: 'SLOT_UNAVAILABLE', message: withReason(message, error) };
}
