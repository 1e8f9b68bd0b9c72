import { Hono } from 'hono';
import { z } from 'zod';
import { refuse } from '../http/refusal.ts';
import { readBody, readUuid } from '../http/validation.ts';
import type { SandboxEnv, Service } from '../service.ts';
import { examplesOf, streamOf, workoutIdOf } from '../wearables/examples.ts';
import { findUser } from '../world/world.ts';

/** Streams of workouts (specification: other operations with a known path). */
export function workoutRoutes({ world }: Service): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();

  routes.get('/v2/timeseries/workouts/:workout_id/stream', (c) => {
    const workoutId = readUuid(c, 'workout_id').toLowerCase();
    const user = world.state.users.find((each) => workoutIdOf(world, each) === workoutId);
    if (!user) throw refuse(404, 'Workout not found');
    return c.json(streamOf(world, user));
  });

  return routes;
}

const wearableBody = z.object({
  user_id: z.guid(),
  /** Any type with any data; without it a day of examples is sent. */
  event_type: z.string().exactOptional(),
  data: z.unknown().optional(),
});

/** The sandbox's own control of wearables: sends one event, or a day of them, as webhooks. */
export function wearableControls({ world, clock, announcer }: Service): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();

  routes.post('/sandbox/wearables', async (c) => {
    const { user_id, event_type, data } = await readBody(c, wearableBody);
    const user = findUser(world, user_id);
    if (!user) throw refuse(404, 'User not found');
    const events =
      event_type === undefined
        ? examplesOf(world, user, clock.now())
        : [{ eventType: event_type, data: data ?? {} }];
    const sent = events.map((event) => ({
      event_type: event.eventType,
      message_id: announcer.send(event.eventType, event.data, { userId: user.id }),
    }));
    return c.json({ sent });
  });

  return routes;
}
