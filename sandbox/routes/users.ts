import { Hono } from 'hono';
import { z } from 'zod';
import { demographics } from '../http/person.ts';
import { Refusal, refuse } from '../http/refusal.ts';
import { requireUserOfPath } from '../http/require.ts';
import { readBody, readQuery } from '../http/validation.ts';
import type { SandboxEnv, Service } from '../service.ts';
import { formatTimestamp } from '../world/clock.ts';
import { seededUuid } from '../world/ids.ts';
import { isInGrace, isLiving, presentUser, type User } from '../world/users.ts';
import { livingUsers, type World } from '../world/world.ts';

// Bounds and defaults of the public service; the specification does not show them.
const listQuery = z.object({
  offset: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

const changes = {
  fallback_time_zone: z.string().refine(isTimeZone, 'not a name of a time zone').nullish(),
  fallback_birth_date: z.iso.date().nullish(),
  ingestion_start: z.iso.date().nullish(),
  ingestion_end: z.iso.date().nullish(),
};

const newUser = z.object({ ...changes, client_user_id: z.string().min(1) });
const userPatch = z.object({ ...changes, client_user_id: z.string().min(1).optional() });
const undoQuery = z.object({ user_id: z.guid().optional(), client_user_id: z.string().optional() });

function findByReference(world: World, clientUserId: string): User | undefined {
  return livingUsers(world).find((user) => user.clientUserId === clientUserId);
}

/** @throws Refusal 400 that names the user who has the reference (specification, Errors) */
function createUser({ world, clock }: Service, body: z.output<typeof newUser>): User {
  const taken = findByReference(world, body.client_user_id);
  if (taken) {
    const created_on = formatTimestamp(taken.createdAt);
    const error = { error_type: 'INVALID_REQUEST', error_message: 'Client user id already exists.' };
    throw new Refusal(400, { detail: { ...error, user_id: taken.id, created_on } });
  }
  const user: User = {
    id: seededUuid(world.state.seed, 'user', world.state.users.length),
    clientUserId: body.client_user_id,
    createdAt: clock.now(),
    sources: [],
    timeZone: body.fallback_time_zone ?? null,
    birthDate: body.fallback_birth_date ?? null,
    demographics: null,
    ingestionStart: body.ingestion_start ?? null,
    ingestionEnd: body.ingestion_end ?? null,
  };
  world.state.users.push(user);
  return user;
}

function patchUser(world: World, user: User, patch: z.output<typeof userPatch>): void {
  if (Object.keys(patch).length === 0) throw refuse(400, 'Nothing to patch');
  const { client_user_id, fallback_time_zone, fallback_birth_date, ingestion_start, ingestion_end } = patch;
  const taken = client_user_id === undefined ? undefined : findByReference(world, client_user_id);
  if (taken && taken !== user) throw refuse(409, 'Client user id already exists');
  if (client_user_id !== undefined) user.clientUserId = client_user_id;
  if (fallback_time_zone !== undefined) user.timeZone = fallback_time_zone;
  if (fallback_birth_date !== undefined) user.birthDate = fallback_birth_date;
  if (ingestion_start !== undefined) user.ingestionStart = ingestion_start;
  if (ingestion_end !== undefined) user.ingestionEnd = ingestion_end;
}

/** The account comes back without its connections, which ended with the deletion. */
function undoDeletion({ world, clock }: Service, query: z.output<typeof undoQuery>): void {
  const { user_id, client_user_id } = query;
  if ((user_id === undefined) === (client_user_id === undefined)) {
    throw refuse(400, 'Exactly one of user_id and client_user_id must be given.');
  }
  const named = world.state.users.filter((user) =>
    user_id === undefined ? user.clientUserId === client_user_id : user.id === user_id.toLowerCase(),
  );
  const deleted = named.findLast((user) => isInGrace(user, clock.now()));
  if (!deleted && named.some(isLiving)) throw refuse(400, 'The user is not deleted.');
  if (!deleted) throw refuse(404, 'User not found');
  if (findByReference(world, deleted.clientUserId)) throw refuse(400, 'Client user id already exists.');
  deleted.deletedAt = null;
}

/** User list, one user, resolution of a client's reference, demographics. */
function addUserReads(routes: Hono<SandboxEnv>, world: World): void {
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
    const user = findByReference(world, c.req.param('client_user_id'));
    if (!user) throw refuse(404, 'User not found');
    return c.json(presentUser(user, world.teamId));
  });

  routes.get('/v2/user/:user_id', (c) => {
    const user = requireUserOfPath(world, c.req.param('user_id'));
    return c.json(presentUser(user, world.teamId));
  });

  routes.get('/v2/user/:user_id/info/latest', (c) => {
    const user = requireUserOfPath(world, c.req.param('user_id'));
    if (!user.demographics) throw refuse(404, 'User has no demographics');
    return c.json(user.demographics);
  });
}

/** Creates, changes and deletes users (specification: named without path; paths of the public service). */
function addUserWrites(routes: Hono<SandboxEnv>, service: Service): void {
  const { world, clock, save } = service;

  routes.post('/v2/user', async (c) => {
    const user = createUser(service, await readBody(c, newUser));
    await save();
    return c.json(presentUser(user, world.teamId));
  });

  routes.post('/v2/user/undo_delete', async (c) => {
    undoDeletion(service, readQuery(c, undoQuery));
    await save();
    return c.json({ success: true });
  });

  routes.patch('/v2/user/:user_id', async (c) => {
    const user = requireUserOfPath(world, c.req.param('user_id'));
    patchUser(world, user, await readBody(c, userPatch));
    await save();
    return c.body(null, 204);
  });

  routes.delete('/v2/user/:user_id', async (c) => {
    const user = requireUserOfPath(world, c.req.param('user_id'));
    Object.assign(user, { deletedAt: clock.now(), sources: [] });
    await save();
    return c.json({ success: true });
  });

  routes.patch('/v2/user/:user_id/info', async (c) => {
    const user = requireUserOfPath(world, c.req.param('user_id'));
    user.demographics = await readBody(c, demographics);
    await save();
    return c.json(user.demographics);
  });
}

/** Users and their demographics. */
export function userRoutes(service: Service): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  addUserReads(routes, service.world);
  addUserWrites(routes, service);
  return routes;
}
