import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { callAudit, runAudit } from '../../support/commands.ts';
import { makeFolder } from '../../support/folder.ts';
import { gatewayKey } from '../../support/lab.ts';
import { startWorld } from '../../support/world.ts';
import { filesOf, key, linesOf, openTrail, pseudonymOf, rewrite, userIdOf, writeTrail } from './support.ts';

/** Asks without end until the gateway is gone; each answer that came was an access. */
async function askUntilGone(url: string, orderId: string): Promise<number> {
  const query = encodeURIComponent(`{ order(id: "${orderId}") { id } }`);
  const headers = { authorization: `Bearer ${gatewayKey}` };
  for (let answers = 0; ; answers += 1) {
    const answer = await fetch(`${url}/graphql?query=${query}`, { headers }).catch(() => null);
    if ((await answer?.text().catch(() => null)) === undefined) return answers;
  }
}

test('a gateway that is killed while it writes leaves a valid trail, which the next one continues', async () => {
  using folder = makeFolder();
  const audit = { AUDIT_TRAIL: `file:${folder.path}`, AUDIT_TRAIL_KEY: key.toString('base64') };
  await using world = await startWorld({ ...audit, EVENT_LOG: 'memory:', RECONCILE_MINUTES: '0' });
  const { orderId, userId } = world.freshOrder();

  const killed = await world.startGateway();
  const asking = Array.from({ length: 4 }, () => askUntilGone(killed.url, orderId));
  const [first = ''] = filesOf(folder.path);
  await expect.poll(() => statSync(join(folder.path, first)).size, { interval: 5 }).toBeGreaterThan(2000);
  await killed.end('SIGKILL');
  const answers = (await Promise.all(asking)).reduce((sum, each) => sum + each, 0);
  const accesses = linesOf(folder.path, first).length - 1;
  expect(accesses).toBeGreaterThan(0);
  expect(accesses).toBeLessThanOrEqual(answers + 4);

  const next = await world.startGateway();
  await fetch(`${next.url}/graphql?query={users(first:1){nodes{id}}}`, {
    headers: { authorization: `Bearer ${gatewayKey}` },
  });
  await next.end('SIGTERM');
  writeFileSync(folder.file('gateway.log'), [...killed.output, ...next.output].join('\n'));
  const env = { ...world.env, EVENT_LOG: 'memory:' };
  const verified = await runAudit(env, 'verify', '--heads', folder.file('gateway.log'));
  expect(verified).toMatchObject({ code: 0 });
  expect(verified.lines()).toEqual([{ files: 2, lines: accesses + 3, lost: 0, heads: 3, faults: 0 }]);

  const exported = await callAudit(env, 'export', '--user', userId.toUpperCase());
  expect(exported.lines().filter(({ kind }) => kind === 'read order.get')).toHaveLength(accesses);
  expect(exported.text).not.toContain(userId);
});

test('what is found is said in words, and ends with 1', async () => {
  using folder = makeFolder();
  const env = {
    AUDIT_TRAIL: `file:${folder.path}`,
    AUDIT_TRAIL_KEY: key.toString('base64'),
    SERVICE_URL: 'http://127.0.0.1:9',
    SERVICE_API_KEY: 'any',
  };
  const file = await writeTrail(folder.path, 3);
  rewrite(folder.path, file, (lines) => lines.with(2, (lines[2] ?? '').replace('"ok"', '"no"')));
  const [verified, exported, later, wrong, off] = await Promise.all([
    runAudit(env, 'verify'),
    callAudit(env, 'export', '--user', userIdOf(1)),
    callAudit(env, 'export', '--since', '2100-01-01'),
    callAudit(env, 'export', '--until', 'tomorrow'),
    callAudit({ ...env, AUDIT_TRAIL: 'off' }, 'verify'),
  ]);
  expect([verified.code, verified.said]).toEqual([1, `${file}: line 2 was changed.\n`]);
  expect(exported).toMatchObject({ code: 1, said: 'The trail is not sound: see `verify`.\n' });
  expect(exported.lines()).toEqual([
    expect.objectContaining({ n: 2, user: pseudonymOf(userIdOf(1)), outcome: 'no', isSound: false }),
  ]);
  expect([later.text, wrong.code, off.code]).toEqual(['', 2, 1]);
  expect(wrong.said).toContain('--since and --until take a time');
  expect(off.said).toContain('AUDIT_TRAIL is off');
});

test('--user with a text that is not a user id is a wrong call, and does not report that nobody saw the data', async () => {
  using folder = makeFolder();
  await writeTrail(folder.path, 1);
  const env = { AUDIT_TRAIL: `file:${folder.path}`, AUDIT_TRAIL_KEY: key.toString('base64') };
  for (const user of ['member-0001', ''])
    expect(await callAudit(env, 'export', '--user', user)).toMatchObject({
      ...{ code: 2, text: '' },
      said: expect.stringContaining('--user'),
    });
});

test('a line for several accesses is found by any time between the first and the last of them', async () => {
  using folder = makeFolder();
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-03-01T08:00:00Z') });
  const trail = await openTrail(folder.path);
  for (const second of ['00', '10', '40']) {
    vi.setSystemTime(new Date(`2026-03-01T08:00:${second}Z`));
    trail.watch({ kind: 'TEAM', keyName: 'key-11111111' })({
      kind: 'read order.get',
      userId: 'user-1',
      outcome: 'refused',
    });
  }
  await trail.close();
  vi.useRealTimers();
  const env = {
    AUDIT_TRAIL: `file:${folder.path}`,
    AUDIT_TRAIL_KEY: key.toString('base64'),
    SERVICE_URL: 'http://127.0.0.1:9',
    SERVICE_API_KEY: 'any',
  };
  const [verified, between, after] = await Promise.all([
    callAudit(env, 'verify'),
    callAudit(env, 'export', '--since', '2026-03-01T08:00:20Z', '--until', '2026-03-01T08:00:30Z'),
    callAudit(env, 'export', '--since', '2026-03-01T08:00:41Z'),
  ]);
  expect(verified.lines()).toMatchObject([{ lines: 3, faults: 0 }]);
  expect(between.lines()).toMatchObject([{ n: 2, outcome: 'refused', count: 2 }]);
  expect(after.text).toBe('');
});
