import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { GatewayError } from '../../../gateway/errors.ts';
import { AppendQueue, type Writer } from '../../../gateway/events/sqlite/writer-client.ts';
import { newMessage } from '../../support/messages.ts';

const full = new GatewayError('EVENT_LOG_UNAVAILABLE', 'The disk is full.');

/** A writer whose first group fails when it is told to, and that writes all others. */
function createFailingOnce() {
  const failing = Promise.withResolvers<never>();
  const groups: (readonly string[])[] = [];
  const write = (messages: readonly { readonly messageId: string }[]) => {
    groups.push(messages.map(({ messageId }) => messageId));
    if (groups.length === 1) return failing.promise;
    const written = messages.map((_, index) => ({
      appended: { position: index + 1, duplicate: false, altered: false },
      advances: false,
    }));
    return Promise.resolve({ follows: 0, written });
  };
  // Only appends are called.
  const writer = {
    call: (_: string, messages: never) => write(messages),
    close: async () => {},
  } as unknown as Writer;
  return { writer, groups, fail: () => failing.reject(full) };
}

test('messages that wait behind a group that failed fail with it, so that none passes an earlier one', async () => {
  const { writer, groups, fail } = createFailingOnce();
  const queue = new AppendQueue(writer, { onFollows: () => {}, onAppended: () => {} });
  const first = queue.add(newMessage('a'));
  await turn();
  await turn();
  const second = queue.add(newMessage('b'));

  fail();

  expect(await Promise.allSettled([first, second])).toMatchObject([{ reason: full }, { reason: full }]);
  expect(groups).toEqual([['a']]);
  await Promise.all([queue.add(newMessage('a')), queue.add(newMessage('b'))]);
  expect(groups).toEqual([['a'], ['a', 'b']]);
});
