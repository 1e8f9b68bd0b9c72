import { Hono } from 'hono';
import { z } from 'zod';
import { requireUser } from '../../http/require.ts';
import { includesText, pageOf, pageQuery, readQuery, repeated } from '../../http/validation.ts';
import { currentStatus, type Order } from '../../orders/order.ts';
import { collectionMethod } from '../../orders/order-set.ts';
import { presentOrder } from '../../orders/present.ts';
import { partsOf } from '../../orders/states.ts';
import type { SandboxEnv, Service } from '../../service.ts';

/** A time, or a date which then means this time of its day. */
function moment(timeOfDay: string) {
  return z
    .string()
    .transform((text, context) => {
      // An unencoded plus sign of an offset arrives as a space.
      const time = Date.parse(text.length === 10 ? `${text}T${timeOfDay}Z` : text.replace(' ', '+'));
      if (Number.isFinite(time)) return time;
      context.addIssue({ code: 'custom', message: 'invalid datetime' });
      return z.NEVER;
    })
    .optional();
}

const listQuery = z.object({
  ...pageQuery,
  user_id: z.guid().optional(),
  order_ids: repeated(z.guid()),
  interpretation: z.enum(['normal', 'abnormal', 'critical', 'unknown']).optional(),
  status: repeated(z.string()),
  order_type: repeated(collectionMethod),
  start_date: moment('00:00:00.000'),
  // A date includes its whole day here, but not in `updated_end_date` (public service).
  end_date: moment('23:59:59.999'),
  updated_start_date: moment('00:00:00.000'),
  updated_end_date: moment('00:00:00.000'),
  search_input: z.string().optional(),
  order_transaction_id: z.guid().optional(),
  order_activation_types: repeated(z.enum(['current', 'scheduled'])),
  order_key: z.enum(['created_at', 'patient_name', 'last_status', 'updated_at']).default('created_at'),
  order_direction: z.enum(['asc', 'desc']).default('desc'),
});

type ListQuery = z.output<typeof listQuery>;

function nameOf(order: Order): string {
  const { patientDetails } = order;
  return patientDetails ? `${patientDetails.first_name} ${patientDetails.last_name}` : '';
}

function isWithin(time: number, from: number | undefined, to: number | undefined): boolean {
  return (from === undefined || time >= from) && (to === undefined || time <= to);
}

function isFound(order: Order, search: string | undefined): boolean {
  if (search === undefined) return true;
  const receiver = order.shippingDetails?.receiver_name ?? '';
  const texts = [nameOf(order), order.id, order.userId, order.sampleId ?? '', receiver];
  return texts.some((text) => includesText(text, search));
}

/** Scheduled until its day has come (public service: split on activate_by). */
function activationOf(order: Order): 'current' | 'scheduled' {
  const { activateBy } = order.extras;
  return activateBy && Date.parse(activateBy) > Date.now() ? 'scheduled' : 'current';
}

function isWanted(order: Order, query: ListQuery): boolean {
  const step = partsOf(currentStatus(order)).step;
  return (
    (query.user_id === undefined || order.userId === query.user_id.toLowerCase()) &&
    (query.order_ids?.some((id) => id.toLowerCase() === order.id) ?? true) &&
    (query.interpretation === undefined || order.interpretation === query.interpretation) &&
    (query.status?.includes(step) ?? true) &&
    (query.order_type?.includes(order.method) ?? true) &&
    (query.order_transaction_id === undefined ||
      order.transactionId === query.order_transaction_id.toLowerCase()) &&
    (query.order_activation_types?.includes(activationOf(order)) ?? true) &&
    isWithin(order.createdAt, query.start_date, query.end_date) &&
    isWithin(order.updatedAt, query.updated_start_date, query.updated_end_date) &&
    isFound(order, query.search_input)
  );
}

const sortKeys: Readonly<Record<ListQuery['order_key'], (order: Order) => string | number>> = {
  created_at: (order) => order.createdAt,
  updated_at: (order) => order.updatedAt,
  patient_name: nameOf,
  last_status: (order) => partsOf(currentStatus(order)).step,
};

/** Orders in the wanted order; equal keys fall back to the order of creation. */
function sorted(orders: readonly Order[], query: ListQuery): readonly Order[] {
  const key = sortKeys[query.order_key];
  const sign = query.order_direction === 'asc' ? 1 : -1;
  return orders.toSorted((a, b) => {
    if (key(a) === key(b)) return sign * (a.ordinal - b.ordinal);
    return key(a) < key(b) ? -sign : sign;
  });
}

/** The order list: `/orders` of the specification, `/v3/orders` of the public service. */
export function orderListRoutes({ world }: Service): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();

  routes.on('GET', ['/orders', '/v3/orders'], (c) => {
    const query = readQuery(c, listQuery);
    if (query.user_id) requireUser(world, query.user_id);
    const orders = sorted(
      world.state.orders.filter((order) => isWanted(order, query)),
      query,
    );
    const { page, size } = query;
    const rows = pageOf(orders, page, size).map((order) => presentOrder(world, order));
    return c.json({ orders: rows, total: orders.length, page, size });
  });

  return routes;
}
