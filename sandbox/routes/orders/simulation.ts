import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import { z } from 'zod';
import { refuse } from '../../http/refusal.ts';
import { requireOrder } from '../../http/require.ts';
import { readBody, readQuery, readUuid } from '../../http/validation.ts';
import { currentStatus, type Order } from '../../orders/order.ts';
import { advance } from '../../orders/progress.ts';
import { allStatuses, canLeavePath, isStatusOfMethod, partsOf, remainingPath } from '../../orders/states.ts';
import type { SandboxEnv, Service } from '../../service.ts';
import type { Simulation } from '../../world/state.ts';
import { findOrder } from '../../world/world.ts';

const simulationQuery = z.object({
  final_status: z.enum(allStatuses).optional(),
  /** Seconds before each step, up to a day; with a delay the steps happen after the answer. */
  delay: z.coerce.number().min(0).max(86_400).default(0),
});

const simulationBody = z
  .object({
    interpretation: z.enum(['normal', 'abnormal', 'critical', 'unknown']).optional(),
    /** Accepted and ignored: the results here are of the types of their biomarkers. */
    result_types: z.array(z.enum(['numeric', 'range', 'comment', 'coded_value'])).nullish(),
    has_missing_results: z.boolean().nullish(),
    /** Detail of the last step; the sandbox's own addition. */
    status_detail: z.string().optional(),
  })
  .nullish();

/** The details that go with two statuses when the caller names none. */
const usualDetails: Readonly<Record<string, string>> = {
  sample_error: 'sample_quantity_not_sufficient',
  lab_processing_blocked: 'date_of_collection_unspecified',
};

/** The statuses from here to the wanted one; one step along the success path when none is wanted. */
function planSteps(order: Order, finalStatus: string | undefined): readonly string[] {
  const current = currentStatus(order);
  const remaining = remainingPath(order, current);
  if (finalStatus === undefined) {
    if (remaining.length === 0) throw refuse(400, `The order ends at ${current}.`);
    return remaining.slice(0, 1);
  }
  if (!isStatusOfMethod(order.method, finalStatus)) {
    throw refuse(400, `An order of method ${order.method} never has the status ${finalStatus}.`);
  }
  const position = remaining.indexOf(finalStatus);
  if (position >= 0) return remaining.slice(0, position + 1);
  if (!canLeavePath(order, current, finalStatus)) {
    throw refuse(400, `The order cannot go from ${current} to ${finalStatus}.`);
  }
  return [finalStatus];
}

/** Takes the steps one by one. Stops early when something else, such as a cancellation, has moved the order. */
async function runToEnd(service: Service, simulation: Simulation): Promise<void> {
  const { closing, save, speed, world } = service;
  const order = findOrder(world, simulation.orderId);
  const { steps, delayMs } = simulation;
  for (let step = steps[0]; order && step; step = steps[0]) {
    await sleep(delayMs / speed, undefined, { signal: closing, ref: false }).catch(() => undefined);
    if (closing.aborted) return;
    if (currentStatus(order) !== simulation.from) break;
    steps.shift();
    simulation.from = step.status;
    advance(service, order, step);
    await save();
  }
  world.state.simulations = world.state.simulations.filter((each) => each !== simulation);
  await save();
}

/** Simulated progress of an order (public service: simulate order, sandbox only). */
export function simulationRoutes(service: Service): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  // Continues the simulations that an earlier run left unfinished.
  for (const simulation of service.world.state.simulations) service.track(runToEnd(service, simulation));

  routes.post('/v3/order/:order_id/test', async (c) => {
    const order = requireOrder(service.world, readUuid(c, 'order_id'));
    const { final_status, delay } = readQuery(c, simulationQuery);
    const flags = await readBody(c, simulationBody);
    const steps = planSteps(order, final_status).map((status) => ({
      status,
      statusDetail: flags?.status_detail ?? usualDetails[partsOf(status).step],
      interpretation: flags?.interpretation,
      hasMissingResults: flags?.has_missing_results ?? undefined,
    }));
    if (delay > 0) {
      const from = currentStatus(order);
      const simulation = { orderId: order.id, delayMs: delay * 1000, from, steps };
      service.world.state.simulations.push(simulation);
      service.track(runToEnd(service, simulation));
    } else {
      for (const step of steps) advance(service, order, step);
    }
    await service.save();
    return c.json('Success');
  });

  return routes;
}
