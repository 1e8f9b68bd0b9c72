import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openEndpoint, orderEvent, secretOf, signedHeaders } from './support.ts';

const body = orderEvent();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const warningsOf = (logged: readonly string[]) =>
  logged.map((line) => JSON.parse(line)).filter(({ level }) => level === 40);

describe('a signed message that is more than 300 s off', () => {
  test.each([301, -301, 86_400])(
    '(%s s) is refused and distinguished in the log, not in the answer',
    async (age) => {
      await using endpoint = await openEndpoint();
      const signed = await endpoint.post(body, signedHeaders(body, { age }));
      const forged = await endpoint.post(body, signedHeaders(body, { secret: secretOf('x') }));

      expect(signed.status).toBe(401);
      expect(await signed.text()).toBe(await forged.text());
      expect([...signed.headers]).toEqual([...forged.headers]);
      expect(endpoint.outcomes).toEqual(['stale', 'refused']);
      expect(await endpoint.events.position()).toBe(0);
      expect(warningsOf(endpoint.logged)).toMatchObject([
        { event: 'webhook.stale', offSeconds: age, advice: expect.stringContaining('clock') },
        { event: 'webhook.refused', code: 'WEBHOOK_UNVERIFIED' },
      ]);
    },
  );

  test('is logged once a minute, however often it is sent again', async () => {
    await using endpoint = await openEndpoint();
    for (let count = 0; count < 20; count += 1) expect(await endpoint.deliver(body, { age: 301 })).toBe(401);
    expect(warningsOf(endpoint.logged)).toMatchObject([{ event: 'webhook.stale' }]);
  });

  test('but is signed with another secret is forged, and nothing else', async () => {
    await using endpoint = await openEndpoint();
    expect(await endpoint.deliver(body, { age: 301, secret: secretOf('x') })).toBe(401);
    expect(endpoint.outcomes).toEqual(['refused']);
    expect(endpoint.offsets).toEqual([]);
  });
});

describe('a signed message that is less off', () => {
  test.each([61, -61, 300])('(%s s) is accepted with a warning that says how much', async (age) => {
    await using endpoint = await openEndpoint();
    expect(await endpoint.deliver(body, { age })).toBe(202);
    expect(warningsOf(endpoint.logged)).toMatchObject([{ event: 'webhook.clock_off', offSeconds: age }]);
  });

  test.each([60, 0, -60])('(%s s) is accepted without a word', async (age) => {
    await using endpoint = await openEndpoint();
    expect(await endpoint.deliver(body, { age })).toBe(202);
    expect(warningsOf(endpoint.logged)).toEqual([]);
  });

  test('is warned of once a minute, however many come, although the clock is set back', async () => {
    await using endpoint = await openEndpoint();
    for (let count = 0; count < 20; count += 1)
      await endpoint.deliver(body, { id: `msg_${count}`, age: 100 });
    expect(warningsOf(endpoint.logged)).toHaveLength(1);
    vi.setSystemTime(Date.now() - 3_600_000);
    vi.advanceTimersByTime(60_000);
    await endpoint.deliver(body, { id: 'msg_later', age: 90 });
    expect(warningsOf(endpoint.logged).map(({ offSeconds }) => offSeconds)).toEqual([100, 90]);
  });
});

test('every signed message reports the clock difference', async () => {
  await using endpoint = await openEndpoint();
  await endpoint.deliver(body, { age: 5 });
  await endpoint.deliver(body, { age: -400 });
  expect(endpoint.offsets).toEqual([5, -400]);
});
