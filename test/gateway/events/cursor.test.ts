import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCursors, loadCursorKey } from '../../../gateway/events/cursor.ts';
import { type EventStore, openEventStore } from '../../../gateway/events/open.ts';
import { createLog } from '../../../gateway/log.ts';
import { makeFolder } from '../../support/folder.ts';

const silent = createLog({ level: 'silent' });
const key = Buffer.alloc(32, 1);
const cursors = createCursors(() => 'epoch-1', [key]);
const place = { position: 42, shown: { 'order-1': 7 } };
const badCursor = expect.objectContaining({ code: 'BAD_CURSOR' });

describe('a cursor', () => {
  test('names its position, for any position and scope', () => {
    const places = fc.record({
      position: fc.maxSafeNat(),
      shown: fc.dictionary(fc.uuid(), fc.maxSafeNat(), { maxKeys: 5 }),
    });
    fc.assert(
      fc.property(fc.string(), places, (scope, { position, shown }) => {
        const plain = { position, shown: { ...shown } };
        const cursor = cursors.issue(scope, plain);
        expect(cursor).toMatch(/^[\w-]+$/);
        expect(cursors.read(scope, cursor)).toEqual(plain);
      }),
    );
  });

  test('of a log that is gone is of another epoch, as long as the key is the same', () => {
    const cursor = createCursors(() => 'epoch-0', [key]).issue('scope', place);
    expect(cursors.read('scope', cursor)).toBe('other-epoch');
    const other = createCursors(() => 'epoch-1', [Buffer.alloc(32, 2)]).issue('scope', place);
    expect(() => cursors.read('scope', other)).toThrow(badCursor);
  });

  test('issued under an older key is still read, and new ones are issued under the first', () => {
    const newKey = Buffer.alloc(32, 2);
    const rotated = createCursors(() => 'epoch-1', [newKey, key]);
    expect(rotated.read('scope', cursors.issue('scope', place))).toEqual(place);
    const issued = rotated.issue('scope', place);
    expect(createCursors(() => 'epoch-1', [newKey]).read('scope', issued)).toEqual(place);
    expect(() => cursors.read('scope', issued)).toThrow(badCursor);
  });

  test('works in no other scope', () => {
    const cursor = cursors.issue('order o1 user:u1', place);
    for (const scope of ['order o1 user:u2', 'order o2 user:u1', 'order o1 team', '', 'order o1 user:u1\0']) {
      expect(() => cursors.read(scope, cursor)).toThrow(badCursor);
    }
  });

  test('with any one byte changed is refused', () => {
    const bytes = Buffer.from(cursors.issue('scope', place), 'base64url');
    for (const index of bytes.keys()) {
      const forged = Buffer.from(bytes);
      forged[index] = (bytes[index] ?? 0) ^ 1;
      expect(() => cursors.read('scope', forged.toString('base64url'))).toThrow(badCursor);
    }
  });

  test('in another spelling of the same bytes is refused', () => {
    const cursor = cursors.issue('scope', place);
    const plain = Buffer.from(cursor, 'base64url');
    for (const other of [
      `${cursor}=`,
      `${cursor}!`,
      `${cursor.slice(0, 5)} ${cursor.slice(5)}`,
      plain.toString('base64'),
    ])
      if (other !== cursor) expect(() => cursors.read('scope', other)).toThrow(badCursor);
  });

  test('cut anywhere is refused', () => {
    const cursor = cursors.issue('scope', place);
    for (let length = 0; length < cursor.length - 1; length += 1) {
      expect(() => cursors.read('scope', cursor.slice(0, length))).toThrow(badCursor);
    }
  });

  test('that is any other text is refused, and never ends in another error', () => {
    const anything = fc.oneof(fc.string(), fc.base64String(), fc.json());
    fc.assert(
      fc.property(anything, (text) => {
        expect(() => cursors.read('scope', text)).toThrow(badCursor);
      }),
    );
  });
});

describe('the key of cursors', () => {
  const open = async (path: string, keys: readonly Buffer[]) => {
    const store = await openEventStore({ kind: 'sqlite', path }, { keys, log: silent });
    return { ...store, [Symbol.asyncDispose]: () => store.log.close() } satisfies EventStore &
      AsyncDisposable;
  };

  test('is stored in a file for its owner only, and made anew only when it is no key', () => {
    using folder = makeFolder();
    const path = folder.file('key');
    const made = loadCursorKey(path);
    expect(made).toHaveLength(32);
    expect(loadCursorKey(path).equals(made)).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o600);

    writeFileSync(path, '', { mode: 0o600 });
    const next = loadCursorKey(path);
    expect(next).toHaveLength(32);
    expect(next.equals(made)).toBe(false);
    expect(loadCursorKey(path).equals(next)).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe(next.toString('base64'));
  });

  test.each([
    ['in a file beside the log', []],
    ['from the key of the log', [randomBytes(32)]],
  ])('%s outlives the log', async (_name, keys) => {
    using folder = makeFolder();
    const path = folder.file('events.db');
    const cursor = await (async () => {
      await using store = await open(path, keys);
      return store.cursors.issue('scope', place);
    })();
    {
      await using reopened = await open(path, keys);
      expect(reopened.cursors.read('scope', cursor)).toEqual(place);
    }
    rmSync(path);
    await using anew = await open(path, keys);
    expect(anew.cursors.read('scope', cursor)).toBe('other-epoch');
  });

  test('outlives a rotation of EVENT_LOG_KEY', async () => {
    using folder = makeFolder();
    const path = folder.file('events.db');
    const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
    const cursor = await (async () => {
      await using store = await open(path, [oldKey]);
      return store.cursors.issue('scope', place);
    })();
    await using rotated = await open(path, [newKey, oldKey]);
    expect(rotated.cursors.read('scope', cursor)).toEqual(place);
  });

  test('outlives that EVENT_LOG_KEY is given later', async () => {
    using folder = makeFolder();
    const path = folder.file('events.db');
    const cursor = await (async () => {
      await using store = await open(path, []);
      return store.cursors.issue('scope', place);
    })();
    await using keyed = await open(path, [randomBytes(32)]);
    expect(keyed.cursors.read('scope', cursor)).toEqual(place);
    expect(() => keyed.cursors.read('other scope', cursor)).toThrow(badCursor);
  });

  test('in memory is of that log alone', async () => {
    const [one, two] = [
      await openEventStore({ kind: 'memory' }, { keys: [], log: silent }),
      await openEventStore({ kind: 'memory' }, { keys: [], log: silent }),
    ];
    const cursor = one.cursors.issue('scope', place);
    expect(one.cursors.read('scope', cursor)).toEqual(place);
    expect(() => two.cursors.read('scope', cursor)).toThrow(badCursor);
  });
});
