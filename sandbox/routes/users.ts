import { Hono } from 'hono';
import { z } from 'zod';
import { refuse } from '../http/refusal.ts';
import { readQuery } from '../http/validation.ts';
import type { SandboxEnv, Service } from '../service.ts';
import { presentUser, type User } from '../world/users.ts';
import { findUser, livingUsers, type World } from '../world/world.ts';

// Bounds and defaults of the public service; the specification does not show them.
const listQuery = z.object({
  offset: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});

/** A malformed user id is refused with a plain sentence, unlike everything else (public service). */
function requireUserId(text: string): string {
  if (!z.guid().safeParse(text).success) throw refuse(422, 'The user id is not a valid UUID.');
  return text;
}

/**
 * The user with this id.
 * @throws Refusal 422 for a malformed id, 404 for one of nobody.
 */
export function requireUser(world: World, userId: string): User {
  const user = findUser(world, requireUserId(userId));
  if (!user) throw refuse(404, 'User not found');
  return user;
}

/** User list, one user, resolution of a client's reference, demographics. */
export function userRoutes({ world }: Service): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();

  // The specification's path ends with a slash, the public service's does not.
  routes.on('GET', ['/v2/user/', '/v2/user'], (c) => {
    const { offset, limit } = readQuery(c, listQuery);
    const users = livingUsers(world);
    return c.json({
      users: users.slice(offset, offset + limit).map((user) => presentUser(user, world.teamId)),
      total: users.length,
      offset,
      limit,
    });
  });

  routes.get('/v2/user/resolve/:client_user_id', (c) => {
    const reference = c.req.param('client_user_id');
    const user = livingUsers(world).find((each) => each.clientUserId === reference);
    if (!user) throw refuse(404, 'User not found');
    return c.json(presentUser(user, world.teamId));
  });

  routes.get('/v2/user/:user_id', (c) => {
    const user = requireUser(world, c.req.param('user_id'));
    return c.json(presentUser(user, world.teamId));
  });

  routes.get('/v2/user/:user_id/info/latest', (c) => {
    const user = requireUser(world, c.req.param('user_id'));
    if (!user.demographics) throw refuse(404, 'User has no demographics');
    return c.json(user.demographics);
  });

  return routes;
}
