import { expect, test } from 'vitest';
import type { EventLog, NewMessage, Scope } from '../../../gateway/events/log.ts';
import { newMessage } from '../../support/messages.ts';
import { openBeside } from './beside.ts';

const scopes: readonly Scope[] = [
  {},
  { userId: 'u1' },
  { subject: 'o1', changesOnly: true },
  { userId: 'u2', changesOnly: true },
  { types: ['b'] },
];

const history: readonly NewMessage[] = [
  newMessage('1', { userId: 'u1', subject: { id: 'o1', version: 2 }, clientUserId: 'c1', trace: 't-1' }),
  newMessage('2', { userId: 'u1', subject: { id: 'o1', version: 1 } }),
  newMessage('3', { userId: 'u2', type: 'b' }),
  newMessage('4', { userId: 'u2', deadReason: 'unreadable' }),
  newMessage('5', { userId: 'u2', subject: { id: 'o1', version: 3 }, origin: 'reconciled' }),
  newMessage('6', { userId: 'u\ud800', type: 'b' }),
];

async function readAll(log: EventLog, positions: readonly number[]) {
  const reads = scopes.flatMap((scope) =>
    positions.flatMap((after) => [1, 2, 100].map((limit) => log.read(scope, after, limit))),
  );
  return await Promise.all(reads);
}

test('What was just appended is read as the file has it, from every position and in every scope', async () => {
  await using logs = await openBeside();
  const { log, command, look } = logs;
  const positions = [await log.position()];
  for (const message of history) positions.push((await log.append(message)).position);
  await log.append(history[0] ?? newMessage('none'));
  look();

  expect(await readAll(log, positions)).toEqual(await readAll(command, positions));
});

test('All readers of an event that was just appended are given the same one', async () => {
  await using logs = await openBeside();
  const { log } = logs;
  const place = await log.position();
  await log.append(newMessage('1', { userId: 'u1' }));

  const [first, second] = await Promise.all([log.read({}, place, 10), log.read({ userId: 'u1' }, place, 10)]);

  if (first?.kind !== 'events' || second?.kind !== 'events') throw new Error('There is a gap.');
  expect(first.events).toHaveLength(1);
  expect(second.events[0]).toBe(first.events[0]);
});

test('An event that was just appended has its own bytes, and holds no larger block that its body came in', async () => {
  await using logs = await openBeside();
  const { log } = logs;
  const place = await log.position();
  const received = Buffer.alloc(64 * 1024, ' ').subarray(0, 100);
  await log.append(newMessage('1', { body: received }));

  const batch = await log.read({}, place, 10);

  if (batch.kind !== 'events') throw new Error('There is a gap.');
  expect(batch.events[0]?.body).toEqual(received);
  expect(batch.events[0]?.body.buffer.byteLength).toBe(received.length);
});

test('Who waits for an order reads on after what came for others meanwhile', async () => {
  await using logs = await openBeside();
  const { log } = logs;
  const woken = log.wake({ subject: 'o1' }, await log.position(), new AbortController().signal);
  const other = await log.append(newMessage('1', { subject: { id: 'o2', version: 1 } }));
  const own = await log.append(newMessage('2', { subject: { id: 'o1', version: 1 } }));

  expect(await woken).toBe(other.position);
  expect(await log.read({ subject: 'o1' }, await woken, 10)).toMatchObject({
    events: [{ messageId: '2' }],
    through: own.position,
  });
});

test('What is pruned is not given out, however new it is; what a command appends is read in its place', async () => {
  await using logs = await openBeside();
  const { log, command, look } = logs;
  const start = await log.position();
  const first = await log.append(newMessage('1'));
  await command.append(newMessage('2'));
  look();
  const { position: through } = await log.append(newMessage('3'));
  expect(await log.read({}, first.position, 10)).toMatchObject({
    events: [{ messageId: '2' }, { messageId: '3' }],
  });

  await log.prune(new Date(Date.now() + 60_000));

  expect(await log.read({}, start, 10)).toEqual({ kind: 'gap', reason: 'pruned', through });
});
