import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { follow } from '../../../gateway/events/follow.ts';
import { openEventStore } from '../../../gateway/events/open.ts';
import { Seal } from '../../../gateway/events/seal.ts';
import { openSqliteStore } from '../../../gateway/events/sqlite/store.ts';
import { createLog } from '../../../gateway/log.ts';
import { makeFolder } from '../../support/folder.ts';
import { fillDisk } from '../../support/full-disk.ts';
import { replaceMembers } from '../../support/members.ts';
import { newMessage, storedEvent } from '../../support/messages.ts';

const order = (version: number) => ({ id: 'order-1', version });

async function openLog(path: string, keys: readonly Buffer[] = []) {
  const { log, idempotencyRecords } = await openSqliteStore(path, { keys, access: 'exclusive' });
  return replaceMembers(log, { idempotencyRecords, [Symbol.asyncDispose]: () => log.close() });
}

test('A reopened log has everything it had: epoch, events, positions, ids, versions, idempotency records', async () => {
  using folder = makeFolder();
  const path = folder.file('events.db');
  const first = await openLog(path);
  const epoch = first.epoch();
  const old = await first.append(newMessage('old', { receivedAt: new Date(0) }));
  const { position } = await first.append(newMessage('a', { subject: order(2) }));
  await first.prune(new Date(1));
  await first.idempotencyRecords.begin('key', 'print');
  await first.idempotencyRecords.finish('key', { id: 1 });
  await first.close();

  await using log = await openLog(path);

  expect(log.epoch()).toBe(epoch);
  expect(await log.position()).toBe(position);
  expect(await log.read({}, 0, 10)).toEqual({ kind: 'gap', reason: 'pruned', through: old.position });
  expect(await log.read({}, position - 1, 10)).toMatchObject({
    events: [storedEvent(newMessage('a', { subject: order(2) }), position)],
  });
  expect(await log.append(newMessage('a'))).toEqual({ position, duplicate: true, altered: false });
  const next = await log.append(newMessage('b', { subject: order(1) }));
  expect(next.position).toBeGreaterThan(position);
  expect(await log.latest('order-1')).toMatchObject({ version: 2, position });
  expect(await log.idempotencyRecords.begin('key', 'print')).toEqual({ kind: 'finished', answer: { id: 1 } });
});

describe('an older copy of the file, put back,', () => {
  /** A log at `copied` whose copy was put back after `lost` had been appended. */
  async function restore(path: string) {
    const first = await openLog(path);
    const copied = await first.append(newMessage('copied'));
    await first.close();
    copyFileSync(path, `${path}.copy`);
    const second = await openLog(path);
    const lost = await second.append(newMessage('lost'));
    await second.close();
    copyFileSync(`${path}.copy`, path);
    return { copied: copied.position, lost: lost.position };
  }

  test('never gives a position again, and knows places of the history it replaced', async () => {
    using folder = makeFolder();
    const { copied, lost } = await restore(folder.file('events.db'));
    await using log = await openLog(folder.file('events.db'));
    expect(await log.read({}, lost, 10)).toEqual({ kind: 'gap', reason: 'beyond-end' });

    const next = await log.append(newMessage('next'));
    await log.append(newMessage('after'));

    expect(next.position).toBeGreaterThan(lost);
    expect(next.position).toBeLessThan(Number.MAX_SAFE_INTEGER);
    expect(await log.read({}, lost, 10)).toEqual({ kind: 'gap', reason: 'other-epoch' });
    const stillGood = await log.read({}, copied, 10);
    expect(stillGood).toMatchObject({ events: [{ messageId: 'next' }, { messageId: 'after' }] });
    expect(await log.read({}, next.position - 1, 1)).toMatchObject({ events: [{ messageId: 'next' }] });
  });

  test('is no gap for a reader at the position where it was pruned last', async () => {
    using folder = makeFolder();
    await using log = await openLog(folder.file('events.db'));
    const old = await log.append(newMessage('old', { receivedAt: new Date(0) }));
    await log.append(newMessage('new'));
    await log.prune(new Date(1));
    expect(await log.read({}, old.position, 10)).toMatchObject({ events: [{ messageId: 'new' }] });
    const gap = { kind: 'gap', reason: 'pruned', through: old.position };
    expect(await log.read({}, old.position - 1, 10)).toEqual(gap);
  });
});

test('Messages appended while the log closes are stored', async () => {
  using folder = makeFolder();
  const path = folder.file('events.db');
  const first = await openLog(path);
  const appended = first.append(newMessage('a'));
  await first.close();
  const { position } = await appended;
  await using log = await openLog(path);
  expect(await log.position()).toBe(position);
});

test('An append to a closed log is refused', async () => {
  using folder = makeFolder();
  const log = await openLog(folder.file('events.db'));
  await log.close();
  await expect(log.append(newMessage('a'))).rejects.toMatchObject({ code: 'EVENT_LOG_UNAVAILABLE' });
});

test('A second opener is refused for as long as the first is there, also through a link', async () => {
  using folder = makeFolder();
  const [path, link] = [folder.file('events.db'), folder.file('link.db')];
  const first = await openLog(path);
  symlinkSync(path, link);
  await expect(openLog(path)).rejects.toMatchObject({ code: 'EVENT_LOG_LOCKED' });
  await expect(openLog(link)).rejects.toMatchObject({ code: 'EVENT_LOG_LOCKED' });
  const { position } = await first.append(newMessage('a'));
  await expect(openLog(path)).rejects.toMatchObject({ code: 'EVENT_LOG_LOCKED' });
  await first.close();
  await using second = await openLog(path);
  expect(await second.position()).toBe(position);
});

describe('a damaged file is refused and left as it is:', () => {
  async function filledLog(path: string): Promise<void> {
    await using log = await openLog(path);
    await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        log.append(newMessage(`m-${index}`, { body: randomBytes(2000) })),
      ),
    );
  }

  test.each<readonly [string, (path: string) => void]>([
    [
      'no database at all',
      (path) => writeFileSync(path, 'Not a database, but long enough to look at.'.repeat(50)),
    ],
    ['emptied', (path) => truncateSync(path, 0)],
    ['cut in the middle', (path) => truncateSync(path, Math.floor(statSync(path).size / 8192) * 4096)],
    [
      'overwritten in the middle',
      (path) => {
        const bytes = readFileSync(path);
        writeFileSync(path, bytes.fill(0xaa, 8192, 5 * 4096));
      },
    ],
  ])('%s', async (_name, damage) => {
    using folder = makeFolder();
    const path = folder.file('events.db');
    await filledLog(path);
    damage(path);
    const before = readFileSync(path);

    await expect(openLog(path)).rejects.toMatchObject({ code: 'EVENT_LOG_DAMAGED' });

    expect(readFileSync(path).equals(before)).toBe(true);
    await expect(openLog(path)).rejects.toMatchObject({ code: 'EVENT_LOG_DAMAGED' });
  });
});

describe('EVENT_LOG that names something else, which nothing is changed of:', () => {
  async function expectRefused(path: string, code: string) {
    chmodSync(path, 0o755);
    for (const access of ['exclusive', 'shared'] as const)
      await expect(openSqliteStore(path, { keys: [], access })).rejects.toMatchObject({ code });
    expect(statSync(path).mode & 0o777).toBe(0o755);
  }

  test('a folder', async () => {
    using folder = makeFolder();
    await expectRefused(folder.path, 'EVENT_LOG_UNAVAILABLE');
  });

  test('a socket, as for any device', async () => {
    using folder = makeFolder();
    await using server = createServer().listen(folder.file('socket'));
    await once(server, 'listening');
    await expectRefused(folder.file('socket'), 'EVENT_LOG_UNAVAILABLE');
    expect(readdirSync(folder.path)).toEqual(['socket']);
  });

  test.each([
    ['a text', (path: string) => writeFileSync(path, 'name:x:0:0'.repeat(1000))],
    [
      'the database of something else',
      (path: string) => {
        using database = new DatabaseSync(path);
        database.exec('CREATE TABLE people (name TEXT); CREATE TABLE meta (name TEXT)');
      },
    ],
  ])('%s', async (_name, make) => {
    using folder = makeFolder();
    const path = folder.file('other.db');
    make(path);
    const before = readFileSync(path);
    await expectRefused(path, 'EVENT_LOG_DAMAGED');
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});

describe('a log of more than 512 MB', () => {
  /** Overwrites the page of an index that nothing reads at a start, and makes the file longer without writing it. */
  async function openDamaged(path: string, bytes: number) {
    await (await openLog(path)).close();
    const database = new DatabaseSync(path);
    const { rootpage } =
      database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'replies_by_time'").get() ?? {};
    database.close();
    const content = readFileSync(path);
    writeFileSync(path, content.fill(0xaa, (Number(rootpage) - 1) * 4096, Number(rootpage) * 4096));
    truncateSync(path, bytes);
    const logged: string[] = [];
    const log = createLog({
      level: 'info',
      destination: { write: (line: string) => void logged.push(line) },
    });
    const store = await openEventStore({ kind: 'sqlite', path }, { keys: [], log });
    return { store, logged };
  }

  test('is not read whole at a start, and the log says how to check it', async () => {
    using folder = makeFolder();
    const { store, logged } = await openDamaged(folder.file('events.db'), 513 * 1024 * 1024);
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'events.check_skipped', advice: expect.stringContaining('events -- verify') },
    ]);
    expect(await store.log.append(newMessage('a'))).toMatchObject({ duplicate: false });
    expect(await store.checkIntegrity()).not.toEqual([]);
    await store.log.close();
  });

  test('is the only one: a smaller file is checked', async () => {
    using folder = makeFolder();
    await expect(openDamaged(folder.file('events.db'), 511 * 1024 * 1024)).rejects.toMatchObject({
      code: 'EVENT_LOG_DAMAGED',
    });
  });
});

test('A reader of a rare type reads the log in parts, and others are answered in between', async () => {
  using folder = makeFolder();
  await using log = await openLog(folder.file('events.db'));
  await Promise.all(Array.from({ length: 3500 }, (_, index) => log.append(newMessage(`m-${index}`))));
  const { position } = await log.append(newMessage('rare', { type: 'rare' }));

  const first = await log.read({ types: ['rare'] }, 0, 100);
  expect(first).toMatchObject({ kind: 'events', events: [] });
  expect(first.kind === 'events' && first.through < position).toBe(true);

  let rounds = 0;
  const timer = setInterval(() => {
    rounds += 1;
  });
  const stream = follow(log, { types: ['rare'] }, { after: 0, signal: AbortSignal.timeout(60_000) });
  expect((await stream.next()).value).toMatchObject({
    kind: 'event',
    event: { messageId: 'rare', position },
  });
  clearInterval(timer);
  expect(rounds).toBeGreaterThan(0);
  await stream.return(undefined);
});

test('A place that cannot be written is named as such, with the reason and what to do', async () => {
  using folder = makeFolder();
  writeFileSync(folder.file('file'), '');
  await expect(openLog(folder.path)).rejects.toMatchObject({ code: 'EVENT_LOG_UNAVAILABLE' });
  await expect(openLog(folder.file('file/events.db'))).rejects.toMatchObject({
    code: 'EVENT_LOG_UNAVAILABLE',
    message: expect.stringMatching(
      /^The event log \S+ cannot be opened \((?:EEXIST|ENOTDIR)\)\. Set EVENT_LOG to /,
    ),
  });
});

describe('at rest', () => {
  const secret = 'Jane Doe, positive';
  const reference = 'jane.doe@example.com';
  const sealed = newMessage('a', {
    body: Buffer.from(JSON.stringify({ data: secret })),
    clientUserId: reference,
  });
  const filesOf = (folder: string) => readdirSync(folder).map((name) => `${folder}/${name}`);

  test('every file is for its owner only', async () => {
    using folder = makeFolder();
    await using log = await openLog(folder.file('inner/events.db'));
    await log.append(sealed);
    const files = filesOf(folder.file('inner'));
    expect(files.length).toBeGreaterThanOrEqual(2);
    expect(files.map((file) => (statSync(file).mode & 0o777).toString(8))).toEqual(files.map(() => '600'));
    expect((statSync(folder.file('inner')).mode & 0o777).toString(8)).toBe('700');
  });

  test.each([
    ['can be read without a key', [], true],
    ['cannot be read with a key', [randomBytes(32)], false],
  ])('bodies, references of users and stored answers %s', async (_name, keys, isReadable) => {
    using folder = makeFolder();
    await using log = await openLog(folder.file('events.db'), keys);
    const { position } = await log.append(sealed);
    await log.idempotencyRecords.begin('key', 'print');
    await log.idempotencyRecords.finish('key', { note: 'Jane Doe again' });

    const text = filesOf(folder.path)
      .map((file) => readFileSync(file, 'latin1'))
      .join('');

    const found = [secret, reference, 'Jane Doe again'].map((each) => text.includes(each));
    expect(found).toEqual([isReadable, isReadable, isReadable]);
    expect(await log.read({}, 0, 10)).toMatchObject({ events: [storedEvent(sealed, position)] });
  });

  test('a new first key closes, and old keys still open', async () => {
    using folder = makeFolder();
    const path = folder.file('events.db');
    const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
    const append = async (id: string, keys: readonly Buffer[]) => {
      await using log = await openLog(path, keys);
      return (await log.append(newMessage(id))).position;
    };
    const clear = await append('clear', []);
    const old = await append('old', [oldKey]);
    const latest = await append('new', [newKey, oldKey]);

    await using log = await openLog(path, [newKey, oldKey]);
    const batch = await log.read({}, 0, 10);
    expect(batch).toMatchObject({
      events: [
        storedEvent(newMessage('clear'), clear),
        storedEvent(newMessage('old'), old),
        storedEvent(newMessage('new'), latest),
      ],
    });
    await log.close();

    await using withoutOld = await openLog(path, [newKey]);
    expect(await withoutOld.read({}, old, 10)).toMatchObject({ events: [{ messageId: 'new' }] });
    expect(await withoutOld.read({}, clear, 10)).toEqual({ kind: 'gap', reason: 'sealed', through: old });
    expect(await withoutOld.read({}, 0, 10)).toMatchObject({
      events: [{ messageId: 'clear' }],
      through: clear,
    });
  });

  test('a dead letter that no key opens is listed without its body, and hides no other', async () => {
    using folder = makeFolder();
    const path = folder.file('events.db');
    const appendDead = async (id: string, key: Buffer) => {
      await using log = await openLog(path, [key]);
      await log.append(newMessage(id, { deadReason: 'unreadable' }));
    };
    const currentKey = randomBytes(32);
    await appendDead('lost-key', randomBytes(32));
    await appendDead('readable', currentKey);

    await using log = await openLog(path, [currentKey]);

    expect(await log.deadLetters(0, 10)).toMatchObject([
      { messageId: 'lost-key', deadReason: 'unreadable', body: null },
      { messageId: 'readable', body: newMessage('readable').body },
    ]);
  });

  test('a body that was changed in the file is not opened', () => {
    const seal = new Seal([randomBytes(32)]);
    const sealed = seal.close(Buffer.from(secret), 'row');
    sealed[sealed.length - 1] = (sealed.at(-1) ?? 0) ^ 1;
    expect(() => seal.open(sealed, 'row')).toThrow(
      expect.objectContaining({ code: 'EVENT_LOG_UNAVAILABLE' }),
    );
    expect(() => seal.open(Buffer.of(1, 2, 3), 'row')).toThrow(
      expect.objectContaining({ code: 'EVENT_LOG_UNAVAILABLE' }),
    );
    expect(() => seal.open(Buffer.alloc(0), 'row')).toThrow(
      expect.objectContaining({ code: 'EVENT_LOG_UNAVAILABLE' }),
    );
  });
});

test('A full disk refuses appends, lets reads go on, and needs no restart', async () => {
  using folder = makeFolder();
  await using log = await openLog(folder.file('events.db'));
  const { position } = await log.append(newMessage('a', { receivedAt: new Date(0) }));
  {
    using _ = fillDisk();
    const refused = await Promise.allSettled([log.append(newMessage('b')), log.append(newMessage('c'))]);
    expect(refused).toMatchObject(Array(2).fill({ reason: { code: 'EVENT_LOG_UNAVAILABLE' } }));
    expect(await log.isWritable()).toBe(false);
    await expect(log.prune(new Date(1))).rejects.toThrow();
    expect(await log.read({}, 0, 10)).toMatchObject({ events: [{ messageId: 'a' }] });
    expect(await log.position()).toBe(position);
  }
  expect(await log.isWritable()).toBe(true);
  expect(await log.append(newMessage('b'))).toMatchObject({ duplicate: false });
  expect(await log.prune(new Date(1))).toBe(1);
});

describe('nothing is acknowledged any more', () => {
  test.each<readonly [string, (path: string) => void]>([
    ['the file was removed', (path) => rmSync(path)],
    [
      'another file was put in its place',
      (path) => {
        copyFileSync(path, `${path}.copy`);
        renameSync(`${path}.copy`, path);
      },
    ],
    ['its write-ahead log was removed', (path) => rmSync(`${path}-wal`)],
    ['the index of its write-ahead log was removed', (path) => rmSync(`${path}-shm`)],
    ['its lock was removed, which would let a second gateway in', (path) => rmSync(`${path}.lock`)],
  ])('when %s under the gateway, which opened it over a link', async (_name, harm) => {
    using folder = makeFolder();
    const [path, link] = [folder.file('events.db'), folder.file('link.db')];
    await (await openLog(path)).close();
    symlinkSync(path, link);
    await using log = await openLog(link);
    await log.append(newMessage('a'));
    harm(path);
    await expect(log.append(newMessage('b'))).rejects.toMatchObject({ code: 'EVENT_LOG_UNAVAILABLE' });
    await expect(log.writeMark('place', 'here')).rejects.toMatchObject({ code: 'EVENT_LOG_UNAVAILABLE' });
    expect(await log.isWritable()).toBe(false);
    expect(await log.read({}, 0, 1)).toMatchObject({ events: [{ messageId: 'a' }] });
  });

  test('by the first of two gateways, when the second came in over a removed lock', async () => {
    using folder = makeFolder();
    const path = folder.file('events.db');
    await using first = await openLog(path);
    await first.append(newMessage('a'));
    rmSync(`${path}.lock`);
    await using second = await openLog(path);
    expect(await first.isWritable()).toBe(false);
    expect(await second.append(newMessage('b'))).toMatchObject({ duplicate: false });
  });
});

test('A message that cannot be stored leaves nothing half done and takes none of its group down with it', async () => {
  using folder = makeFolder();
  await using log = await openLog(folder.file('events.db'));
  // The version's place in the file takes whole numbers only.
  const impossible = newMessage('impossible', { subject: order(1.5) });
  const settled = await Promise.allSettled([
    log.append(newMessage('before')),
    log.append(impossible),
    log.append(newMessage('after')),
  ]);
  expect(settled).toMatchObject([
    { value: { duplicate: false } },
    { reason: { code: 'EVENT_LOG_UNAVAILABLE' } },
    { value: { duplicate: false } },
  ]);
  expect(await log.read({}, 0, 10)).toMatchObject({
    events: [{ messageId: 'before' }, { messageId: 'after' }],
  });
});

test('The gateway finds appends of a command beside it without a notification', async () => {
  using folder = makeFolder();
  const path = folder.file('events.db');
  await using log = await openLog(path);
  const beside = (await openSqliteStore(path, { keys: [], access: 'shared' })).log;
  const woken = log.wake({}, await log.position(), new AbortController().signal);
  await beside.append(newMessage('a'));
  await beside.close();
  await woken;
  expect(await log.read({}, 0, 10)).toMatchObject({ events: [{ messageId: 'a' }] });
});

test('A long pruning lets appends through in between', async () => {
  using folder = makeFolder();
  await using log = await openLog(folder.file('events.db'));
  const old = Array.from({ length: 9000 }, (_, index) =>
    newMessage(`old-${index}`, { receivedAt: new Date(0) }),
  );
  const appended = await Promise.all(old.map((message) => log.append(message)));
  const order: string[] = [];
  const pruning = log.prune(new Date(1)).then((dropped) => order.push(`dropped ${dropped}`));
  await log.append(newMessage('new')).then(() => order.push('appended'));
  await pruning;
  expect(order).toEqual(['appended', 'dropped 9000']);
  const through = appended.at(-1)?.position;
  expect(await log.read({}, 0, 10)).toEqual({ kind: 'gap', reason: 'pruned', through });
});

test('kill -9 loses nothing that was acknowledged', async () => {
  using folder = makeFolder();
  const path = folder.file('events.db');
  const script = fileURLToPath(new URL('./acknowledge.ts', import.meta.url));
  const child = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  using _ = { [Symbol.dispose]: () => child.kill('SIGKILL') };
  const acknowledged: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    acknowledged.push(line);
    if (acknowledged.length === 500) child.kill('SIGKILL');
  }
  if (child.signalCode === null) await once(child, 'exit');

  await using log = await openLog(path);
  const stored = new Set<string>();
  for (let after = 0; after < (await log.position()); ) {
    const batch = await log.read({}, after, 1000);
    if (batch.kind === 'gap') throw new Error(batch.reason);
    for (const event of batch.events) stored.add(event.messageId);
    after = batch.through;
  }

  expect(child.signalCode).toBe('SIGKILL');
  expect(acknowledged.length).toBeGreaterThanOrEqual(500);
  expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
});
