import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openSqliteStore } from '../../gateway/events/sqlite/store.ts';
import { makeFolder } from '../support/folder.ts';
import { startLab } from '../support/lab.ts';
import { newMessage } from '../support/messages.ts';

const dayMs = 86_400_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

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
  const listIds = () =>
    other
      .prepare('SELECT message_id FROM events ORDER BY position')
      .all()
      .map(({ message_id: id }) => id);

  // Nobody else can write now.
  other.exec('BEGIN IMMEDIATE');
  vi.advanceTimersByTime(60_000);
  await expect.poll(() => lab.logged.join()).toContain('events.prune_failed');
  other.exec('ROLLBACK');
  expect(listIds()).toEqual(['old', 'young']);

  vi.advanceTimersByTime(60_000);
  await expect.poll(listIds).toEqual(['young']);
});
