import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { cacheVerified } from '../../../gateway/auth/authenticate.ts';
import type { Caller } from '../../../gateway/auth/rights.ts';
import { collectGarbage } from '../../support/garbage.ts';

const start = Date.parse('2026-03-02T00:00:00Z');

beforeEach(() => {
  vi.useFakeTimers({ now: start, toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/**
 * Tokens are good that begin with their user and end in the seconds they have left, and so is the key of the team; all
 * verifications are noted.
 */
function open() {
  const verified: string[] = [];
  const verify = async (credential: string): Promise<Caller> => {
    verified.push(credential);
    if (credential === 'key') return { kind: 'TEAM', keyName: 'key-11111111' };
    const [userId = '', seconds] = credential.split(' ');
    if (seconds === undefined) throw new Error('Refused.');
    const expiresAt = new Date(start + Number(seconds) * 1000);
    const rights = { orderIds: null, scopes: [], origins: null, tokenId: null };
    return { kind: 'USER', userId, issuedAt: new Date(start), expiresAt, ...rights };
  };
  return { verified, ask: cacheVerified(verify) };
}

function pass(seconds: number): void {
  vi.advanceTimersByTime(seconds * 1000);
}

test.each(['ann 900', 'key'])(
  'The credential "%s" is verified once a minute, and is the same caller meanwhile',
  async (credential) => {
    const { verified, ask } = open();
    const first = await ask(credential);
    pass(59);
    expect(await ask(credential)).toBe(first);
    expect(verified).toHaveLength(1);
    pass(1);
    await ask(credential);
    expect(verified).toHaveLength(2);
  },
);

test('while it is cached, nothing of the gateway that verified it is held', async () => {
  const ask = async () => {
    const verify = async (): Promise<Caller> => ({ kind: 'TEAM', keyName: 'key-11111111' });
    await cacheVerified(verify)('key');
    return new WeakRef(verify);
  };
  const held = await ask();
  for (let round = 0; round < 50 && held.deref() !== undefined; round += 1) {
    await setImmediate();
    collectGarbage();
  }
  expect(vi.getTimerCount()).toBe(1);
  // Not the function itself: the failed expectation would hold it.
  expect(held.deref() === undefined).toBe(true);
});

test('one whose end has come is verified, and refused there', async () => {
  const { verified, ask } = open();
  await ask('ann 30');
  pass(30);
  await ask('ann 30');
  expect(verified).toHaveLength(2);
});

test('its end counts at once, also while timers are late', async () => {
  const { verified, ask } = open();
  await ask('ann 30');
  vi.setSystemTime(start + 30_000);
  await ask('ann 30');
  expect(verified).toHaveLength(2);
});

test('none is held for longer than its minute, whether anybody asks or not', async () => {
  const { verified, ask } = open();
  const credentials = ['ann 900', 'bob 30', 'key'];
  for (const credential of credentials) await ask(credential);
  pass(60);
  // By this clock all would still be good.
  vi.setSystemTime(start);
  for (const credential of credentials) await ask(credential);
  expect(verified).toEqual([...credentials, ...credentials]);
});

test('one timer deletes all of them, and stops when none is left', async () => {
  const { ask } = open();
  for (let index = 0; index < 100; index += 1) await ask(`user-${index} 900`);
  expect(vi.getTimerCount()).toBe(1);
  pass(120);
  expect(vi.getTimerCount()).toBe(0);
});

test('each credential identifies its own caller', async () => {
  const { ask } = open();
  const ann = { kind: 'USER', userId: 'ann' };
  const asked = async () => [await ask('ann 900'), await ask('bob 900'), await ask('key')];
  const expected = [ann, { kind: 'USER', userId: 'bob' }, { kind: 'TEAM', keyName: 'key-11111111' }];
  expect(await asked()).toMatchObject(expected);
  expect(await asked()).toMatchObject(expected);
});

test('what was refused is refused again, and never cached', async () => {
  const { verified, ask } = open();
  for (const _time of [1, 2]) await expect(ask('forged')).rejects.toThrow('Refused.');
  expect(verified).toEqual(['forged', 'forged']);
});

test('no more than 10,000 are cached, those that were used last', async () => {
  const { verified, ask } = open();
  await ask('ann 900');
  await ask('bob 900');
  for (let index = 0; index < 9_999; index += 1) await ask(`user-${index} 900`);
  verified.length = 0;
  await ask('bob 900');
  await ask('ann 900');
  expect(verified).toEqual(['ann 900']);
});

test('one of more than 2,048 characters is verified each time', async () => {
  const { verified, ask } = open();
  const [longest, longer] = [`ann 900${' '.repeat(2041)}`, `ann 900${' '.repeat(2042)}`];
  for (const credential of [longest, longest, longer, longer]) await ask(credential);
  expect(verified).toEqual([longest, longer, longer]);
});
