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

const simulationQuery = z.object({
  final_status: z.enum(allStatuses).optional(),
  /** Seconds between the steps; with it they happen after the answer. */
  delay: z.coerce.number().min(0).default(0),
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

interface Step {
  readonly status: string;
  readonly statusDetail: string | undefined;
  readonly interpretation: string | undefined;
  readonly hasMissingResults: boolean | undefined;
}

/** Stops early when something else, such as a cancellation, has moved the order meanwhile. */
async function advanceSlowly(
  service: Service,
  order: Order,
  { steps, delayMs }: { readonly steps: readonly Step[]; readonly delayMs: number },
): Promise<void> {
  const { closing, save } = service;
  for (const step of steps) {
    const before = currentStatus(order);
    await sleep(delayMs, undefined, { signal: closing, ref: false }).catch(() => undefined);
    if (closing.aborted || currentStatus(order) !== before) return;
    advance(service, order, step);
    await save();
  }
}

/** Simulated progress of an order (public service: simulate order, sandbox only). */
export function simulationRoutes(service: Service): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();

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
      service.track(advanceSlowly(service, order, { steps, delayMs: (delay * 1000) / service.speed }));
    } else {
      for (const step of steps) advance(service, order, step);
      await service.save();
    }
    return c.json('Success');
  });

  return routes;
}
