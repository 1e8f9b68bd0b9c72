import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTokenCache, type TokenAnswer, type TokenRequest } from '../../widget/src/token.ts';

const NEED = { scope: 'status', orderId: null } as const;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A keeper whose provider answers `token-1`, `token-2`, ... with this life, and the reasons it was asked for. */
function createKeeper(lifeMs: number | null) {
  const reasons: TokenRequest['reason'][] = [];
  const keeper = createTokenCache(async ({ reason }): Promise<TokenAnswer> => {
    reasons.push(reason);
    const token = `token-${reasons.length}`;
    return lifeMs === null ? token : { token, expiresAt: new Date(Date.now() + lifeMs).toISOString() };
  });
  return { keeper, reasons };
}

describe('the keeper of a token', () => {
  test('asks once for any number of needs at the same time', async () => {
    const { keeper, reasons } = createKeeper(null);

    const tokens = await Promise.all([
      keeper.get(NEED),
      keeper.get(NEED),
      keeper.get({ scope: 'launch', orderId: 'x' }),
    ]);

    expect([tokens, reasons]).toEqual([['token-1', 'token-1', 'token-1'], ['initial']]);
  });

  test('renews a token shortly before it ends', async () => {
    const { keeper, reasons } = createKeeper(600_000);
    await keeper.get(NEED);

    vi.advanceTimersByTime(569_000);
    const still = await keeper.get(NEED);
    vi.advanceTimersByTime(1000);
    const renewed = await keeper.get(NEED);

    expect([still, renewed, reasons]).toEqual(['token-1', 'token-2', ['initial', 'expiring']]);
  });

  test('uses nine tenths of a token that lives for seconds', async () => {
    const { keeper, reasons } = createKeeper(10_000);
    await keeper.get(NEED);

    vi.advanceTimersByTime(8999);
    await keeper.get(NEED);

    expect(reasons).toEqual(['initial']);
  });

  test('replaces a refused token, but not its successor', async () => {
    const { keeper, reasons } = createKeeper(null);
    const first = await keeper.get(NEED);

    keeper.reject(first);
    await keeper.get(NEED);
    keeper.reject(first);
    const last = await keeper.get(NEED);

    expect([last, reasons]).toEqual(['token-2', ['initial', 'rejected']]);
  });

  test.each([
    ['nothing', undefined],
    ['an empty text', ''],
    ['no token', { token: 7 }],
  ])('fails with TOKEN_UNAVAILABLE when the provider gives %s', async (_, answer) => {
    const keeper = createTokenCache(() => answer as TokenAnswer);

    await expect(keeper.get(NEED)).rejects.toMatchObject({ code: 'TOKEN_UNAVAILABLE' });
  });

  test('asks again after a failure', async () => {
    let calls = 0;
    const keeper = createTokenCache(() => {
      calls += 1;
      if (calls === 1) throw new Error('The host is down.');
      return 'token';
    });

    await keeper.get(NEED).catch(() => {});

    expect(await keeper.get(NEED)).toBe('token');
  });
});
