import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startPruning } from '../../gateway/events/pruning.ts';
import { openSqliteStore } from '../../gateway/events/sqlite/store.ts';
import { createLog } from '../../gateway/log.ts';
import { makeFolder } from '../support/folder.ts';
import { startLab } from '../support/lab.ts';
import { newMessage } from '../support/messages.ts';

const dayMs = 86_400_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance', 'setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

function listIds(database: DatabaseSync) {
  const rows = database.prepare('SELECT message_id FROM events ORDER BY position').all();
  return rows.map(({ message_id: id }) => id);
}

test('A gateway deletes old events a minute after its start, and again a minute after it could not', async () => {
  using folder = makeFolder();
  const path = folder.file('events.db');
  const { log } = await openSqliteStore(path, { keys: [], access: 'exclusive' });
  const daysAgo = (days: number) => ({ receivedAt: new Date(Date.now() - days * dayMs) });
  await log.append(newMessage('old', daysAgo(8)));
  await log.append(newMessage('young', daysAgo(6)));
  await log.close();
  await using lab = await startLab({ env: { EVENT_LOG: `sqlite:${path}` } });
  using other = new DatabaseSync(path);
  const ids = () => listIds(other);

  // Nobody else can write now.
  other.exec('BEGIN IMMEDIATE');
  vi.advanceTimersByTime(60_000);
  await expect.poll(() => lab.logged.join()).toContain('events.prune_failed');
  other.exec('ROLLBACK');
  expect(ids()).toEqual(['old', 'young']);

  vi.advanceTimersByTime(60_000);
  await expect.poll(ids).toEqual(['young']);
});

test('A clock that is set forward deletes nothing for a day; one that is right again deletes at once', async () => {
  using folder = makeFolder();
  const path = folder.file('events.db');
  const { log: events } = await openSqliteStore(path, { keys: [], access: 'exclusive' });
  using other = new DatabaseSync(path);
  const ids = () => listIds(other);
  const logged: string[] = [];
  const log = createLog({ level: 'info', destination: { write: (line) => void logged.push(line) } });
  const stop = startPruning(events, { retentionDays: 7, log });
  const startedAt = Date.now();
  const append = (id: string, day: number) =>
    events.append(newMessage(id, { receivedAt: new Date(startedAt + day * dayMs) }));
  // Returns after the prunings that were begun before: the log does one after the other.
  const drain = () => events.prune(new Date(0));
  await append('one', -6.5);
  await append('two', 0);

  vi.setSystemTime(startedAt + 20 * dayMs);
  vi.advanceTimersByTime(dayMs - 60_000);
  await drain();
  expect(ids()).toEqual(['one', 'two']);
  expect(logged.join()).toContain('events.clock_set_forward');

  vi.setSystemTime(startedAt + 15 * dayMs);
  vi.advanceTimersByTime(60_000);
  await drain();
  expect(ids()).toEqual(['one', 'two']);

  vi.setSystemTime(startedAt + dayMs);
  vi.advanceTimersByTime(60_000);
  await drain();
  expect(ids()).toEqual(['two']);

  vi.setSystemTime(startedAt + 20 * dayMs);
  vi.advanceTimersByTime(60_000);
  await drain();
  expect(ids()).toEqual(['two']);
  vi.advanceTimersByTime(dayMs);
  await expect.poll(ids).toEqual([]);
  stop();
  await events.close();
});
