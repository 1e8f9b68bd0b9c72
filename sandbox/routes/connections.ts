import { Hono } from 'hono';
import { z } from 'zod';
import { readQuery } from '../http/validation.ts';
import type { SandboxEnv, Service } from '../service.ts';
import { presentConnections, presentHistoricalPulls } from '../world/connections.ts';
import { livingUsers } from '../world/world.ts';
import { readCursor, writeCursor } from './lab-tests.ts';
import { requireUser } from './users.ts';

const pullQuery = z.object({
  user_id: z.guid().optional(),
  provider: z.string().optional(),
  user_limit: z.coerce.number().int().min(1).max(200).default(50),
  next_cursor: z.string().optional(),
  /** The deprecated name of `next_cursor`. */
  cursor: z.string().optional(),
});

/** Connected providers of a user and how far their backfills are (public service: connections, introspection). */
export function connectionRoutes({ world }: Service): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();

  routes.get('/v2/user/providers/:user_id', (c) =>
    c.json({ providers: presentConnections(requireUser(world, c.req.param('user_id'))) }),
  );

  // A page is a stretch of all people, less those without connections: fewer rows than asked for, or none.
  routes.get('/v2/introspect/historical_pull', (c) => {
    const { user_id, provider, user_limit, next_cursor, cursor } = readQuery(c, pullQuery);
    const users = livingUsers(world).filter(
      (user) => user_id === undefined || user.id === user_id.toLowerCase(),
    );
    const start = readCursor(next_cursor ?? cursor);
    const end = start + user_limit;
    const next = end < users.length ? writeCursor(end) : null;
    const rows = users
      .slice(start, end)
      .map((user) => presentHistoricalPulls(user, provider))
      .filter((row) => Object.keys(row.provider).length > 0);
    return c.json({ data: rows, next, next_cursor: next });
  });

  return routes;
}
