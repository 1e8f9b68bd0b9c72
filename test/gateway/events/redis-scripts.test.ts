import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { openRedisStore } from '../../../gateway/events/redis/store.ts';
import { createLog } from '../../../gateway/log.ts';
import { listenAnywhere } from '../../support/listening.ts';
import { newMessage } from '../../support/messages.ts';
import { type RedisServer, startRedis } from '../../support/redis.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server[Symbol.asyncDispose]());

async function openLog(url: string) {
  const options = { keys: [], allowWeak: false, log: createLog({ level: 'silent' }) };
  const { log } = await openRedisStore(url, options);
  return { log, [Symbol.asyncDispose]: () => log.close() };
}

/** A relay to the server that delays each line of its answers by a millisecond. */
async function startSlowAnswers() {
  const open = new Set<Socket>();
  const relay = createServer(async (near) => {
    const far = connect(server.port, '127.0.0.1');
    near.pipe(far);
    for (const socket of [near, far]) open.add(socket.on('error', () => {}));
    for await (const line of createInterface({ input: far })) {
      near.write(`${line}\r\n`);
      await setTimeout(1);
    }
    near.end();
  });
  return {
    url: (await listenAnywhere(relay)).replace('http:', 'redis:'),
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      relay.close();
      await once(relay, 'close');
    },
  };
}

test('messages are stored in the order of their appends, also the first ones on a new server', async () => {
  await using slow = await startSlowAnswers();
  await using opened = await openLog(slow.url);
  const append = async (id: number) => (await opened.log.append(newMessage(String(id)))).position;
  const appending = Array.from({ length: 5 }, (_, id) => append(id));
  for (let id = 5; id < 20; id += 1) {
    await setTimeout(1);
    appending.push(append(id));
  }
  const positions = await Promise.all(appending);
  expect(positions).toEqual(positions.toSorted((one, two) => one - two));
});

test('messages are stored in the order of their appends, also while the settings are checked again', async () => {
  await using opened = await openLog(server.newUrl());
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
  onTestFinished(() => void vi.useRealTimers());
  const appending: Promise<{ readonly position: number }>[] = [];
  while (appending.length < 200) {
    appending.push(opened.log.append(newMessage(`again ${appending.length}`)));
    await nextTurn();
  }
  const positions = (await Promise.all(appending)).map(({ position }) => position);
  expect(positions).toEqual(positions.toSorted((one, two) => one - two));
});

test('scripts that the server has lost are loaded again, with a new connection', async () => {
  const url = server.newUrl();
  await using opened = await openLog(url);
  await server.command(url, 'SCRIPT', 'FLUSH');
  const append = () => opened.log.append(newMessage('a')).catch((error) => error.code);
  expect(await append()).toBe('EVENT_LOG_UNAVAILABLE');
  await expect.poll(append).toMatchObject({ duplicate: false });
});
