import { expect, test } from 'vitest';
import { openRedisStore } from '../../../gateway/events/redis/store.ts';
import { createLog } from '../../../gateway/log.ts';
import { newMessage } from '../../support/messages.ts';
import { startRedis } from '../../support/redis.ts';

test('equal reads at once get the same events, and a read after an append has what was appended', async () => {
  await using server = await startRedis();
  const log = createLog({ level: 'silent' });
  const { log: events } = await openRedisStore(server.newUrl(), { keys: [], allowWeak: false, log });
  await events.append(newMessage('a', { subject: { id: 'order-1', version: 1 } }));
  const [first, second, other] = await Promise.all([
    events.read({ subject: 'order-1' }, 0, 10),
    events.read({ subject: 'order-1' }, 0, 10),
    events.read({}, 0, 10),
  ]);
  expect(second).toBe(first);
  expect(other).not.toBe(first);

  const appended = events.append(newMessage('b'));
  // This read may still be under way when the append is acknowledged.
  const earlier = events.read({}, 0, 10);
  await appended;
  const later = await events.read({}, 0, 10);
  expect(later).toMatchObject({ events: [{ messageId: 'a' }, { messageId: 'b' }] });
  await earlier;
  await events.close();
});
