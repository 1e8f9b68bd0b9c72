import { Hono } from 'hono';
import { z } from 'zod';
import { type FaultRule, type Faults, faultEffect } from '../http/faults.ts';
import { refuse } from '../http/refusal.ts';
import { readBody } from '../http/validation.ts';
import type { Plan } from '../management/access.ts';
import type { SandboxEnv } from '../service.ts';
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

/** The parts that the controls change and show. */
interface ControlParts {
  readonly faults: Faults;
  readonly plan: Plan;
  readonly sender: WebhookSender;
  readonly calls: readonly string[];
  readonly visits: readonly PortalVisit[];
}

/** The controls of a sandbox in its own process; a test in the same process uses `Sandbox`. */
export function controlRoutes({ faults, plan, sender, calls, visits }: ControlParts): Hono<SandboxEnv> {
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
    sender.register(url);
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

  routes.get('/sandbox/calls', (c) => c.json(calls));
  routes.get('/sandbox/deliveries', (c) => c.json(sender.sent));
  routes.get('/portal-visits', (c) => c.json(visits));

  return routes;
}
