import { Hono } from 'hono';
import { z } from 'zod';
import { consents, patientAddress, patientDetails, physician } from '../../http/patient.ts';
import { refuse } from '../../http/refusal.ts';
import { readBody, readUuid } from '../../http/validation.ts';
import { appendEvent } from '../../orders/life.ts';
import { currentStatus, type Order } from '../../orders/order.ts';
import { presentOrder } from '../../orders/present.ts';
import { partsOf, remainingPath, statusOf } from '../../orders/states.ts';
import type { SandboxEnv, Service } from '../../service.ts';
import { findUser } from '../../world/world.ts';
import { requireFutureDay } from './creation.ts';
import { requireOrder } from './orders.ts';

const registerBody = z.object({
  user_id: z.guid().nullish(),
  sample_id: z.string().min(1),
  patient_details: patientDetails,
  patient_address: patientAddress,
  physician: physician.nullish(),
  consents,
});

/** Registers a kit by the number printed on it; another user of the team takes the order over. */
function register({ world, clock, announcer }: Service, body: z.output<typeof registerBody>): Order {
  const order = world.state.orders.find((each) => each.registrable && each.sampleId === body.sample_id);
  if (!order) throw refuse(404, 'No testkit with this sample id');
  const registered = statusOf(order.method, 'received.registered');
  if (!remainingPath(order, currentStatus(order)).includes(registered)) {
    throw refuse(400, 'The testkit cannot be registered any more');
  }
  const user = findUser(world, body.user_id ?? order.userId);
  if (!user) throw refuse(404, 'User not found');

  order.userId = user.id;
  order.patientDetails = body.patient_details;
  order.patientAddress = body.patient_address;
  order.extras = { ...order.extras, physician: body.physician ?? null };
  for (const status of [registered, statusOf(order.method, 'received.requisition_created')]) {
    appendEvent(world, order, { status, at: clock.now() });
    announcer.announce(order);
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

/** The orders with an event in the window, or those named. */
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

/** Registration, scheduling and the repetition of webhooks (public service: orders). */
export function orderUpdateRoutes(service: Service): Hono<SandboxEnv> {
  const { world, save } = service;
  const routes = new Hono<SandboxEnv>();

  routes.post('/v3/order/testkit/register', async (c) => {
    const order = register(service, await readBody(c, registerBody));
    const answer = { order: presentOrder(world, order), status: 'success' };
    await save();
    return c.json({ ...answer, message: 'Testkit registered successfully' });
  });

  routes.patch('/v3/order/:order_id', async (c) => {
    const order = requireOrder(world, readUuid(c, 'order_id'));
    update(service, order, await readBody(c, updateBody));
    const answer = { order: presentOrder(world, order), status: 'success' };
    await save();
    return c.json({ ...answer, message: 'Order updated successfully' });
  });

  routes.post('/v3/order/resend_events', async (c) => {
    const orders = ordersToResend(service, await readBody(c, resendBody));
    for (const order of orders) service.announcer.announce(order);
    await save();
    return c.json({ order_ids: orders.map((order) => order.id) });
  });

  return routes;
}
