import { Hono } from 'hono';
import { z } from 'zod';
import { requireUser } from '../../http/require.ts';
import { includesText, pageOf, pageQuery, readQuery, repeated } from '../../http/validation.ts';
import { currentStatus, type Order } from '../../orders/order.ts';
import { collectionMethod } from '../../orders/order-set.ts';
import { presentOrder } from '../../orders/present.ts';
import { allStatuses, partsOf } from '../../orders/states.ts';
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

/** The last parts of all statuses (public service: OrderLowLevelStatus). */
const steps = [...new Set(allStatuses.map((status) => partsOf(status).step))];

const listQuery = z.object({
  ...pageQuery,
  user_id: z.guid().optional(),
  order_ids: repeated(z.guid()),
  interpretation: z.enum(['normal', 'abnormal', 'critical', 'unknown']).optional(),
  is_critical: z.stringbool().optional(),
  status: repeated(z.enum(steps)),
  order_type: repeated(collectionMethod),
  start_date: moment('00:00:00.000'),
  // A date includes its whole day here, but not in `updated_end_date` (public service).
  end_date: moment('23:59:59.999'),
  updated_start_date: moment('00:00:00.000'),
  updated_end_date: moment('00:00:00.000'),
  search_input: z.string().optional(),
  patient_name: z.string().optional(),
  shipping_recipient_name: z.string().optional(),
  order_transaction_id: z.guid().optional(),
  order_activation_types: repeated(z.enum(['current', 'scheduled'])),
  order_key: z.enum(['created_at', 'patient_name', 'last_status']).default('created_at'),
  order_direction: z.enum(['asc', 'desc']).default('desc'),
});

type ListQuery = z.output<typeof listQuery>;

function nameOf(order: Order): string {
  const { patientDetails } = order;
  return patientDetails ? `${patientDetails.first_name} ${patientDetails.last_name}` : '';
}

function receiverOf({ shippingDetails }: Order): string {
  return shippingDetails?.receiver_name ?? '';
}

function stepOf(order: Order): string {
  return partsOf(currentStatus(order)).step;
}

function isFound(order: Order, search: string): boolean {
  const texts = [nameOf(order), order.id, order.userId, order.sampleId ?? '', receiverOf(order)];
  return texts.some((text) => includesText(text, search));
}

/** Scheduled until its day has come (public service: split on activate_by). */
function activationOf(order: Order): 'current' | 'scheduled' {
  const { activateBy } = order.extras;
  return activateBy && Date.parse(activateBy) > Date.now() ? 'scheduled' : 'current';
}

type NotFilters = 'page' | 'size' | 'order_key' | 'order_direction';
type Filters = Omit<ListQuery, NotFilters>;

type Passes<Wanted> = (order: Order, wanted: NonNullable<Wanted>) => boolean;

/** For each filter, whether an order passes it. */
const filters: { readonly [Key in keyof Required<Filters>]: Passes<Filters[Key]> } = {
  user_id: (order, id) => order.userId === id.toLowerCase(),
  order_ids: (order, ids) => ids.some((id) => id.toLowerCase() === order.id),
  interpretation: (order, wanted) => order.interpretation === wanted,
  is_critical: (order, isCritical) => (order.interpretation === 'critical') === isCritical,
  status: (order, wanted) => wanted.includes(stepOf(order)),
  order_type: (order, methods) => methods.includes(order.method),
  start_date: (order, from) => order.createdAt >= from,
  end_date: (order, to) => order.createdAt <= to,
  updated_start_date: (order, from) => order.updatedAt >= from,
  updated_end_date: (order, to) => order.updatedAt <= to,
  search_input: isFound,
  patient_name: (order, name) => includesText(nameOf(order), name),
  shipping_recipient_name: (order, name) => includesText(receiverOf(order), name),
  order_transaction_id: (order, id) => order.transactionId === id.toLowerCase(),
  order_activation_types: (order, types) => types.includes(activationOf(order)),
};

function passes<Key extends keyof Filters>(order: Order, query: Filters, key: Key): boolean {
  const wanted = query[key];
  const filter: Passes<Filters[Key]> = filters[key];
  return wanted === undefined || filter(order, wanted);
}

const filterNames = Object.keys(filters) as (keyof Filters)[];

function isWanted(order: Order, query: ListQuery): boolean {
  return filterNames.every((key) => passes(order, query, key));
}

const sortKeys: Readonly<Record<ListQuery['order_key'], (order: Order) => string | number>> = {
  created_at: (order) => order.createdAt,
  patient_name: nameOf,
  last_status: stepOf,
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
