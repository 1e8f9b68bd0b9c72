import { Hono } from 'hono';
import { z } from 'zod';
import { refuse } from '../http/refusal.ts';
import { requireUser, requireUserOfPath } from '../http/require.ts';
import { readBody, readCursor, readQuery, readUuid, rowsFrom } from '../http/validation.ts';
import type { SandboxEnv, Service } from '../service.ts';
import { examplesOf, streamOf, workoutIdOf } from '../wearables/examples.ts';
import { presentConnections, presentHistoricalPulls } from '../world/connections.ts';
import { livingUsers } from '../world/world.ts';

const pullQuery = z.object({
  user_id: z.guid().optional(),
  provider: z.string().optional(),
  user_limit: z.coerce.number().int().min(1).max(200).default(50),
  next_cursor: z.string().optional(),
  /** The deprecated name of `next_cursor`. */
  cursor: z.string().optional(),
});

/** Connected providers, their backfills and streams of workouts (public service: connections, introspection). */
export function wearableRoutes({ world }: Service): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();

  routes.get('/v2/user/providers/:user_id', (c) =>
    c.json({ providers: presentConnections(requireUserOfPath(world, c.req.param('user_id'))) }),
  );

  // A page covers a part of all users. Users without connections are left out of it, so it may be short or empty.
  routes.get('/v2/introspect/historical_pull', (c) => {
    const { user_id, provider, user_limit, next_cursor, cursor } = readQuery(c, pullQuery);
    const users = livingUsers(world).filter(
      (user) => user_id === undefined || user.id === user_id.toLowerCase(),
    );
    const { rows, next } = rowsFrom(users, readCursor(next_cursor ?? cursor), user_limit);
    const data = rows
      .map((user) => presentHistoricalPulls(user, provider))
      .filter((row) => Object.keys(row.provider).length > 0);
    return c.json({ data, next, next_cursor: next });
  });

  routes.get('/v2/timeseries/workouts/:workout_id/stream', (c) => {
    const workoutId = readUuid(c, 'workout_id').toLowerCase();
    const user = world.state.users.find((each) => workoutIdOf(world, each) === workoutId);
    if (!user) throw refuse(404, 'Workout not found');
    return c.json(streamOf(world, user));
  });

  return routes;
}

/** The sandbox's own control of wearables: sends the events of a new wearable. */
export function wearableControls({ world, clock, announcer }: Service): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();

  routes.post('/sandbox/wearables', async (c) => {
    const { user_id } = await readBody(c, z.object({ user_id: z.guid() }));
    const user = requireUser(world, user_id);
    const sent = examplesOf(world, user, clock.now()).map((event) => ({
      event_type: event.eventType,
      message_id: announcer.send(event.eventType, event.data, { userId: user.id }),
    }));
    return c.json({ sent });
  });

  return routes;
}
