import { Hono } from 'hono';
import { z } from 'zod';
import { consents, patientAddress, patientDetails, physician } from '../../http/person.ts';
import { Refusal, refuse } from '../../http/refusal.ts';
import { requireOrder, requireUser } from '../../http/require.ts';
import { readBody, readUuid } from '../../http/validation.ts';
import { currentStatus, type Order } from '../../orders/order.ts';
import { presentChange, presentOrder } from '../../orders/present.ts';
import { advance } from '../../orders/progress.ts';
import { isCancellable, partsOf, remainingPath, statusOf } from '../../orders/states.ts';
import type { SandboxEnv, Service } from '../../service.ts';
import { requireFutureDay } from './creation.ts';

function cancel(service: Service, order: Order): void {
  const status = currentStatus(order);
  if (!isCancellable(order, status)) {
    const message = `Transition from ${status} to cancelled is not allowed`;
    throw new Refusal(400, { error: 'Bad Request', message, status_code: 400 });
  }
  advance(service, order, { status: statusOf(order.method, 'cancelled.cancelled') });
}

const registerBody = z.object({
  user_id: z.guid().nullish(),
  sample_id: z.string().min(1),
  patient_details: patientDetails,
  patient_address: patientAddress,
  physician: physician.nullish(),
  consents,
});

/** Registers a kit by the number printed on it; the order moves to the user who is named. */
function register(service: Service, body: z.output<typeof registerBody>): Order {
  const { world } = service;
  const order = world.state.orders.find((each) => each.registrable && each.sampleId === body.sample_id);
  if (!order) throw refuse(404, 'No testkit with this sample id');
  const registered = statusOf(order.method, 'received.registered');
  if (!remainingPath(order, currentStatus(order)).includes(registered)) {
    throw refuse(400, 'The testkit cannot be registered any more');
  }
  const user = requireUser(world, body.user_id ?? order.userId);

  order.userId = user.id;
  order.patientDetails = body.patient_details;
  order.patientAddress = body.patient_address;
  order.extras = { ...order.extras, physician: body.physician ?? null };
  for (const status of [registered, statusOf(order.method, 'received.requisition_created')]) {
    advance(service, order, { status });
  }
  return order;
}

const updateBody = z.object({ activate_by: z.iso.date().nullable() });

function update({ clock }: Service, order: Order, { activate_by }: z.output<typeof updateBody>): void {
  const isWaiting = ['ordered', 'awaiting_registration'].includes(partsOf(currentStatus(order)).step);
  if (!isWaiting) throw refuse(400, 'The order is under way already');
  if (!order.extras.activateBy) throw refuse(400, 'The order is not a scheduled one');
  if (activate_by !== null) requireFutureDay(activate_by);
  order.extras = { ...order.extras, activateBy: activate_by };
  order.updatedAt = clock.now();
}

const resendBody = z.object({
  order_ids: z.array(z.guid()).nullish(),
  start_at: z.iso.datetime({ offset: true }).nullish(),
  end_at: z.iso.datetime({ offset: true }).nullish(),
});
const longestWindowMs = 60 * 24 * 60 * 60 * 1000;

/** The named orders, or all, that have an event in the window. */
function ordersToResend({ world, clock }: Service, body: z.output<typeof resendBody>): readonly Order[] {
  if (!body.order_ids && !body.start_at) throw refuse(400, 'Either order_ids or start_at must be set');
  const start = body.start_at ? Date.parse(body.start_at) : Number.NEGATIVE_INFINITY;
  const end = body.end_at ? Date.parse(body.end_at) : clock.now();
  if (body.start_at && end - start > longestWindowMs) throw refuse(400, 'The window is longer than 60 days');
  const ids = body.order_ids?.map((id) => id.toLowerCase());
  return world.state.orders.filter(
    (order) =>
      (ids?.includes(order.id) ?? true) &&
      order.events.some(({ createdAt }) => createdAt >= start && createdAt <= end),
  );
}

/** One order, its cancellation, registration and scheduling, and repeated webhooks (public service: orders). */
export function orderRoutes(service: Service): Hono<SandboxEnv> {
  const { world, save } = service;
  const routes = new Hono<SandboxEnv>();

  routes.get('/v3/order/:order_id', (c) =>
    c.json(presentOrder(world, requireOrder(world, readUuid(c, 'order_id')))),
  );

  routes.post('/v3/order/:order_id/cancel', async (c) => {
    const order = requireOrder(world, readUuid(c, 'order_id'));
    cancel(service, order);
    const answer = presentChange(world, order, 'Order cancelled');
    await save();
    return c.json(answer);
  });

  routes.post('/v3/order/testkit/register', async (c) => {
    const order = register(service, await readBody(c, registerBody));
    const answer = presentChange(world, order, 'Testkit registered successfully');
    await save();
    return c.json(answer);
  });

  routes.patch('/v3/order/:order_id', async (c) => {
    const order = requireOrder(world, readUuid(c, 'order_id'));
    update(service, order, await readBody(c, updateBody));
    const answer = presentChange(world, order, 'Order updated successfully');
    await save();
    return c.json(answer);
  });

  routes.post('/v3/order/resend_events', async (c) => {
    const orders = ordersToResend(service, await readBody(c, resendBody));
    for (const order of orders) service.announcer.announce(order);
    await save();
    return c.json({ order_ids: orders.map((order) => order.id) });
  });

  return routes;
}
