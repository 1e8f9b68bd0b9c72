import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { openSqliteStore } from '../../../gateway/events/sqlite/store.ts';
import { makeFolder } from '../../support/folder.ts';
import { newMessage } from '../../support/messages.ts';

afterEach(() => void vi.useRealTimers());

/** A log whose thread writes nothing until it is released: each write before the next ones waits for a lock. */
async function openHangingLog() {
  const folder = makeFolder();
  const path = folder.file('events.db');
  const { log, ...records } = await openSqliteStore(path, { keys: [], access: 'exclusive' });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  for (let write = 0; write < 30; write += 1) log.writeMark('before', '').catch(() => undefined);
  const release = async () => {
    vi.useRealTimers();
    if (other.isTransaction) other.exec('COMMIT');
    await expect.poll(() => log.isWritable()).toBe(true);
  };
  return {
    ...records,
    log,
    release,
    [Symbol.asyncDispose]: async () => {
      await release();
      other.close();
      await log.close();
      folder[Symbol.dispose]();
    },
  };
}

/** Lets time pass until a promise settles. */
async function passTimeUntil(settled: Promise<unknown>): Promise<void> {
  let isSettled = false;
  void Promise.allSettled([settled]).then(() => {
    isSettled = true;
  });
  while (!isSettled) {
    await nextTurn();
    vi.advanceTimersByTime(100);
  }
}

test('A disk that does not answer refuses messages, and one that it stores later is a duplicate', async () => {
  await using hanging = await openHangingLog();
  const { log } = hanging;
  const unavailable = { code: 'EVENT_LOG_UNAVAILABLE' };
  const first = log.append(newMessage('a')).catch((error: unknown) => error);
  await passTimeUntil(first);
  expect(await first).toMatchObject(unavailable);
  await expect(log.append(newMessage('b'))).rejects.toMatchObject(unavailable);

  await hanging.release();
  const woken = log.wake({}, 0, new AbortController().signal);
  expect(await log.read({}, await woken, 10)).toMatchObject({ events: [{ messageId: 'a' }] });
  expect(await log.append(newMessage('a'))).toMatchObject({ duplicate: true });
  expect(await log.append(newMessage('b'))).toMatchObject({ duplicate: false });
});

test('A disk that does not answer is not writable', async () => {
  await using hanging = await openHangingLog();
  for (let time = 0; time < 2; time += 1) {
    const answer = hanging.log.isWritable();
    await passTimeUntil(answer);
    expect(await answer).toBe(false);
  }
  await hanging.release();
});

test('A disk that does not answer fails everything for which somebody waits', async () => {
  await using hanging = await openHangingLog();
  const { log, idempotencyRecords, oneTimeValues } = hanging;
  const calls = {
    claim: log.claim('order-1', { version: 1, userId: 'user-1' }),
    mark: log.writeMark('name', 'value'),
    ticket: oneTimeValues.put('key', 'value', new Date(Date.now() + 60_000)),
    ticketTaken: oneTimeValues.take('key'),
    begin: idempotencyRecords.begin('key', 'fingerprint'),
    finish: idempotencyRecords.finish('key', 'answer'),
  };
  const outcomes = Promise.allSettled(Object.values(calls));
  await passTimeUntil(outcomes);
  for (const outcome of await outcomes)
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'EVENT_LOG_UNAVAILABLE' } });
});
