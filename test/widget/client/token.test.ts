import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTokenCache, type TokenAnswer, type TokenRequest } from '../../../widget/src/gateway/token.ts';

const NEED = { scope: 'status', orderId: null } as const;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A token cache whose provider answers `token-1`, `token-2`, ... with this life, and the reasons it was asked for. */
function createCache(lifeMs: number | null) {
  const reasons: TokenRequest['reason'][] = [];
  const cache = createTokenCache(async ({ reason }): Promise<TokenAnswer> => {
    reasons.push(reason);
    const token = `token-${reasons.length}`;
    return lifeMs === null ? token : { token, expiresAt: new Date(Date.now() + lifeMs).toISOString() };
  });
  return { cache, reasons };
}

describe('the token cache', () => {
  test('asks once for any number of needs at the same time', async () => {
    const { cache, reasons } = createCache(null);

    const tokens = await Promise.all([
      cache.get(NEED),
      cache.get(NEED),
      cache.get({ scope: 'launch', orderId: 'x' }),
    ]);

    expect([tokens, reasons]).toEqual([['token-1', 'token-1', 'token-1'], ['initial']]);
  });

  test('renews a token shortly before it ends', async () => {
    const { cache, reasons } = createCache(600_000);
    await cache.get(NEED);

    vi.advanceTimersByTime(569_000);
    const still = await cache.get(NEED);
    vi.advanceTimersByTime(1000);
    const renewed = await cache.get(NEED);

    expect([still, renewed, reasons]).toEqual(['token-1', 'token-2', ['initial', 'expiring']]);
  });

  test('uses nine tenths of a token that lives for seconds', async () => {
    const { cache, reasons } = createCache(10_000);
    await cache.get(NEED);

    vi.advanceTimersByTime(8999);
    await cache.get(NEED);

    expect(reasons).toEqual(['initial']);
  });

  test('uses a token that only a wrong clock of this device calls expired, until the gateway refuses it', async () => {
    const { cache, reasons } = createCache(-7_200_000);

    const first = [await cache.get(NEED), await cache.get(NEED)];
    cache.reject('token-1');
    const second = await cache.get(NEED);

    expect([first, second, reasons]).toEqual([['token-1', 'token-1'], 'token-2', ['initial', 'rejected']]);
  });

  test('replaces a refused token, but not its successor', async () => {
    const { cache, reasons } = createCache(null);
    const first = await cache.get(NEED);

    cache.reject(first);
    await cache.get(NEED);
    cache.reject(first);
    const last = await cache.get(NEED);

    expect([last, reasons]).toEqual(['token-2', ['initial', 'rejected']]);
  });

  test.each([
    ['nothing', undefined],
    ['an empty text', ''],
    ['no token', { token: 7 }],
  ])('fails with TOKEN_UNAVAILABLE when the provider gives %s', async (_, answer) => {
    const cache = createTokenCache(() => answer as TokenAnswer);

    await expect(cache.get(NEED)).rejects.toMatchObject({ code: 'TOKEN_UNAVAILABLE' });
  });

  test('asks again after a failure', async () => {
    let calls = 0;
    const cache = createTokenCache(() => {
      calls += 1;
      if (calls === 1) throw new Error('The host is down.');
      return 'token';
    });

    await cache.get(NEED).catch(() => {});

    expect(await cache.get(NEED)).toBe('token');
  });
});
