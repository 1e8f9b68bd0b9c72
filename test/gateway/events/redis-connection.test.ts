import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { RedisConnection } from '../../../gateway/events/redis/connection.ts';
import { toRedisServer } from '../../../gateway/events/redis/server.ts';
import { listenAnywhere } from '../../support/listening.ts';
import { startRedis } from '../../support/redis.ts';

test('a connection gives up a server that begins an answer and does not end it', async () => {
  const server = createServer((socket) => {
    socket.write('$1000\r\n');
    const dripping = setInterval(() => socket.write('.'), 100);
    // The last bytes may meet a socket that is closed.
    socket.on('error', () => clearInterval(dripping));
    socket.on('close', () => clearInterval(dripping));
  });
  const address = await listenAnywhere(server);
  const redis = toRedisServer(address.replace('http', 'redis'));
  const opening = RedisConnection.open({ server: redis, group: new Set() });
  await expect(opening).rejects.toMatchObject({ code: 'EVENT_LOG_UNAVAILABLE' });
  server.close();
});

test('a command that was answered while the process was suspended does not time out, and its connection stays', async () => {
  await using server = await startRedis();
  const states: unknown[] = [];
  const options = { server: toRedisServer(server.newUrl()), group: new Set<RedisConnection>() };
  const connection = await RedisConnection.open({ ...options, onState: (state) => states.push(state) });
  const answer = connection.send(['PING']);
  // Longer than any timeout of a connection.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3500);
  expect(await answer).toBe('PONG');
  connection.close();
  expect(states).toEqual([]);
});
