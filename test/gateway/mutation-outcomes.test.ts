import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../gateway/errors.ts';
import { type EventStore, openEventStore } from '../../gateway/events/open.ts';
import { createGateway } from '../../gateway/gateway.ts';
import type { LabOptions } from '../support/lab.ts';
import { json, text } from '../support/misbehaving-service.ts';
import type { Row } from './mutations/row.ts';
import { callOf, rowOf } from './mutations/rows.ts';
import { openWorld } from './mutations/world.ts';

/** Errors of writes say whether the write may have been done, whatever fails before or after it (decision 0003). */

/** Parts of the store that can fail, as `log.latestOf`. */
type Part =
  | 'log.position'
  | 'log.latestOf'
  | 'log.claim'
  | 'idempotencyRecords.begin'
  | 'idempotencyRecords.finish'
  | 'idempotencyRecords.release';

async function fail(): Promise<never> {
  throw new GatewayError('EVENT_LOG_UNAVAILABLE', 'The write could not be made durable.');
}

/** A part of the store whose members fail while they are in the set. */
function failing<Members extends object>(part: Members, name: string, failed: ReadonlySet<string>): Members {
  return new Proxy(part, {
    get: (target, member) => {
      if (failed.has(`${name}.${String(member)}`)) return fail;
      const value: unknown = Reflect.get(target, member);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Makes a gateway whose store fails where the set says so. */
function makeFailing(failed: ReadonlySet<string>): LabOptions {
  const spoil = (store: EventStore): EventStore => ({
    ...store,
    log: failing(store.log, 'log', failed),
    idempotencyRecords: failing(store.idempotencyRecords, 'idempotencyRecords', failed),
  });
  return {
    make: async (parts) => {
      const { eventLog, eventLogKeys } = parts.config;
      const store = openEventStore(eventLog, { keys: eventLogKeys, log: parts.log });
      return await createGateway({ ...parts, store: store.then(spoil) });
    },
  };
}

/** Opens the row's world and calls its mutation once, while parts of the store fail. */
async function openFailing(row: Row) {
  const failed = new Set<Part>();
  const world = await openWorld(row, makeFailing(failed));
  return Object.assign(world, {
    callFailing: async (part: Part) => {
      failed.add(part);
      const result = await world.call(world.variables);
      failed.clear();
      return result;
    },
    writes: () => world.lab.sent.filter(({ call }) => callOf(row).test(call)).length,
  });
}

const faultOf = (row: Row, part: Part) => ({ mutation: row.mutation, row, part });
const placing = ['createTestkitOrder', 'createOrder', 'importOrder'].map(rowOf);
const recorded = [...placing, rowOf('createLabReport')];
const unavailable = (mayHaveBeenDone: boolean) => ({ word: 'EVENT_LOG_UNAVAILABLE', mayHaveBeenDone });

describe('where the event log fails', () => {
  const before = [
    ...[...placing, rowOf('registerTestkit')].map((row) => faultOf(row, 'log.position')),
    ...recorded.map((row) => faultOf(row, 'idempotencyRecords.begin')),
  ];

  test.each(before)(
    'before $mutation ($part), nothing was sent and it was not done',
    async ({ row, part }) => {
      await using world = await openFailing(row);
      expect(await world.callFailing(part)).toMatchObject(unavailable(false));
      expect(world.writes()).toBe(0);
      expect((await world.call(world.variables)).word).toBe(row.success);
    },
  );

  const after = [
    ...recorded.map((row) => faultOf(row, 'idempotencyRecords.finish')),
    ...[...placing, rowOf('registerTestkit')].map((row) => faultOf(row, 'log.latestOf')),
    faultOf(rowOf('createLabReport'), 'log.claim'),
  ];

  test.each(after)('after $mutation ($part), it may have been done', async ({ row, part }) => {
    await using world = await openFailing(row);
    expect(await world.callFailing(part)).toMatchObject(unavailable(true));
    expect(world.writes()).toBe(1);
  });

  test.each(recorded)('after $mutation was refused, it was not done', async (row) => {
    await using world = await openFailing(row);
    world.lab.spoil({ at: callOf(row), isDone: false, answer: json({ detail: 'No.' }, 400) });
    expect(await world.callFailing('idempotencyRecords.release')).toMatchObject(unavailable(false));
  });

  test.each(recorded)('after $mutation found nothing to do it to, it was not done', async (row) => {
    await using world = await openFailing(row);
    world.lab.spoil({ at: callOf(row), isDone: false, answer: text('', 404) });
    expect(await world.callFailing('idempotencyRecords.release')).toMatchObject(unavailable(false));
  });

  test('a report whose owner was not stored is not uploaded twice', async () => {
    const row = rowOf('createLabReport');
    await using world = await openFailing(row);
    await world.callFailing('log.claim');
    expect((await world.call(world.variables)).word).toBe(row.success);
    expect(world.writes()).toBe(1);
  });
});

const noReads = { at: /^GET /, isDone: false, answer: text('', 500), times: 100 };

describe('where the reads before it fail, nothing was sent and it was not done:', () => {
  const reading = [
    ...['updateOrder', 'cancelOrder', 'simulateOrder', 'deleteUser', 'undoUserDeletion'],
    ...['bookPhlebotomyAppointment', 'reschedulePhlebotomyAppointment', 'cancelPhlebotomyAppointment'],
    ...['bookServiceCenterAppointment', 'requestPhlebotomyAppointment'],
  ];

  test.each(reading)('%s', async (mutation) => {
    await using world = await openWorld(rowOf(mutation));
    const before = world.lab.sent.length;
    world.lab.spoil(noReads);
    const result = await world.call(world.variables);
    const sent = world.lab.sent.slice(before).map(({ call }) => call.slice(0, 4));
    expect(result).toMatchObject({ word: 'UPSTREAM_UNAVAILABLE', mayHaveBeenDone: false });
    expect(new Set(sent)).toEqual(new Set(['GET ']));
  });

  test('registerTestkit of a viewer, whose kits are searched first', async () => {
    const row = rowOf('registerTestkit');
    await using world = await openWorld(row);
    const { userId } = world.variables.input as { readonly userId: string };
    const token = await world.lab.tokenFor(userId, { scopes: ['read:orders', 'write:orders'] });
    world.lab.spoil(noReads);
    const { errors } = await world.lab.query(
      'mutation ($input: RegisterTestkitInput!) { registerTestkit(input: $input) { __typename } }',
      { variables: world.variables, token },
    );
    expect(errors?.[0].extensions).toEqual({ code: 'UPSTREAM_UNAVAILABLE', mayHaveBeenDone: false });
  });
});

test('a mutation says nothing was done where only a mutation before it in the operation wrote', async () => {
  await using world = await openWorld(rowOf('cancelOrder'));
  const { id } = world.variables;
  world.lab.spoil({ ...noReads, at: /^GET .*order/ });
  const { data, errors } = await world.lab.query(
    'mutation ($user: CreateUserInput!, $order: CancelOrderInput!) { createUser(input: $user) { __typename } cancelOrder(input: $order) { __typename } }',
    { variables: { user: { clientUserId: 'one-more' }, order: { id } } },
  );
  expect(data.createUser).toEqual({ __typename: 'UserCreated' });
  expect(errors?.[0].extensions).toEqual({ code: 'UPSTREAM_UNAVAILABLE', mayHaveBeenDone: false });
});

/** The row's mutation, where the service answers its call so, and none of the reads after it. */
async function callUnread(row: Row, status: number) {
  const world = await openWorld(row);
  world.lab.spoil({
    at: callOf(row),
    isDone: false,
    answer: (response) => {
      world.lab.spoil(noReads);
      json({ detail: 'No.' }, status)(response);
    },
  });
  return Object.assign(world, { result: await world.call(world.variables) });
}

describe('where the reads fail that would explain a refusal, it was not done:', () => {
  const explained = [
    { mutation: 'cancelOrder', status: 400 },
    { mutation: 'cancelOrder', status: 409 },
    { mutation: 'updateOrder', status: 400 },
    { mutation: 'bookPhlebotomyAppointment', status: 409 },
    { mutation: 'bookPhlebotomyAppointment', status: 404 },
    { mutation: 'bookServiceCenterAppointment', status: 400 },
    { mutation: 'requestPhlebotomyAppointment', status: 409 },
    { mutation: 'reschedulePhlebotomyAppointment', status: 410 },
    { mutation: 'cancelServiceCenterAppointment', status: 404 },
  ];

  test.each(explained)('$mutation after $status', async ({ mutation, status }) => {
    await using world = await callUnread(rowOf(mutation), status);
    expect(world.result).toMatchObject({ word: 'UPSTREAM_UNAVAILABLE', mayHaveBeenDone: false });
  });
});

test('a booking may have been done where its replayed answer shows another appointment and the order cannot be read', async () => {
  const row = rowOf('bookServiceCenterAppointment');
  await using world = await openWorld(row);
  await world.call(world.variables);
  const { orderId } = world.variables.input as { readonly orderId: string };
  const booked = (await world.lab.peek(`/v3/order/${orderId}/psc/appointment`)) as object;
  const noOrder = {
    at: new RegExp(`^GET /v3/order/${orderId}$`),
    isDone: false,
    answer: text('', 500),
    times: 100,
  };
  world.lab.spoil({
    at: callOf(row),
    isDone: false,
    answer: (response) => {
      world.lab.spoil(noOrder);
      json({ ...booked, id: crypto.randomUUID() })(response);
    },
  });
  const result = await world.call(world.variables);
  expect(result).toMatchObject({ word: 'UPSTREAM_UNAVAILABLE', mayHaveBeenDone: true });
});

test('a portal link that points elsewhere was made', async () => {
  const elsewhere = { env: { PORTAL_ORIGINS: 'https://elsewhere.example' } };
  await using world = await openWorld(rowOf('createPortalUrl'), elsewhere);
  const result = await world.call(world.variables);
  expect(result).toMatchObject({ word: 'PORTAL_URL_REFUSED', mayHaveBeenDone: true });
});
