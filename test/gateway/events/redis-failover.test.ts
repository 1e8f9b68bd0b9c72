import { createServer } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createStream, follow } from '../../../gateway/events/follow.ts';
import type { EventLog } from '../../../gateway/events/log.ts';
import { openRedisStore } from '../../../gateway/events/redis/store.ts';
import { createLog } from '../../../gateway/log.ts';
import { listenAnywhere } from '../../support/listening.ts';
import { newMessage } from '../../support/messages.ts';
import { type RedisServer, startRedis } from '../../support/redis.ts';

const epoch = '{labgraph}:epoch';

/** A is the old primary, which goes on; B is the new one, and C its replica. */
let servers: readonly [RedisServer, RedisServer, RedisServer];
let [a, b] = ['', ''];
let stack: AsyncDisposableStack;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  const start = async () => stack.use(await startRedis());
  servers = [await start(), await start(), await start()];
  [a, b] = [urlOf(servers[0]), urlOf(servers[1])];
  await command(b, 'REPLICAOF', '127.0.0.1', String(servers[0].port));
  await command(urlOf(servers[2]), 'REPLICAOF', '127.0.0.1', String(servers[0].port));
});
afterEach(() => stack.disposeAsync());

test('reads go to the new primary with the writes, while the old one is still there', async () => {
  let primary = a;
  const log = await openLog(async () => primary);
  const seen = collect(log);
  await expect.poll(() => append(log, 'before')).toBe(true);
  await splitOff();
  primary = b;
  // Only the connection for writes is lost.
  await killClients(a, (line) => /cmd=(info|wait) /.test(line));

  const ids = Array.from({ length: 20 }, (_, index) => `after-${index}`);
  for (const id of ids) await expect.poll(() => append(log, id)).toBe(true);

  await expect.poll(() => seen.at(-1)).toBe('after-19');
  expect(seen).toEqual(['before', ...ids]);
  expect(await command(a, 'GET', epoch)).toBe(await command(b, 'GET', epoch));
});

test('what an old primary lacks is not lost while the sentinels name another server', async () => {
  let primary = a;
  const log = await openLog(async () => primary);
  const seen = collect(log);
  await expect.poll(() => append(log, 'before')).toBe(true);
  await splitOff();
  primary = b;
  await killClients(a);
  await expect.poll(() => append(log, 'after')).toBe(true);
  await expect.poll(() => seen).toEqual(['before', 'after']);

  // Its sentinels name the old primary once more, until it was asked for what it lacks.
  const isAsked = async () => (await command(a, 'GET', epoch))?.toString().startsWith('cut-') === true;
  locate = async () => ((await isAsked()) ? b : a);
  await killClients(b);
  await expect.poll(isAsked).toBe(true);

  await expect.poll(() => append(log, 'later')).toBe(true);
  await expect.poll(() => seen.at(-1)).toBe('later');
  expect(seen).toEqual(['before', 'after', 'later']);
});

test('a reader gets one gap where the new primary lacks something, also while no message comes', async () => {
  let primary = a;
  const log = await openLog(async () => primary);
  const seen = collect(log);
  await expect.poll(() => append(log, 'before')).toBe(true);
  await splitOff();
  expect(await append(log, 'lost')).toBe(false);
  await expect.poll(() => seen).toEqual(['before', 'lost']);
  primary = b;
  await killClients(a);
  await expect.poll(() => seen).toEqual(['before', 'lost', 'other-epoch']);

  const end = await log.position();
  expect(await log.read({}, end, 10)).toEqual({ kind: 'events', events: [], through: end });
  await expect.poll(() => append(log, 'later')).toBe(true);
  await expect.poll(() => seen.at(-1)).toBe('later');
  expect(seen).toEqual(['before', 'lost', 'other-epoch', 'later']);
});

let locate = async () => a;

/** The log over one sentinel, which names what the function says at the time. */
async function openLog(answer: () => Promise<string>): Promise<EventLog> {
  locate = answer;
  const sentinel = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', async (bytes) => {
      const commands = bytes
        .toString()
        .split(/^\*\d+\r\n/m)
        .slice(1);
      for (const text of commands) {
        if (!text.includes('SENTINEL')) socket.write('+OK\r\n');
        else socket.write(answerOf(new URL(await locate())));
      }
    });
  });
  const address = await listenAnywhere(sentinel);
  stack.defer(() => void sentinel.close());
  const url = `${address.replace('http', 'redis+sentinel')}/main?replicas=1`;
  const { log } = await openRedisStore(url, {
    keys: [],
    allowWeak: false,
    log: createLog({ level: 'silent' }),
  });
  stack.defer(() => log.close());
  return log;
}

function answerOf({ hostname, port }: URL): string {
  return `*2\r\n$${hostname.length}\r\n${hostname}\r\n$${port.length}\r\n${port}\r\n`;
}

/** The messages that a reader gets, and the reasons of its gaps. */
function collect(log: EventLog): readonly string[] {
  const seen: string[] = [];
  const ending = new AbortController();
  stack.defer(() => ending.abort());
  const read = async () => {
    for await (const item of createStream(ending.signal, (signal) => follow(log, {}, { after: 0, signal }))) {
      seen.push(item.kind === 'gap' ? item.reason : item.event.messageId);
    }
  };
  read().catch((error: unknown) => seen.push(String(error)));
  return seen;
}

/** Both go on as primaries with the same log. */
async function splitOff(): Promise<void> {
  await expect
    .poll(() => command(b, 'GET', '{labgraph}:head'))
    .toBe(await command(a, 'GET', '{labgraph}:head'));
  await command(b, 'REPLICAOF', 'NO', 'ONE');
  await command(urlOf(servers[2]), 'REPLICAOF', '127.0.0.1', String(servers[1].port));
  await expect.poll(async () => String(await command(b, 'INFO', 'replication'))).toContain('state=online');
}

async function killClients(url: string, isMeant = (line: string) => line !== ''): Promise<void> {
  const list = String(await command(url, 'CLIENT', 'LIST', 'TYPE', 'normal')).split('\n');
  for (const line of list.filter(isMeant)) {
    const [, id = ''] = /^id=(\d+)/.exec(line) ?? [];
    if (!line.includes('cmd=client')) await command(url, 'CLIENT', 'KILL', 'ID', id);
  }
}

async function append(log: EventLog, id: string): Promise<boolean> {
  return await log.append(newMessage(id)).then(
    () => true,
    () => false,
  );
}

function urlOf({ port }: RedisServer): string {
  return `redis://127.0.0.1:${port}/0`;
}

function command(url: string, ...args: readonly string[]): Promise<unknown> {
  return servers[0].command(url, ...args);
}
