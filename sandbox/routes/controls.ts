import { Hono } from 'hono';
import { z } from 'zod';
import { type FaultRule, type Faults, faultEffect } from '../http/faults.ts';
import { refuse } from '../http/refusal.ts';
import { requireOrder, requireUser } from '../http/require.ts';
import { readBody } from '../http/validation.ts';
import type { Plan } from '../management/access.ts';
import type { SandboxEnv, Service } from '../service.ts';
import { sampleOf } from '../webhooks/samples.ts';
import type { WebhookSender } from '../webhooks/sender.ts';
import type { PortalVisit } from './portal.ts';

const faultBody = z.object({
  method: z.string().exactOptional(),
  path: z.string(),
  /** Whether `path` is the text of a regular expression. */
  isPattern: z.boolean().default(false),
  times: z.number().int().min(1).exactOptional(),
  delayMs: z.number().min(0).exactOptional(),
  effect: faultEffect.exactOptional(),
});

const knobBody = z.object({
  duplicate: z.boolean().exactOptional(),
  reorder: z.boolean().exactOptional(),
  drop: z.number().int().min(0).exactOptional(),
  wrongSignature: z.boolean().exactOptional(),
});

const planBody = z.object({
  management: z.boolean().exactOptional(),
  customCredentials: z.boolean().exactOptional(),
  etlPipelines: z.boolean().exactOptional(),
});

function ruleOf({ isPattern, path, ...rest }: z.output<typeof faultBody>): FaultRule {
  if (!isPattern) return { ...rest, path };
  try {
    return { ...rest, path: new RegExp(path) };
  } catch {
    throw refuse(422, 'The path is not a regular expression.');
  }
}

const eventBody = z.object({
  event_type: z.string().min(1).max(200),
  user_id: z.guid().toLowerCase().exactOptional(),
  order_id: z.guid().exactOptional(),
  /** Replaces fields of the sample, at any depth. */
  data: z.record(z.string(), z.unknown()).exactOptional(),
});

/** Sends an event of any type, with data as the service would send it. */
function eventRoutes({ world, clock, announcer }: Service): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  routes.post('/sandbox/events', async (c) => {
    const { event_type, user_id, order_id, data = {} } = await readBody(c, eventBody);
    const named = order_id === undefined ? undefined : requireOrder(world, order_id);
    const order =
      named ?? world.state.orders.findLast(({ userId }) => user_id === undefined || userId === user_id);
    const user = requireUser(world, user_id ?? order?.userId ?? '');
    const sample = sampleOf(event_type, { world, user, order: order ?? null, now: clock.now() });
    if (sample === null) throw refuse(422, 'This event is about an order, and the user has none.');
    const orderId = event_type.startsWith('labtest.') ? order?.id : undefined;
    const subject = { userId: user.id, ...(orderId === undefined ? {} : { orderId }) };
    const message_id = announcer.send(event_type, merge(sample, data), subject);
    return c.json({ message_id, event_type, user_id: user.id, order_id: orderId ?? null });
  });
  return routes;
}

/** A copy of `value` with the fields of `over`. */
function merge(value: unknown, over: Readonly<Record<string, unknown>>): unknown {
  const entries = Object.entries(over).map(([key, to]) => {
    const isRecord = typeof to === 'object' && to !== null && !Array.isArray(to);
    return [key, isRecord ? merge(Object(value)[key], { ...to }) : to] as const;
  });
  return { ...Object(value), ...Object.fromEntries(entries) };
}

/** The parts that the controls change and show. */
interface ControlParts {
  readonly service: Service;
  readonly faults: Faults;
  readonly plan: Plan;
  readonly sender: WebhookSender;
  readonly calls: readonly string[];
  readonly visits: readonly PortalVisit[];
}

/** The controls of a sandbox in its own process; a test in the same process uses `Sandbox`. */
export function controlRoutes({
  service,
  faults,
  plan,
  sender,
  calls,
  visits,
}: ControlParts): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();

  routes.post('/sandbox/faults', async (c) => {
    faults.add(ruleOf(await readBody(c, faultBody)));
    return c.json({ success: true });
  });

  routes.delete('/sandbox/faults', (c) => {
    faults.clear();
    return c.json({ success: true });
  });

  routes.post('/sandbox/webhooks', async (c) => {
    const { url } = await readBody(c, z.object({ url: z.url() }));
    try {
      sender.register(url);
    } catch {
      throw refuse(422, 'url is no address that events can be sent to');
    }
    return c.json({ success: true });
  });

  routes.post('/sandbox/webhook-knobs', async (c) => {
    Object.assign(sender.knobs, await readBody(c, knobBody));
    return c.json(sender.knobs);
  });

  routes.post('/sandbox/plan', async (c) => {
    Object.assign(plan, await readBody(c, planBody));
    return c.json(plan);
  });

  routes.route('/', eventRoutes(service));

  routes.get('/sandbox/calls', (c) => c.json(calls));
  routes.get('/sandbox/deliveries', (c) => c.json(sender.sent));
  routes.get('/portal-visits', (c) => c.json(visits));

  return routes;
}
