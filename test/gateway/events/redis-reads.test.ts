import { cpSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { expect, test, vi } from 'vitest';
import { keyPrefix } from '../../../gateway/events/redis/codec.ts';
import { openRedisStore } from '../../../gateway/events/redis/store.ts';
import { createLog } from '../../../gateway/log.ts';
import { listenAnywhere } from '../../support/listening.ts';
import { newMessage } from '../../support/messages.ts';
import { startRedis } from '../../support/redis.ts';

async function openLog(url: string) {
  const log = createLog({ level: 'silent' });
  return (await openRedisStore(url, { keys: [], allowWeak: false, log })).log;
}

test('equal reads at once get the same events, and a read after an append has what was appended', async () => {
  await using server = await startRedis();
  const events = await openLog(server.newUrl());
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

test('equal questions for the owner at once get the same answer', async () => {
  await using server = await startRedis();
  const events = await openLog(server.newUrl());
  await events.append(newMessage('a', { userId: 'user-1', subject: { id: 'order-1', version: 1 } }));
  const [first, second, other] = await Promise.all([
    events.latest('order-1'),
    events.latest('order-1'),
    events.latest('order-2'),
  ]);
  expect(first).toMatchObject({ version: 1, userId: 'user-1' });
  expect(second).toBe(first);
  expect(other).toBeNull();
  await events.close();
});

/** A proxy in front of the server, at which the answers to reads of owners can be held back. */
async function startSlowProxy(url: URL) {
  const held: (() => void)[] = [];
  const proxy = { url: '', isSlow: false, held };
  const server = createServer((client) => {
    const upstream = connect(Number(url.port), url.hostname);
    let isRead = false;
    client.on('data', (sent) => {
      isRead = sent.includes('HGET');
      upstream.write(sent);
    });
    upstream.on('data', (answer) => {
      if (proxy.isSlow && isRead) held.push(() => client.write(answer));
      else client.write(answer);
    });
    client.on('close', () => upstream.destroy()).on('error', () => upstream.destroy());
    upstream.on('close', () => client.destroy()).on('error', () => client.destroy());
  });
  const slow = new URL(url);
  slow.port = new URL(await listenAnywhere(server)).port;
  return Object.assign(proxy, { url: slow.href, [Symbol.dispose]: () => void server.close() });
}

test.each(['a claim', 'an append'])(
  'who asks after %s learns of it, although an earlier answer is under way',
  async (what) => {
    await using server = await startRedis();
    using proxy = await startSlowProxy(new URL(server.newUrl()));
    const events = await openLog(proxy.url);
    proxy.isSlow = true;
    const earlier = events.latest('report-1');
    await vi.waitFor(() => expect(proxy.held).toHaveLength(1));
    if (what === 'a claim') await events.claim('report-1', { userId: 'user-1', version: 0 });
    else await events.append(newMessage('a', { userId: 'user-1', subject: { id: 'report-1', version: 1 } }));
    const later = events.latest('report-1');
    proxy.isSlow = false;
    for (const release of proxy.held) release();
    expect(await earlier).toBeNull();
    expect(await later).toMatchObject({ userId: 'user-1' });
    await events.close();
  },
);

/** What an append of another user leaves, and the notice says that one before it was lost. */
const appendAfterLost = `
  local id = ARGV[1] .. '-0'
  redis.call('XADD', KEYS[1], id, 'id', 'unseen')
  redis.call('SET', KEYS[2], ARGV[1])
  redis.call('XADD', KEYS[3], id, 'previous', ARGV[2], 'user', '', 'subject', '', 'version', '', 'dead', '')
`;

test.each(['it got the notice', 'a notice was lost'])(
  'a waiter reads the append of another gateway, although everything before it was pruned: %s',
  async (fate) => {
    await using server = await startRedis();
    const url = server.newUrl();
    const [events, other] = [await openLog(url), await openLog(url)];
    const old = { receivedAt: new Date(0), userId: 'user-2' };
    const { position } = await events.append(newMessage('read', old));
    const woken = events.wake({ userId: 'user-1' }, position, new AbortController().signal);
    await other.append(newMessage('other', old));
    const newer = await other.append(newMessage('newer', { userId: 'user-2' }));
    await events.catchUp();
    expect(await events.prune(new Date(1))).toBe(2);

    if (fate === 'a notice was lost') {
      const keys = ['log', 'head', 'bus'].map((name) => keyPrefix + name);
      const places = [String(newer.position + 2), String(newer.position + 1)];
      await server.command(url, 'EVAL', appendAfterLost, '3', ...keys, ...places);
      await woken;
    }
    await other.append(newMessage('theirs'));

    const batch = await events.read({ userId: 'user-1' }, await woken, 10);
    expect(batch).toMatchObject({ events: [{ messageId: 'theirs' }] });
    await Promise.all([events.close(), other.close()]);
  },
);

test('after an older copy was restored while no gateway ran, a read after a lost place is a gap', async () => {
  await using server = await startRedis();
  const url = server.newUrl();
  const appendOne = async (id: string) => {
    const events = await openLog(url);
    const { position } = await events.append(newMessage(id));
    await events.close();
    return position;
  };
  const [files, copy] = [`${server.folder}/appendonlydir`, `${server.folder}/copy`];
  const copied = await appendOne('copied');
  cpSync(files, copy, { recursive: true });
  const lost = await appendOne('lost');
  await server.kill();
  rmSync(files, { recursive: true });
  cpSync(copy, files, { recursive: true });
  await server.restart();
  const events = await openLog(url);
  expect(await events.read({}, lost, 10)).toEqual({ kind: 'gap', reason: 'beyond-end' });

  const next = await events.append(newMessage('next'));

  expect(next.position).toBeGreaterThan(lost);
  expect(await events.read({}, lost, 10)).toEqual({ kind: 'gap', reason: 'other-epoch' });
  expect(await events.read({}, copied, 10)).toMatchObject({ events: [{ messageId: 'next' }] });
  expect(await events.read({}, next.position - 1, 1)).toMatchObject({ events: [{ messageId: 'next' }] });
  await events.close();
});
