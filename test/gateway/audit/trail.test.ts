import { execFileSync } from 'node:child_process';
import { appendFileSync, closeSync, openSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AuditKey, parseHead } from '../../../gateway/audit/line.ts';
import { type AccessRecord, RepeatedAccesses } from '../../../gateway/audit/repeats.ts';
import { createLog } from '../../../gateway/log.ts';
import { makeFolder } from '../../support/folder.ts';
import { fillDisk } from '../../support/full-disk.ts';
import {
  accessesIn,
  examine,
  filesOf,
  key,
  linesOf,
  openTrail,
  pseudonymOf,
  rewrite,
  writeTrail,
} from './support.ts';

const team = { kind: 'TEAM', keyName: 'key-11111111' } as const;

test('a line says who, how, whose, when and what came of it, and nothing in clear', async () => {
  using folder = makeFolder();
  const trail = await openTrail(folder.path);
  trail.watch(team)({ kind: 'read order.get', userId: 'A-User', outcome: 'ok' });
  trail.watch({
    kind: 'USER',
    userId: 'a-user',
    orderIds: null,
    scopes: [],
    issuedAt: new Date(),
    expiresAt: new Date(),
    origins: null,
    tokenId: 'a-token',
  })({ kind: 'read order.get', userId: null, outcome: 'not-found' });
  await trail.close();

  const [file = ''] = filesOf(folder.path);
  const [opening, first, second] = linesOf(folder.path, file).map((line) => JSON.parse(line));
  const link = expect.stringMatching(/^[\w-]{43}$/);
  const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
  const user = pseudonymOf('a-user');
  expect(opening).toEqual({ n: 0, at, opened: [], link });
  expect(first).toEqual({
    n: 1,
    at,
    caller: 'key-11111111',
    kind: 'read order.get',
    user,
    outcome: 'ok',
    link,
  });
  expect(second).toEqual({
    n: 2,
    at,
    caller: `user-${user}`,
    token: new AuditKey(key).tokenPseudonym('a-token'),
    kind: 'read order.get',
    user: null,
    outcome: 'not-found',
    link,
  });
  expect(linesOf(folder.path, file).join()).not.toMatch(/a-user|A-User|a-token/);
  expect(await examine(folder.path)).toEqual({ files: 1, lines: 3, lost: 0, faults: [], remarks: [] });
});

test('one operation is recorded once for each user, kind and outcome', async () => {
  using folder = makeFolder();
  const trail = await openTrail(folder.path);
  const watch = trail.watch(team);
  for (let index = 0; index < 200; index += 1) {
    watch({ kind: 'read order.get', userId: `user-${index % 20}`, outcome: 'ok' });
  }
  trail.watch(team)({ kind: 'read order.get', userId: 'user-1', outcome: 'ok' });
  await trail.close();
  expect(accessesIn(folder.path)).toHaveLength(21);
});

// Of coreutils, which every Linux has.
const mkfifo = '/usr/bin/mkfifo';

/** Until it is released, work on files waits: each thread for it waits for a writer of a named pipe. */
function holdDisk(pipe: string) {
  execFileSync(mkfifo, [pipe]);
  const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4);
  const opening = Array.from({ length: threads }, () => open(pipe, 'r'));
  return async () => {
    const writer = openSync(pipe, 'w');
    for (const handle of await Promise.all(opening)) await handle.close();
    closeSync(writer);
  };
}

test('a disk that does not answer is no longer writable, until it has written the accesses', async () => {
  using folder = makeFolder();
  using pipes = makeFolder();
  const logged: string[] = [];
  const log = createLog({
    level: 'info',
    destination: { write: (line) => void logged.push(JSON.parse(line).event) },
  });
  const trail = await openTrail(folder.path, { log });
  const release = holdDisk(pipes.file('pipe'));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    trail.watch(team)({ kind: 'read order.get', userId: 'user-1', outcome: 'ok' });
    vi.advanceTimersByTime(200);
    await nextTurn();
    expect(trail.isWritable()).toBe(true);
    vi.advanceTimersByTime(5000);
    expect(trail.isWritable()).toBe(false);
  } finally {
    vi.useRealTimers();
    await release();
  }
  await expect.poll(() => trail.isWritable()).toBe(true);
  await trail.close();
  expect(accessesIn(folder.path)).toHaveLength(1);
  expect(logged).toEqual(['audit.head', 'audit.unwritable', 'audit.writable', 'audit.head']);
});

describe('equal accesses of many operations', () => {
  const refused = { kind: 'read order.get', userId: 'user-1', outcome: 'refused' } as const;
  const read = { ...refused, outcome: 'ok' } as const;
  const countsIn = (folder: string) =>
    accessesIn(folder).map(({ caller, outcome, count = 1 }) => [caller, outcome, count]);

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('are counted once the first refusal, or twenty that were allowed, have their lines', async () => {
    using folder = makeFolder();
    const trail = await openTrail(folder.path);
    for (let index = 0; index < 1000; index += 1) {
      trail.watch(team)(refused);
      trail.watch(team)(read);
    }
    trail.watch({ ...team, keyName: 'key-22222222' })(refused);
    trail.watch(team)({ ...refused, userId: 'user-2' });
    await trail.close();
    expect(countsIn(folder.path)).toEqual([
      ['key-11111111', 'refused', 1],
      ...Array(20).fill(['key-11111111', 'ok', 1]),
      ['key-22222222', 'refused', 1],
      ['key-11111111', 'refused', 1],
      ['key-11111111', 'refused', 999],
      ['key-11111111', 'ok', 980],
    ]);
    expect(await examine(folder.path)).toMatchObject({ lines: 26, lost: 0, faults: [] });
  });

  test('have their line when the minute is over, with the time from the first to the last of them', async () => {
    using folder = makeFolder();
    const counted: number[] = [];
    const onRecords = (_outcome: string, count: number) => counted.push(count);
    const trail = await openTrail(folder.path, { onRecords });
    const startedAt = Date.now();
    for (let second = 0; second < 50; second += 10) {
      vi.setSystemTime(startedAt + second * 1000);
      trail.watch(team)(refused);
    }
    vi.advanceTimersByTime(60_000);
    trail.watch(team)(refused);
    await trail.close();
    const [, first, others, next] = linesOf(folder.path, filesOf(folder.path)[0] ?? '').map((line) =>
      JSON.parse(line),
    );
    const timeOf = (second: number) => new Date(startedAt + second * 1000).toISOString();
    expect([first.at, first.count]).toEqual([timeOf(0), undefined]);
    expect([others.since, others.at, others.count]).toEqual([timeOf(10), timeOf(40), 4]);
    expect(next.count).toBeUndefined();
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(6);
  });

  test('have their lines although the clock is set back by an hour', async () => {
    using folder = makeFolder();
    const trail = await openTrail(folder.path);
    const stream = trail.watch(team);
    stream(read);
    for (let access = 0; access < 3; access += 1) trail.watch(team)(refused);
    vi.setSystemTime(Date.now() - 3_600_000);
    vi.advanceTimersByTime(60_000);
    stream(read);
    trail.watch(team)(refused);
    await trail.close();
    expect(countsIn(folder.path)).toEqual([
      ['key-11111111', 'ok', 1],
      ['key-11111111', 'refused', 1],
      ['key-11111111', 'refused', 2],
      ['key-11111111', 'ok', 1],
      ['key-11111111', 'refused', 1],
    ]);
  });

  test('are counted in a bounded number of windows, however many different accesses come', async () => {
    const written: AccessRecord[] = [];
    const repeats = new RepeatedAccesses((record) => written.push(record));
    for (let index = 0; index < 10_001; index += 1) {
      repeats.add(team, { ...refused, userId: `user-${index}` });
      if (index < 2) repeats.add(team, { ...refused, userId: `user-${index}` });
    }
    expect(written).toHaveLength(10_002);
    expect(written.at(-2)).toMatchObject({ access: { userId: 'user-0' }, repeated: { count: 1 } });
    repeats.close();
    expect(written).toHaveLength(10_003);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a change by anyone who can write the file is found:', () => {
  const swap = ([opening = '', first = '', second = '', ...rest]: readonly string[]) => [
    opening,
    second,
    first,
    ...rest,
  ];
  const forged = (lines: readonly string[]) => [...lines.slice(0, 3), ...lines.slice(2)];

  const otherCharacter = (character: string) => (character === 'x' ? 'y' : 'x');

  test.each<readonly [string, (lines: readonly string[]) => readonly string[], readonly string[]]>([
    [
      'another user',
      (lines) => lines.with(3, (lines[3] ?? '').replace(/(?<="user":")./, otherCharacter)),
      ['line 3 was changed.'],
    ],
    [
      'another time',
      (lines) => lines.with(3, (lines[3] ?? '').replace(/"at":"..../, '"at":"1999')),
      ['line 3 was changed.'],
    ],
    [
      'another link',
      (lines) => lines.with(9, (lines[9] ?? '').replace(/(?<="link":")./, otherCharacter)),
      ['line 9 was changed.'],
    ],
    ['a line taken away', (lines) => lines.toSpliced(3, 1), ['1 lines are missing before line 4.']],
    ['several', (lines) => lines.toSpliced(3, 4), ['4 lines are missing before line 7.']],
    [
      'two in another order',
      swap,
      [
        '1 lines are missing before line 2.',
        'line 1 is not where it was written, or is no line of ours.',
        '1 lines are missing before line 3.',
      ],
    ],
    ['one put in twice', forged, ['line 2 is not where it was written, or is no line of ours.']],
    [
      'words of their own',
      (lines) => lines.toSpliced(3, 0, 'nothing'),
      ['the text after line 2 is no line of a trail.'],
    ],
    [
      'the beginning',
      (lines) => lines.slice(1),
      ['its first line was changed, or no key in AUDIT_TRAIL_KEY opens it.'],
    ],
  ])('%s', async (_what, change, faults) => {
    using folder = makeFolder();
    const file = await writeTrail(folder.path, 9);
    rewrite(folder.path, file, change);
    expect((await examine(folder.path)).faults).toEqual(faults.map((fault) => `${file}: ${fault}`));
  });

  test('the end of a file, once another has been begun', async () => {
    using folder = makeFolder();
    const file = await writeTrail(folder.path, 9);
    await writeTrail(folder.path, 1);
    rewrite(folder.path, file, (lines) => lines.slice(0, 6));
    expect((await examine(folder.path)).faults).toEqual([`${file} was cut off after line 5: it had line 9.`]);
  });

  test('a whole file, and one under another name', async () => {
    using folder = makeFolder();
    const [first, second] = [await writeTrail(folder.path, 2), await writeTrail(folder.path, 2)];
    await writeTrail(folder.path, 2);
    rmSync(folder.file(first));
    const other = second.replace(/.{8}\.jsonl$/, '00000000.jsonl');
    renameSync(folder.file(second), folder.file(other));
    expect((await examine(folder.path)).faults.toSorted()).toEqual(
      [
        `${other}: its first line was changed, or no key in AUDIT_TRAIL_KEY opens it.`,
        `${first} is gone: it had line 2.`,
        `${second} is gone: it had line 2.`,
      ].toSorted(),
    );
  });

  test('the end of the newest file, by the log of the gateway alone', async () => {
    using folder = makeFolder();
    const logged: string[] = [];
    const log = createLog({ level: 'info', destination: { write: (line) => void logged.push(line) } });
    const trail = await openTrail(folder.path, { log });
    trail.watch(team)({ kind: 'read order.get', userId: 'somebody', outcome: 'ok' });
    await trail.close();
    const [file = ''] = filesOf(folder.path);
    rewrite(folder.path, file, (lines) => lines.slice(0, 1));
    expect((await examine(folder.path)).faults).toEqual([]);
    const heads = logged.map((line) => parseHead(JSON.parse(line).head)).filter((head) => head !== null);
    expect((await examine(folder.path, { heads })).faults).toEqual([
      `${file} was cut off after line 0: it had line 1.`,
    ]);
  });
});

test('with another key nothing is sound, and with an older one beside the newest everything is', async () => {
  using folder = makeFolder();
  const file = await writeTrail(folder.path, 2);
  const another = new AuditKey(Buffer.alloc(32, 'x'));
  expect((await examine(folder.path, { keys: [another] })).faults).toEqual([
    `${file}: its first line was changed, or no key in AUDIT_TRAIL_KEY opens it.`,
  ]);
  const rotated = await openTrail(folder.path, { keys: [Buffer.alloc(32, 'x'), key] });
  await rotated.close();
  expect((await examine(folder.path, { keys: [another, new AuditKey(key)] })).faults).toEqual([]);
});

test('a line that was cut by a kill is reported and ends its file; the next file continues from the line before', async () => {
  using folder = makeFolder();
  const file = await writeTrail(folder.path, 3);
  appendFileSync(join(folder.path, file), '{"n":4,"at":"2026');
  const next = await writeTrail(folder.path, 1);
  expect(JSON.parse(linesOf(folder.path, next)[0] ?? '').opened).toEqual([
    { file, n: 3, link: JSON.parse(linesOf(folder.path, file)[3] ?? '').link },
  ]);
  expect(await examine(folder.path)).toMatchObject({
    faults: [],
    remarks: [`${file} ends in 17 bytes of a line: its gateway was killed, or the disk full, as it wrote.`],
  });
});

test('several gateways write side by side into one folder, and each file names where the others were', async () => {
  using folder = makeFolder();
  const trails = await Promise.all(Array.from({ length: 4 }, () => openTrail(folder.path)));
  await Promise.all(
    trails.map(async (trail, index) => {
      for (let operation = 0; operation < 250; operation += 1) {
        trail.watch(team)({ kind: 'read order.get', userId: `user-${index}-${operation}`, outcome: 'ok' });
      }
      await trail.close();
    }),
  );
  await writeTrail(folder.path, 0);
  expect(await examine(folder.path)).toMatchObject({ files: 5, lines: 4 * 251 + 1, faults: [] });
  const users = accessesIn(folder.path).map(({ user }) => user);
  expect(new Set(users).size).toBe(1000);
});

test('a file that is full is followed by the next, and all of them are one chain', async () => {
  using folder = makeFolder();
  const trail = await openTrail(folder.path, { maxFileBytes: 50_000 });
  const watch = trail.watch(team);
  for (let index = 0; index < 900; index += 1) {
    watch({ kind: 'read order.get', userId: `user-${index}`, outcome: 'ok' });
  }
  await trail.close();
  const [first = '', second = ''] = filesOf(folder.path);
  expect(filesOf(folder.path)).toHaveLength(2);
  expect(await examine(folder.path)).toMatchObject({ files: 2, lines: 902, faults: [] });
  expect((await examine(folder.path, { from: second })).faults).toEqual([]);
  rmSync(folder.file(first));
  expect((await examine(folder.path)).faults).toEqual([`${first} is gone: it had line 500.`]);
  expect((await examine(folder.path, { from: second })).faults).toEqual([]);
});

test('while the disk is full accesses wait, as many as there is room for, and the trail says what it lost', async () => {
  using folder = makeFolder();
  const logged: string[] = [];
  const counted: (readonly [string, number])[] = [];
  const log = createLog({
    level: 'warn',
    destination: { write: (line) => void logged.push(JSON.parse(line).event) },
  });
  const onRecords = (outcome: string, count: number) => void counted.push([outcome, count]);
  const trail = await openTrail(folder.path, { log, onRecords, maxWaiting: 3 });
  const eventuallyLogged = () => expect.poll(() => logged, { interval: 5 });
  {
    using _full = fillDisk();
    const watch = trail.watch(team);
    for (let index = 0; index < 5; index += 1)
      watch({ kind: 'read order.get', userId: `user-${index}`, outcome: 'ok' });
    await eventuallyLogged().toEqual(['audit.unwritable']);
    expect(trail.isWritable()).toBe(false);
  }
  await trail.close();
  expect(trail.isWritable()).toBe(true);
  expect(accessesIn(folder.path).map(({ user }) => user)).toEqual(
    [0, 1, 2].map((index) => pseudonymOf(`user-${index}`)),
  );
  expect(await examine(folder.path)).toMatchObject({ lost: 2, faults: [] });
  expect(counted.filter(([, count]) => count > 0)).toEqual([
    ['lost', 1],
    ['lost', 1],
    ['written', 3],
  ]);
});

test('lines that the disk refuses to sync do not count as written: the next file has them', async () => {
  using folder = makeFolder();
  const logged: string[] = [];
  const log = createLog({
    level: 'warn',
    destination: { write: (line) => void logged.push(JSON.parse(line).event) },
  });
  const trail = await openTrail(folder.path, { log });
  const [first = ''] = filesOf(folder.path);
  const handle = await open(join(folder.path, first));
  using _refused = vi
    .spyOn(Object.getPrototypeOf(handle), 'datasync')
    .mockRejectedValueOnce(new Error('EIO'));
  await handle.close();
  for (const userId of ['user-1', 'user-2'])
    trail.watch(team)({ kind: 'read order.get', userId, outcome: 'ok' });
  await expect.poll(() => logged, { interval: 5 }).toEqual(['audit.unwritable']);
  await trail.close();

  const second = filesOf(folder.path).find((file) => file !== first) ?? '';
  const users = linesOf(folder.path, second).map((line) => JSON.parse(line).user);
  expect(users).toEqual([undefined, pseudonymOf('user-1'), pseudonymOf('user-2')]);
  expect(linesOf(folder.path, first)).toHaveLength(1);
  expect(await examine(folder.path)).toMatchObject({ lines: 4, faults: [], remarks: [] });
});
