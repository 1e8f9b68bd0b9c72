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

/** Parts of the store that can fail, as `log.latest`. */
type Part =
  | 'log.position'
  | 'log.latest'
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
    ...[...placing, rowOf('registerTestkit')].map((row) => faultOf(row, 'log.latest')),
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
