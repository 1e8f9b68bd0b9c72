import { decodeJwt, jwtVerify } from 'jose';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createProviderKeys } from '../../../gateway/auth/token-keys.ts';
import { type IdentityProvider, startIdentityProvider } from '../../support/identity-provider.ts';

const userId = '0f2c8f5e-0000-4000-8000-00000000000a';
const startedAt = 1_800_000_000_000;
const timing = { answerMs: 1000, cooldownMs: 30_000, retryMs: 5000, refreshMs: 600_000 };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: startedAt });
});
afterEach(() => {
  vi.useRealTimers();
});

function open(provider: IdentityProvider) {
  const states: string[] = [];
  const onState = (isThere: boolean) => void states.push(isThere ? 'back' : 'gone');
  const keys = createProviderKeys(provider.keysUrl, { onState, timing });
  const isGood = async (token: string) =>
    await jwtVerify(token, keys).then(
      ({ payload }) => payload.sub === userId,
      () => false,
    );
  return { states, isGood };
}

/** Lets time pass without ending the tokens of a test: only the keys grow old. */
async function later(provider: IdentityProvider, ms: number, kid = 'ES256'): Promise<string> {
  vi.setSystemTime(Date.now() + ms);
  return await provider.tokenFor(userId, {}, { kid });
}

const goAway = (provider: IdentityProvider) =>
  provider.willAnswer((response) => void response.writeHead(503).end());

test('keys are read with the first token, once for many at the same time, and then cached', async () => {
  await using provider = await startIdentityProvider();
  const { isGood } = open(provider);
  expect(provider.asked()).toBe(0);
  const token = await provider.tokenFor(userId);
  expect(await Promise.all([token, token, token].map(isGood))).toEqual([true, true, true]);
  expect(await isGood(await later(provider, 599_000))).toBe(true);
  expect(provider.asked()).toBe(1);
});

test('a known key works while the provider is gone, a new one does not, and does again when it is back', async () => {
  await using provider = await startIdentityProvider();
  const { isGood, states } = open(provider);
  expect(await isGood(await provider.tokenFor(userId))).toBe(true);

  goAway(provider);
  provider.addKey('new');
  expect(await isGood(await later(provider, 31_000))).toBe(true);
  expect(await isGood(await later(provider, 0, 'new'))).toBe(false);
  expect(states).toEqual(['gone']);
  expect(await isGood(await later(provider, 3 * timing.refreshMs))).toBe(true);

  provider.willAnswer(null);
  // The reading behind the last answer may fail only now, and is the failure to count from.
  await expect.poll(async () => isGood(await later(provider, timing.retryMs, 'new'))).toBe(true);
  expect(states).toEqual(['gone', 'back']);
});

test('unknown keys make nobody ask more often than every thirty seconds', async () => {
  await using provider = await startIdentityProvider();
  const { isGood } = open(provider);
  await isGood(await provider.tokenFor(userId));
  const unknown = ['a', 'b', 'c', 'd'].map((kid) => provider.tokenFor(userId, {}, { kid }));
  expect(await Promise.all((await Promise.all(unknown)).map(isGood))).toEqual([false, false, false, false]);
  expect(provider.asked()).toBe(1);
  expect(await isGood(await later(provider, 30_000, 'e'))).toBe(false);
  expect(await isGood(await later(provider, 0, 'f'))).toBe(false);
  expect(provider.asked()).toBe(2);
});

test('a provider that fails is left alone for a while, however many tokens come', async () => {
  await using provider = await startIdentityProvider();
  const { isGood, states } = open(provider);
  goAway(provider);
  for (const ms of [0, 1000, 3000]) expect(await isGood(await later(provider, ms))).toBe(false);
  expect(provider.asked()).toBe(1);
  expect(await isGood(await later(provider, 1000))).toBe(false);
  expect(provider.asked()).toBe(2);
  expect(states).toEqual(['gone']);
});

test('a key that the provider has withdrawn is forgotten with the next reading, which holds nobody up', async () => {
  await using provider = await startIdentityProvider();
  const { isGood } = open(provider);
  provider.addKey('stolen');
  expect(await isGood(await provider.tokenFor(userId, {}, { kid: 'stolen' }))).toBe(true);
  const forged = await later(provider, timing.refreshMs + 1, 'stolen');
  provider.removeKey('stolen');
  expect(decodeJwt(forged).sub).toBe(userId);
  // The first after that time is answered from what is known, and has the keys read behind it.
  expect(await isGood(forged)).toBe(true);
  await expect.poll(() => isGood(forged)).toBe(false);
  expect(provider.asked()).toBe(2);
});

test('a key that was withdrawn while no tokens came is refused for the first token after that', async () => {
  await using provider = await startIdentityProvider();
  const { isGood } = open(provider);
  provider.addKey('stolen');
  expect(await isGood(await provider.tokenFor(userId, {}, { kid: 'stolen' }))).toBe(true);
  const forged = await later(provider, 2 * timing.refreshMs + 1, 'stolen');
  provider.removeKey('stolen');
  expect(await isGood(forged)).toBe(false);
  expect(provider.asked()).toBe(2);
});

test('only one token waits for a provider that does not answer; later ones do not', async () => {
  await using provider = await startIdentityProvider();
  const { isGood } = open(provider);
  expect(await isGood(await provider.tokenFor(userId))).toBe(true);
  provider.willAnswer(() => undefined);
  expect(await isGood(await later(provider, 3 * timing.refreshMs))).toBe(true);
  const again = await later(provider, timing.retryMs + 1);
  const beganAt = performance.now();
  expect(await isGood(again)).toBe(true);
  expect(performance.now() - beganAt).toBeLessThan(timing.answerMs);
  await expect.poll(provider.asked).toBe(3);
});
