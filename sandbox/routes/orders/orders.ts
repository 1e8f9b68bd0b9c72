import { Hono } from 'hono';
import { z } from 'zod';
import { Refusal, refuse } from '../../http/refusal.ts';
import { shippingDetails } from '../../http/shipping-details.ts';
import { readBody, readUuid } from '../../http/validation.ts';
import { appendEvent, startOrder } from '../../orders/life.ts';
import { currentStatus, type Order } from '../../orders/order.ts';
import { chooseLabAccount } from '../../orders/order-set.ts';
import { presentOrder } from '../../orders/present.ts';
import { isCancellable, statusOf, successPathOf } from '../../orders/states.ts';
import type { SandboxEnv, Service } from '../../service.ts';
import { findOrder, findUser, type World } from '../../world/world.ts';

const testkitBody = z.object({
  user_id: z.guid(),
  lab_test_id: z.guid(),
  shipping_details: shippingDetails,
  passthrough: z.string().nullish(),
  lab_account_id: z.guid().nullish(),
});

/**
 * The order with this id.
 * @throws Refusal 404 in the words of the public service.
 */
export function requireOrder(world: World, orderId: string): Order {
  const order = findOrder(world, orderId);
  if (!order) throw refuse(404, "This order doesn't exist");
  return order;
}

/** Sends out an unregistered kit: ordered, then awaiting its registration (specification: observed rows). */
function orderTestkit(service: Service, body: z.output<typeof testkitBody>): Order {
  const { world, clock, announcer } = service;
  const user = findUser(world, body.user_id);
  if (!user) throw refuse(404, 'User not found');
  const labTest = world.catalogue.labTests.find((each) => each.id === body.lab_test_id.toLowerCase());
  if (!labTest) throw refuse(404, 'Lab test does not exist');
  if (labTest.method !== 'testkit') throw refuse(400, 'The lab test is not done with a testkit');
  // A kit has no patient yet, and so no physician: one is named when it is registered.
  const account = { labAccountId: body.lab_account_id ?? null, hasPhysician: true, mayBePending: false };
  const clinicalNotes = chooseLabAccount(world, { ...account, labId: labTest.labId });

  const order = startOrder(world, {
    userId: user.id,
    labTestId: labTest.id,
    method: labTest.method,
    registrable: true,
    createdAt: clock.now(),
    shippingDetails: body.shipping_details,
    passthrough: body.passthrough ?? null,
    extras: { clinicalNotes },
  });
  world.state.orders.push(order);
  for (const status of successPathOf(order).slice(0, 2)) {
    appendEvent(world, order, { status, at: clock.now() });
    announcer.announce(order);
  }
  return order;
}

function cancel({ world, clock, announcer }: Service, order: Order): void {
  const status = currentStatus(order);
  if (!isCancellable(order, status)) {
    const message = `Transition from ${status} to cancelled is not allowed`;
    throw new Refusal(400, { error: 'Bad Request', message, status_code: 400 });
  }
  appendEvent(world, order, { status: statusOf(order.method, 'cancelled.cancelled'), at: clock.now() });
  announcer.announce(order);
}

/** Testkit orders (specification: endpoint 3), one order, cancellation. */
export function orderRoutes(service: Service): Hono<SandboxEnv> {
  const { world, save } = service;
  const routes = new Hono<SandboxEnv>();

  routes.post('/v3/order/testkit', async (c) => {
    const order = orderTestkit(service, await readBody(c, testkitBody));
    const answer = { order: presentOrder(world, order), status: 'success' };
    await save();
    return c.json({ ...answer, message: 'Order created successfully' });
  });

  routes.get('/v3/order/:order_id', (c) =>
    c.json(presentOrder(world, requireOrder(world, readUuid(c, 'order_id')))),
  );

  routes.post('/v3/order/:order_id/cancel', async (c) => {
    const order = requireOrder(world, readUuid(c, 'order_id'));
    cancel(service, order);
    const answer = { order: presentOrder(world, order), status: 'success' };
    await save();
    return c.json({ ...answer, message: 'Order cancelled' });
  });

  return routes;
}
