import { expect, test } from 'vitest';
import type { UserCaller } from '../../../gateway/caller/caller.ts';
import { keepVerified } from '../../../gateway/caller/verified-tokens.ts';

const start = Date.parse('2026-03-02T00:00:00Z');

/** Tokens are good that begin with their user and end in the seconds they have left; all verifications are noted. */
function open() {
  const verified: string[] = [];
  let at = start;
  const verify = async (token: string): Promise<UserCaller> => {
    verified.push(token);
    const [userId = '', seconds] = token.split(' ');
    if (seconds === undefined) throw new Error('Refused.');
    const expiresAt = new Date(start + Number(seconds) * 1000);
    const rights = { orderIds: null, scopes: [], origins: null, tokenId: null };
    return { kind: 'USER', userId, issuedAt: new Date(start), expiresAt, ...rights };
  };
  const pass = (seconds: number) => {
    at += seconds * 1000;
  };
  return { verified, pass, ask: keepVerified(verify, () => at) };
}

test('a token is verified once a minute, and is the same caller meanwhile', async () => {
  const { verified, pass, ask } = open();
  const first = await ask('ann 900');
  pass(59);
  expect(await ask('ann 900')).toBe(first);
  expect(verified).toHaveLength(1);
  pass(1);
  await ask('ann 900');
  expect(verified).toHaveLength(2);
});

test('one whose end has come is verified, and refused there', async () => {
  const { verified, pass, ask } = open();
  await ask('ann 30');
  pass(30);
  await ask('ann 30');
  expect(verified).toHaveLength(2);
});

test('each token stands for its own user', async () => {
  const { ask } = open();
  const users = async () => [(await ask('ann 900')).userId, (await ask('bob 900')).userId];
  expect([await users(), await users()]).toEqual([
    ['ann', 'bob'],
    ['ann', 'bob'],
  ]);
});

test('what was refused is refused again, and never kept', async () => {
  const { verified, ask } = open();
  for (const _time of [1, 2]) await expect(ask('forged')).rejects.toThrow('Refused.');
  expect(verified).toEqual(['forged', 'forged']);
});

test('no more than 10,000 are kept, those that were asked for last', async () => {
  const { verified, ask } = open();
  await ask('ann 900');
  await ask('bob 900');
  await ask('ann 900');
  for (let index = 0; index < 9_999; index += 1) await ask(`user-${index} 900`);
  verified.length = 0;
  await ask('ann 900');
  await ask('bob 900');
  expect(verified).toEqual(['bob 900']);
});
