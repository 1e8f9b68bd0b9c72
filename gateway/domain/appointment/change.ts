import { isGatewayError } from '../../errors.ts';
import type { GraphContext } from '../../graph/context.ts';
import {
  type FeatureNotEnabled,
  featureNotEnabled,
  type InputRejected,
  inputRejected,
  type NotFound,
  notFound,
  toInputIssues,
  type UserError,
} from '../../graph/user-error.ts';
import { getOrder, type Order } from '../order/rest.ts';
import { readOrderStatus } from '../order/status.ts';
import { settleLost } from '../settle.ts';
import { type Appointment, type AppointmentKind, getAppointment, isActive } from './rest.ts';
import type { Visit } from './write.ts';

export interface AppointmentAccepted {
  readonly kind: 'AppointmentAccepted';
  readonly orderId: string;
  readonly appointment: Appointment | null;
}

export interface SlotUnavailable extends UserError {
  readonly kind: 'SlotUnavailable';
}

export interface AppointmentRefused extends UserError {
  readonly kind: 'AppointmentRefused';
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
  /** Whether only an appointment that exists can be changed so. */
  readonly needsAppointment: boolean;
  /** Whether the appointment now shows that the change took place. */
  readonly isDone: (before: Appointment | null, after: Appointment | null) => boolean;
  /** Whether nothing but the slot can have been the reason, where the service refuses without saying why. */
  readonly isSlotAtFault: (step: string | null, appointment: Appointment | null) => boolean;
}

/** Two names that the service spells in its own way within appointments. */
const ourNames = { zip_code: 'zip', note: 'notes' };

interface Attempt {
  readonly change: AppointmentChange;
  readonly order: Order;
  readonly before: Appointment | null;
}

/**
 * Changes the appointment of an order that the caller may see. Sent once. When the answer is lost, the
 * appointment is looked at: the caller hears of a change that took place, and the fault of one that did not.
 * @throws GatewayError FORBIDDEN, UPSTREAM_*
 */
export async function changeAppointment(
  context: GraphContext,
  change: AppointmentChange,
): Promise<AppointmentResult> {
  const { service } = context;
  service.require('write:appointments');
  const order = await getOrder(service, change.orderId);
  if (order === null) return notFound('order');
  const before = await getAppointment(service, order, change.kind);
  if (before === null && change.needsAppointment) return notFound('appointment');
  const attempt = { change, order, before };
  try {
    const appointment = await change.send({ kind: change.kind, order });
    // 404 for an order that is there: its slot or its appointment is gone (public service: production).
    return appointment === null ? await describeRefusal(context, attempt) : accept(order, appointment);
  } catch (error) {
    return await describeFailure(context, attempt, error);
  }
}

function accept(order: Order, appointment: Appointment | null): AppointmentAccepted {
  return { kind: 'AppointmentAccepted', orderId: order.id, appointment };
}

async function describeFailure(
  context: GraphContext,
  attempt: Attempt,
  error: unknown,
): Promise<AppointmentResult> {
  if (isGatewayError(error, 'UPSTREAM_FORBIDDEN')) return featureNotEnabled();
  if (isGatewayError(error, 'UPSTREAM_REJECTED')) {
    return error.status === 422
      ? inputRejected(toInputIssues(error.issues, ourNames))
      : await describeRefusal(context, attempt);
  }
  const { change, order, before } = attempt;
  return await settleLost(error, async () => {
    const after = await getAppointment(context.service, order, change.kind);
    return change.isDone(before, after) ? accept(order, after) : null;
  });
}

/** The service's refusals differ by text only, which is never read: what is so now tells them apart. */
async function describeRefusal(
  { service }: GraphContext,
  { change, order }: Attempt,
): Promise<AppointmentResult> {
  const [current, appointment] = await Promise.all([
    getOrder(service, order.id),
    getAppointment(service, order, change.kind),
  ]);
  if (current === null) return notFound('order');
  const status = readOrderStatus(current.status);
  if (change.isSlotAtFault(status.step, appointment)) {
    return {
      kind: 'SlotUnavailable',
      code: 'SLOT_UNAVAILABLE',
      message: 'This slot is taken, or its booking key was used or has expired. Ask for the slots again.',
    };
  }
  const standing = appointment !== null && isActive(appointment) ? ' and a standing appointment' : '';
  return {
    kind: 'AppointmentRefused',
    code: 'APPOINTMENT_REFUSED',
    message: `An order with the status "${status.label}"${standing} does not allow this.`,
    order: current,
    appointment,
  };
}
