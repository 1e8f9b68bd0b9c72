import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { z } from 'zod';
import { refuse } from '../../http/refusal.ts';
import { readBody, readUuid } from '../../http/validation.ts';
import type { SandboxEnv, Service } from '../../service.ts';
import { findOrder, findUser } from '../../world/world.ts';

const portalUrlBody = z.object({
  context: z.enum(['launch', 'communications']),
  order_id: z.guid().nullish(),
});

// Minutes for a launch, weeks for a message (specification); in seconds, as the public service seems to mean it.
const lifetimeSeconds = { launch: 600, communications: 14 * 24 * 3600 } as const;

function pathFor(context: keyof typeof lifetimeSeconds): string {
  if (context === 'launch') return `/portal/${randomBytes(32).toString('base64url')}`;
  return `/p/${randomBytes(8).toString('base64url')}`;
}

/** Creation of portal URLs (specification: endpoint 1). */
export function portalUrlRoutes({ world, clock, save, originOf }: Service): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();

  routes.post('/v2/user/:user_id/create_portal_url', async (c) => {
    const userId = readUuid(c, 'user_id');
    const { context, order_id } = await readBody(c, portalUrlBody);
    const user = findUser(world, userId);
    if (!user) throw refuse(404, 'User not found');
    if (!user.demographics) throw refuse(422, 'The portal requires that demographics are set for the user.');
    const order = order_id ? findOrder(world, order_id) : undefined;
    if (order_id && order?.userId !== user.id) throw refuse(422, 'The order is not an order of this user.');

    const path = pathFor(context);
    const expires_in = lifetimeSeconds[context];
    const expiresAt = clock.now() + expires_in * 1000;
    world.state.portalLinks.push({ path, orderId: order?.id ?? null, expiresAt });
    await save();
    return c.json({ url: originOf(c.req.raw) + path, expires_in });
  });

  return routes;
}
