import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { RedisConnection } from '../../../gateway/events/redis/connection.ts';
import { toRedisServer } from '../../../gateway/events/redis/server.ts';
import { openRedisStore } from '../../../gateway/events/redis/store.ts';
import { createLog } from '../../../gateway/log.ts';
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

test('a server that is too old is refused, with its version', async () => {
  await using server = await startRedis();
  // In front of a server of today, which answers with the same number of bytes.
  const older = createServer((socket) => {
    const behind = connect(server.port, '127.0.0.1');
    socket.pipe(behind).on('data', (bytes) => {
      const text = bytes.toString('latin1').replace(/(redis_version:)\d\.\d/, '$16.0');
      socket.write(text, 'latin1');
    });
    socket.on('close', () => behind.destroy());
  });
  const url = (await listenAnywhere(older)).replace('http', 'redis');
  const options = { keys: [], allowWeak: true, log: createLog({ level: 'silent' }) };

  await expect(openRedisStore(url, options)).rejects.toMatchObject({
    code: 'EVENT_LOG_UNAVAILABLE',
    message: expect.stringMatching(
      /^Redis at 127\.0\.0\.1:\d+ is 6\.0\S*\. The gateway needs 6\.2 or newer\.$/,
    ),
  });

  older.close();
});
