import { type GraphContext, type LoaderKind, loadEach } from '../../graph/context.ts';
import { loadOrder, toNewest } from '../order/read/actions.ts';
import { findOrdersOfAppointments } from '../order/read/rest.ts';
import type { CurrentOrder, Order } from '../order/read/rest-order.ts';
import { type Appointment, appointmentKindOf, getAppointment } from './rest.ts';

/** Appointments by order; the service has no call for several orders. */
const appointmentsByOrder: LoaderKind<CurrentOrder, Appointment | null> = {
  keyOf: (order) => order.id.toLowerCase(),
  batch: (service, orders) =>
    loadEach(orders, async (order) => {
      const kind = appointmentKindOf(order.method);
      return kind === null ? null : await getAppointment(service, order, kind);
    }),
};

/** The appointment of an order, or null. */
export async function loadAppointment(context: GraphContext, { id }: Order): Promise<Appointment | null> {
  const order = await loadOrder(context, id);
  return order && (await context.loaders.of(appointmentsByOrder).load(order));
}

/** The appointment of an order if it has this id, else null: the order may have another by now. */
export async function loadAppointmentOf(
  context: GraphContext,
  order: Order,
  id: string | null,
): Promise<Appointment | null> {
  const appointment = id === null ? null : await loadAppointment(context, order);
  return hasId(appointment, id) ? appointment : null;
}

function hasId(appointment: Appointment | null, id: string | null): boolean {
  return appointment !== null && appointment.id.toLowerCase() === id?.toLowerCase();
}

/** The orders of appointments: one search for all that an operation needs at once. */
const ordersByAppointment: LoaderKind<string, CurrentOrder | null> = {
  keyOf: (id) => id,
  batch: findOrdersOfAppointments,
};

/**
 * The appointment with this id (lower case) as the caller may see it, or null. The service shows appointments by order
 * only, so their order is searched for first.
 */
export async function findAppointment(context: GraphContext, id: string): Promise<Appointment | null> {
  const found = await context.loaders.of(ordersByAppointment).load(id);
  const order = found && (await toNewest(context, found));
  const appointment = order && (await context.loaders.of(appointmentsByOrder).load(order));
  return hasId(appointment, id) ? appointment : null;
}
