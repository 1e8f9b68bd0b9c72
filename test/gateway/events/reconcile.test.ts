import { afterAll, describe, expect, test } from 'vitest';
import type { EventLog } from '../../../gateway/events/log.ts';
import { type Found, type ReconcileTiming, startReconciler } from '../../../gateway/events/reconcile.ts';
import { createLog } from '../../../gateway/log.ts';
import { replaceMembers } from '../../support/members.ts';
import { newMessage } from '../../support/messages.ts';
import { endRedis, stores } from './stores.ts';

afterAll(endRedis);

/** Never due by itself unless a test says so. */
const calm: ReconcileTiming = { everyMs: 86_400_000, silenceMs: 86_400_000, graceMs: 0, lookMs: 86_400_000 };

function found(id: string, version: number, more: { userId?: string; changedAt?: Date } = {}): Found {
  const { userId = 'user-1', changedAt = new Date(0) } = more;
  return {
    changedAt,
    message: {
      type: 'labtest.order.updated',
      userId,
      clientUserId: null,
      teamId: null,
      subject: { id, version },
      body: Buffer.from(JSON.stringify({ data: { id, version } })),
    },
  };
}

/** A reconciler over a list that tests change, and what it asked and logged. */
function startOver(events: EventLog, timing: Partial<ReconcileTiming> = {}) {
  const service: { rows: readonly Found[]; fails: boolean } = { rows: [], fails: false };
  const asked: Date[] = [];
  const logged: string[] = [];
  const reconciler = startReconciler({
    events,
    changedSince: async function* (since) {
      asked.push(since);
      if (service.fails) throw new Error('The service is away.');
      yield* service.rows;
    },
    log: createLog({
      level: 'info',
      destination: { write: (line) => void logged.push(JSON.parse(line).event) },
    }),
    timing: { ...calm, ...timing },
  });
  return replaceMembers(reconciler, { service, asked, logged, [Symbol.dispose]: () => reconciler.stop() });
}

async function changesOf(events: EventLog) {
  const batch = await events.read({ changesOnly: true }, 0, 100);
  if (batch.kind === 'gap') throw new Error(batch.reason);
  return batch.events.map(
    ({ subject, origin, userId }) => `${subject?.id} ${subject?.version} ${origin} ${userId}`,
  );
}

describe.each(stores)('reconciliation with $name', ({ open }) => {
  test('takes a baseline the first time and appends nothing', async () => {
    await using store = await open();
    using reconciler = startOver(store.log);
    reconciler.service.rows = [found('order-1', 5)];

    await reconciler.run('start');
    await reconciler.run('period');

    expect(await changesOf(store.log)).toEqual([]);
    expect(await store.log.latest('order-1')).toMatchObject({ version: 5, userId: 'user-1' });
  });

  test('appends what is missing once, at its newest version, and nothing that is known', async () => {
    await using store = await open();
    using reconciler = startOver(store.log);
    await reconciler.run('start');
    await store.log.append(newMessage('w', { subject: { id: 'known', version: 7 } }));
    reconciler.service.rows = [found('missed', 3), found('known', 7), found('known', 6), found('missed', 3)];

    await reconciler.run('period');
    await reconciler.run('period');
    await store.log.append(newMessage('late', { subject: { id: 'missed', version: 2 } }));

    expect(await changesOf(store.log)).toEqual(['known 7 webhook user-1', 'missed 3 reconciled user-1']);
    expect(reconciler.logged).toEqual(['events.reconciled', 'events.reconciled']);
  });

  test('corrects whose a thing is', async () => {
    await using store = await open();
    using reconciler = startOver(store.log);
    await reconciler.run('start');
    await store.log.append(newMessage('w', { subject: { id: 'kit', version: 7 } }));
    reconciler.service.rows = [found('kit', 7, { userId: 'user-2' })];

    await reconciler.run('gap');

    expect(await changesOf(store.log)).toEqual(['kit 7 webhook user-1', 'kit 7 reconciled user-2']);
  });

  test('of two gateways at once appends each thing once', async () => {
    await using store = await open();
    using one = startOver(store.log);
    using two = startOver(store.log);
    await one.run('start');
    for (const { service } of [one, two]) service.rows = [found('a', 1), found('b', 2)];

    await Promise.all([one.run('gap'), two.run('gap')]);

    expect((await changesOf(store.log)).toSorted()).toEqual([
      'a 1 reconciled user-1',
      'b 2 reconciled user-1',
    ]);
  });

  test('skips nothing when it fails: the next looks back as far', async () => {
    await using store = await open();
    using reconciler = startOver(store.log);
    await reconciler.run('start');
    reconciler.service.fails = true;
    await expect(reconciler.run('period')).rejects.toThrow('away');
    reconciler.service.fails = false;
    reconciler.service.rows = [found('missed', 1)];
    await reconciler.run('retry');

    const [, failed, repeated] = reconciler.asked;
    expect(repeated).toEqual(failed);
    expect(await changesOf(store.log)).toEqual(['missed 1 reconciled user-1']);
  });

  test('looks back ten minutes behind the newest change it was shown, independent of the local clock', async () => {
    await using store = await open();
    using reconciler = startOver(store.log);
    const anHourAgo = new Date(Date.now() - 3_600_000);
    reconciler.service.rows = [
      found('a', 1, { changedAt: new Date(0) }),
      found('b', 1, { changedAt: anHourAgo }),
    ];
    await reconciler.run('start');
    reconciler.service.rows = [found('b', 2, { changedAt: new Date(Date.now() + 3_600_000) })];
    await reconciler.run('period');
    await reconciler.run('period');
    const [, second, third] = reconciler.asked;
    expect(second).toEqual(new Date(anHourAgo.getTime() - 600_000));
    // One that is dated in the future does not carry the next comparison past the present.
    expect(third?.getTime()).toBeLessThanOrEqual(Date.now() - 600_000);
    expect(await changesOf(store.log)).toEqual(['b 2 reconciled user-1']);
  });

  test('that has been shown nothing yet looks back as far again', async () => {
    await using store = await open();
    using reconciler = startOver(store.log);
    await reconciler.run('start');
    await reconciler.run('period');
    const [first, second] = reconciler.asked.map((since) => since.getTime());
    expect(second).toBe(first ?? 0);
  });

  test('leaves a young change to its webhook also the first time', async () => {
    await using store = await open();
    using reconciler = startOver(store.log, { graceMs: 60_000 });
    reconciler.service.rows = [found('order-1', 2, { changedAt: new Date() })];
    await reconciler.run('start');
    await store.log.append(newMessage('w', { subject: { id: 'order-1', version: 2 } }));
    expect(await changesOf(store.log)).toEqual(['order-1 2 webhook user-1']);
  });

  test('corrects whose a thing is also when it moves back and forth at one version', async () => {
    await using store = await open();
    using reconciler = startOver(store.log);
    reconciler.service.rows = [found('kit', 7, { userId: 'user-1' })];
    await reconciler.run('start');
    for (const userId of ['user-2', 'user-1', 'user-2']) {
      reconciler.service.rows = [found('kit', 7, { userId })];
      await reconciler.run('period');
    }
    expect(await changesOf(store.log)).toEqual(
      ['user-2', 'user-1', 'user-2'].map((userId) => `kit 7 reconciled ${userId}`),
    );
  });
});

describe('reconciliation is due', () => {
  const memory = stores[0];
  if (memory === undefined) throw new Error('There is no store.');
  const soon = { lookMs: 2, everyMs: 86_400_000, silenceMs: 86_400_000, graceMs: 1 };
  /** A busy machine delays a timer. A delay of six looks counts as a stopped process, which asks for a comparison. */
  const longLookMs = 500;

  test.each([
    ['on its period', { everyMs: 10 }],
    ['in silence', { silenceMs: 10 }],
  ])('at the start, and again %s', async (_name, timing) => {
    await using store = await memory.open();
    using reconciler = startOver(store.log, { ...soon, ...timing });
    await expect.poll(() => reconciler.asked.length).toBeGreaterThan(3);
  });
  test('after a gap in the events', async () => {
    await using store = await memory.open();
    using reconciler = startOver(store.log, { ...soon, lookMs: longLookMs });
    await expect.poll(() => reconciler.asked.length).toBe(1);
    reconciler.request('gap');
    await expect.poll(() => reconciler.asked.length).toBe(2);
  });
  test('never when it is off', async () => {
    await using store = await memory.open();
    using reconciler = startOver(store.log, { ...soon, everyMs: 0 });
    await reconciler.run('start');
    expect(reconciler.asked).toEqual([]);
  });
  test('again for a change so young that its own webhook may still come, which then notifies nobody', async () => {
    await using store = await memory.open();
    using reconciler = startOver(store.log, { ...soon, lookMs: longLookMs, graceMs: 2000 });
    await expect.poll(() => reconciler.asked.length).toBe(1);
    const young = found('order-1', 2, { changedAt: new Date() });
    reconciler.service.rows = [young];
    await reconciler.run('period');
    expect(await changesOf(store.log)).toEqual([]);
    await store.log.append(newMessage('w1', { subject: { id: 'order-1', version: 1 } }));
    await store.log.append(newMessage('w2', { subject: { id: 'order-1', version: 2 } }));
    await expect.poll(() => reconciler.asked.length).toBe(3);
    expect(await changesOf(store.log)).toEqual(['order-1 1 webhook user-1', 'order-1 2 webhook user-1']);
  });
});
