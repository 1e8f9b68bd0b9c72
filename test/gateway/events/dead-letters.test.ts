import { afterAll, describe, expect, test } from 'vitest';
import { newMessage } from '../../support/messages.ts';
import { endRedis, stores } from './stores.ts';

afterAll(endRedis);

const old = { receivedAt: new Date(0) };

describe.each(stores)('dead letters in $name', ({ open }) => {
  test('are listed with their reason and body, oldest first, and go on from a position', async () => {
    await using store = await open();
    const dead = ['a', 'b', 'c'].map((id) => newMessage(id, { deadReason: 'unreadable' }));
    await Promise.all([newMessage('alive'), ...dead].map((message) => store.log.append(message)));
    const listed = await store.log.deadLetters(0, 2);
    expect(listed).toMatchObject([
      { messageId: 'a', deadReason: 'unreadable', body: dead[0]?.body },
      { messageId: 'b' },
    ]);
    expect(await store.log.deadLetters(listed.at(-1)?.position ?? 0, 10)).toMatchObject([{ messageId: 'c' }]);
  });

  test('wake no waiter and send no notice', async () => {
    await using store = await open();
    const notices: unknown[] = [];
    store.log.onAppend((item) => notices.push(item));
    await store.log.append(newMessage('a', { deadReason: 'other-team' }));
    expect(notices).toEqual([]);
  });

  test('are listed after any position, also before what is pruned and beyond the end', async () => {
    await using store = await open();
    await store.log.append(newMessage('pruned', { ...old, deadReason: 'unreadable' }));
    await store.log.append(newMessage('alive', old));
    const { position } = await store.log.append(newMessage('a', { deadReason: 'unreadable' }));
    await store.log.prune(new Date(1));
    expect(await store.log.deadLetters(0, 10)).toMatchObject([{ messageId: 'a' }]);
    expect(await store.log.deadLetters(position + 1, 10)).toEqual([]);
  });
});
