import { expect, test } from 'vitest';
import type { AppendNotice, EventLog } from '../../../gateway/events/log.ts';
import { newMessage } from '../../support/messages.ts';
import { openBeside } from './beside.ts';

function recordNotices(log: EventLog): readonly (AppendNotice | null)[] {
  const notices: (AppendNotice | null)[] = [];
  log.onAppend((notice) => notices.push(notice));
  return notices;
}

test('An append of a command notifies, also where the gateway has appended since', async () => {
  await using logs = await openBeside();
  const { log, command } = logs;
  const notices = recordNotices(log);
  const follower = new AbortController();
  const woken = log.wake({ subject: 'theirs' }, await log.position(), follower.signal);
  await command.append(newMessage('theirs', { subject: { id: 'theirs', version: 1 } }));

  await log.append(newMessage('ours', { subject: { id: 'ours', version: 1 } }));

  expect(notices).toMatchObject([null, { subject: { id: 'ours', version: 1 } }]);
  await woken;
});

test('A waiter reads the append of a command, although everything before it was pruned', async () => {
  await using logs = await openBeside();
  const { log, command, look } = logs;
  const old = { receivedAt: new Date(0), userId: 'user-2' };
  const { position } = await log.append(newMessage('read', old));
  const woken = log.wake({ userId: 'user-1' }, position, new AbortController().signal);
  await log.append(newMessage('other', old));
  await log.append(newMessage('newer', { userId: 'user-2' }));
  await log.prune(new Date(1));
  await command.append(newMessage('theirs'));
  look();
  expect(await log.read({ userId: 'user-1' }, await woken, 10)).toMatchObject({
    events: [{ messageId: 'theirs' }],
  });
});

test('No reader sees an append of a command before its notice', async () => {
  await using logs = await openBeside();
  const { log, command, look } = logs;
  const place = await log.position();
  expect(await log.latest('unheard')).toBeNull();
  await command.append(newMessage('unheard', { subject: { id: 'unheard', version: 1 } }));

  expect(await log.read({}, place, 10)).toMatchObject({ events: [], through: place });
  look();

  expect(await log.read({}, place, 10)).toMatchObject({ events: [{ messageId: 'unheard' }] });
  expect(await log.latest('unheard')).toMatchObject({ version: 1 });
});

test('A position that a command got is known at once, and everything before it is then notified', async () => {
  await using logs = await openBeside();
  const { log, command } = logs;
  const notices = recordNotices(log);
  const { position } = await command.append(newMessage('named'));
  expect(await log.read({}, position, 10)).toMatchObject({ events: [], through: position });
  expect(notices).toEqual([null]);
});

test('An append under way belongs to the gateway: it is read after its notice, and notifies of nothing else', async () => {
  await using logs = await openBeside();
  const { log, command, look } = logs;
  const notices = recordNotices(log);
  const place = await log.position();
  const appended = log.append(
    newMessage('on its way', { userId: 'waiting', subject: { id: 'own', version: 1 } }),
  );
  await new Promise(setImmediate);
  // It is in the file, and the event loop has had no turn for its answer.
  while ((await command.changedSince('waiting', new Date(0))).length === 0);

  look();
  expect(await log.read({}, place, 10)).toMatchObject({ events: [] });
  const seen = await log.latest('own');
  const batch = await log.read({ subject: 'own' }, (seen?.position ?? 0) - 1, 1);

  expect(batch).toMatchObject({ events: [{ messageId: 'on its way' }] });
  await appended;
  expect(notices).toMatchObject([{ userId: 'waiting' }]);
});
