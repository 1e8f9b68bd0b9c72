import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { signedHeaders } from '../gateway/webhooks/support.ts';
import { webhookSecret } from '../support/lab.ts';
import { startNginx } from './proxies.ts';
import { type Stage, startStage } from './stage.ts';

const soon = { timeout: 150_000 };
const awayMs = 30_000;

/** Posts a message through the proxy and returns the status of the answer. */
async function post(url: string, id: string): Promise<number> {
  const body = JSON.stringify({ event_type: 'chaos.note', data: { id } });
  const headers = signedHeaders(body, { id, secret: webhookSecret });
  return (await fetch(`${url}/webhooks`, { method: 'POST', headers, body })).status;
}

/** The ids of all messages in the log, and how many entries it has. */
async function readLog({ redis }: Stage) {
  const url = `redis://127.0.0.1:${redis.port}/0`;
  const ids = await redis.command(url, 'HKEYS', '{labgraph}:ids');
  return {
    ids: new Set(Array.isArray(ids) ? ids.map(String) : []),
    entries: await redis.command(url, 'XLEN', '{labgraph}:log'),
  };
}

test.each([
  {
    how: 'killed',
    leave: ({ redis }: Stage) => redis.kill(),
    comeBack: ({ redis }: Stage) => redis.restart(),
  },
  {
    how: 'frozen',
    leave: async ({ redis }: Stage) => redis.freeze(),
    comeBack: async ({ redis }: Stage) => redis.thaw(),
  },
])(
  'while Redis is $how for 30 s no query of up to 200 a second fails, and every webhook is delivered later, once',
  async ({ leave, comeBack }) => {
    await using stage = await startStage();
    const { sandbox } = stage;
    await using proxy = await startNginx(stage);
    using following = stage.follow(proxy.url, { orders: 5, each: 100 });
    const { orderIds } = following;
    await expect.poll(() => following.opened, soon).toBe(500);
    await stage.step(orderIds);
    await expect.poll(() => following.items, soon).toBe(500);
    await using load = stage.load(proxy.url);
    await expect.poll(() => load.sent, soon).toBeGreaterThan(200);

    await leave(stage);
    const leftAt = performance.now();
    expect(await post(proxy.url, 'refused')).toBe(503);
    await stage.step(orderIds);
    const others = sandbox
      .orders()
      .map(({ orderId }) => orderId)
      .filter((id) => !orderIds.includes(id));
    for (let turn = 0; performance.now() - leftAt < awayMs; turn += 1) {
      await stage.step(others.slice(turn % others.length).slice(0, 1));
      await setTimeout(250);
    }
    const waiting = sandbox.webhooks.sent.filter(({ outcome }) => outcome === 'pending').length;
    expect(waiting).toBeGreaterThan(orderIds.length);
    await comeBack(stage);
    // 200 where the frozen server takes it late.
    await expect.poll(() => post(proxy.url, 'refused'), soon).toBeLessThan(203);
    await sandbox.webhooks.settled();
    await stage.step(orderIds);
    await sandbox.webhooks.settled();
    await expect.poll(() => following.items, soon).toBe(1500);
    await load.end();

    const { sent } = sandbox.webhooks;
    expect(load.failed).toEqual([]);
    expect(load.sent).toBeGreaterThan(500);
    expect(sent.filter(({ outcome }) => outcome !== 'delivered')).toEqual([]);
    const { ids, entries } = await readLog(stage);
    expect(ids).toEqual(new Set(['refused', ...sent.map(({ messageId }) => messageId)]));
    expect(entries).toBe(ids.size);
    expect(await following.findWrong(3)).toEqual([]);
  },
  300_000,
);
