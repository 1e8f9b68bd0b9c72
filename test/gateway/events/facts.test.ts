import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { EventLog, FactQuery, NewFact, NewMessage } from '../../../gateway/events/log.ts';
import { openSqliteStore } from '../../../gateway/events/sqlite/store.ts';
import { makeFolder } from '../../support/folder.ts';
import { fillDisk } from '../../support/full-disk.ts';
import { newMessage, storedEvent } from '../../support/messages.ts';
import { runs } from '../../support/runs.ts';
import { endRedis, stores } from './stores.ts';

afterAll(endRedis);

const day = (number: number) => new Date(Date.UTC(2026, 0, number));

function fact(key: string, value: string, more: Partial<NewFact> = {}): NewFact {
  return { kind: 'sample:glucose', key, at: day(1), value: Buffer.from(value), ...more };
}

function stating(messageId: string, facts: readonly NewFact[], more: Partial<NewMessage> = {}): NewMessage {
  return newMessage(messageId, { facts, ...more });
}

const mine: FactQuery = { userId: 'user-1', kind: 'sample:glucose' };

async function valuesOf(log: EventLog, query: FactQuery = mine, limit = 100): Promise<readonly string[]> {
  return (await log.facts(query, limit)).map(({ value }) => value.toString());
}

describe.each(stores)('the facts of the event log in $name', ({ open }) => {
  test('are stored with the message, and are no part of its event', async () => {
    await using store = await open();
    const message = stating('a', [fact('one', 'A')]);
    const { position } = await store.log.append(message);
    const { facts: _, ...bare } = message;
    expect(await store.log.facts(mine, 10)).toEqual([
      { at: day(1), position, receivedAt: message.receivedAt, value: Buffer.from('A') },
    ]);
    expect(await store.log.read({}, 0, 10)).toMatchObject({ events: [storedEvent(bare, position)] });
  });

  test('of one key are one: the one appended last, at any time', async () => {
    await using store = await open();
    await store.log.append(stating('a', [fact('one', 'A', { at: day(5) })]));
    const { position } = await store.log.append(stating('b', [fact('one', 'B', { at: day(2) })]));
    expect(await store.log.facts(mine, 10)).toMatchObject([{ at: day(2), position }]);
    expect(await valuesOf(store.log, { ...mine, from: day(3) })).toEqual([]);
  });

  test('of one key in one message: the last one wins', async () => {
    await using store = await open();
    await store.log.append(stating('a', [fact('one', 'A'), fact('one', 'B')]));
    expect(await valuesOf(store.log)).toEqual(['B']);
  });

  test('are the same after every repetition, also one that comes after a newer message', async () => {
    await using store = await open();
    await store.log.append(stating('a', [fact('one', 'A')]));
    await store.log.append(stating('b', [fact('one', 'B')]));
    await store.log.append(stating('a', [fact('one', 'A')]));
    await store.log.append(stating('a', [fact('one', 'altered')], { body: Buffer.from('other') }));
    expect(await valuesOf(store.log)).toEqual(['B']);
  });

  test('are apart by user, kind and key', async () => {
    await using store = await open();
    await store.log.append(
      stating('a', [fact('one', 'A'), fact('two', 'B'), fact('one', 'C', { kind: 'other' })]),
    );
    await store.log.append(stating('b', [fact('one', 'D')], { userId: 'user-2' }));
    expect((await valuesOf(store.log)).toSorted()).toEqual(['A', 'B']);
    expect(await valuesOf(store.log, { ...mine, key: 'two' })).toEqual(['B']);
    expect(await valuesOf(store.log, { ...mine, key: 'three' })).toEqual([]);
    expect(await valuesOf(store.log, { ...mine, kind: 'other' })).toEqual(['C']);
    expect(await valuesOf(store.log, { ...mine, userId: 'user-2' })).toEqual(['D']);
    expect(await valuesOf(store.log, { ...mine, userId: 'user-3' })).toEqual([]);
  });

  test('are found by time, the latest first, as many as asked for', async () => {
    await using store = await open();
    const days = [3, 1, 5, 2, 4];
    await store.log.append(
      stating(
        'a',
        days.map((number) => fact(`${number}`, `${number}`, { at: day(number) })),
      ),
    );
    expect(await valuesOf(store.log)).toEqual(['5', '4', '3', '2', '1']);
    expect(await valuesOf(store.log, mine, 2)).toEqual(['5', '4']);
    expect(await valuesOf(store.log, { ...mine, from: day(2), before: day(4) })).toEqual(['3', '2']);
  });

  test('of a dead letter and of a message about nobody are not stored', async () => {
    await using store = await open();
    await store.log.append(stating('a', [fact('one', 'A')], { deadReason: 'other-team' }));
    await store.log.append(stating('b', [fact('two', 'B')], { userId: null }));
    expect(await valuesOf(store.log)).toEqual([]);
  });

  test('go with the message that stated them, and stay where a newer one stated them again', async () => {
    await using store = await open();
    await store.log.append(stating('a', [fact('one', 'A'), fact('two', 'B')], { receivedAt: day(1) }));
    await store.log.append(stating('b', [fact('two', 'C')], { receivedAt: day(3) }));
    await store.log.prune(day(2));
    expect(await valuesOf(store.log)).toEqual(['C']);
    await store.log.prune(day(4));
    expect(await valuesOf(store.log)).toEqual([]);
  });

  test('are those of the last message of each key, in any order of messages', async () => {
    const statement = fc.record({
      key: fc.constantFrom('a', 'b', 'c'),
      userId: fc.constantFrom('user-1', 'user-2'),
      at: fc.integer({ min: 1, max: 28 }).map(day),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(statement, { maxLength: 15 }), async (statements) => {
        await using store = await open();
        const expected = new Map<string, string>();
        for (const [index, { key, userId, at }] of statements.entries()) {
          await store.log.append(stating(`${index}`, [fact(key, `${index}`, { at })], { userId }));
          if (userId === 'user-1') expected.set(key, `${index}`);
        }
        expect((await valuesOf(store.log)).toSorted()).toEqual([...expected.values()].toSorted());
      }),
      { numRuns: runs(20) },
    );
  });
});

describe('the facts in SQLite', () => {
  test('are there again after a restart', async () => {
    using folder = makeFolder();
    const path = folder.file('events.db');
    const first = (await openSqliteStore(path, { keys: [], access: 'exclusive' })).log;
    await first.append(stating('a', [fact('one', 'A')]));
    await first.close();
    const { log } = await openSqliteStore(path, { keys: [], access: 'exclusive' });
    expect(await valuesOf(log)).toEqual(['A']);
    await log.close();
  });

  test('are sealed like bodies, and their keys disclose nothing', async () => {
    using folder = makeFolder();
    const { log } = await openSqliteStore(folder.file('events.db'), {
      keys: [randomBytes(32)],
      access: 'exclusive',
    });
    await log.append(stating('a', [fact('clinic-of-jane', 'Jane Doe, 7.9')], { body: Buffer.from('x') }));
    const text = readdirSync(folder.path)
      .map((name) => readFileSync(folder.file(name), 'latin1'))
      .join('');
    expect(text).not.toContain('Jane Doe');
    expect(text).not.toContain('clinic-of-jane');
    expect(await valuesOf(log)).toEqual(['Jane Doe, 7.9']);
    await log.close();
  });

  test('are not stored when their message cannot be', async () => {
    using folder = makeFolder();
    const { log } = await openSqliteStore(folder.file('events.db'), { keys: [], access: 'exclusive' });
    await log.append(stating('a', [fact('one', 'A')]));
    {
      using _ = fillDisk();
      await expect(log.append(stating('b', [fact('one', 'B')]))).rejects.toMatchObject({
        code: 'EVENT_LOG_UNAVAILABLE',
      });
    }
    expect(await valuesOf(log)).toEqual(['A']);
    await log.close();
  });
});
