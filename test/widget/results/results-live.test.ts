import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { fakeResults } from '../../../widget/src/testing/fake-results.ts';
import { FakeGateway } from '../support/fake-gateway.ts';
import { kitAfter, ORDER_ID, wireStatus } from '../support/orders.ts';
import { find, nextEvent, readScreen } from '../support/page.ts';
import { complete, FORBIDDEN, mountResults, readRows, untilPhase } from '../support/results.ts';

const readsOf = (gateway: FakeGateway) =>
  gateway.requests.filter(({ operation }) => operation === 'PortalResults');

afterEach(() => {
  vi.useRealTimers();
});

describe('live', () => {
  test('results are read again when the order changes, and what was asked before comes too late', async () => {
    using gateway = new FakeGateway();
    gateway.results = null;
    const element = mountResults(gateway);
    await element.updateComplete;
    const heightOfLoading = element.clientHeight;
    await untilPhase(element, 'none');
    await element.updateComplete;
    expect(element.clientHeight).toBe(heightOfLoading);
    expect(readScreen(element)).toBe('There are no results yet.');

    const { promise, resolve } = Promise.withResolvers<object>();
    gateway.resultAnswers.push(promise);
    gateway.push('CHANGED', kitAfter(7));
    await vi.waitFor(() => expect(readsOf(gateway)).toHaveLength(2));
    gateway.results = fakeResults();
    gateway.push('CHANGED', complete());
    await untilPhase(element, 'ready');
    resolve({ data: { order: { id: ORDER_ID, results: null } } });
    await new Promise((later) => setTimeout(later));

    expect(element.phase).toBe('ready');
    expect(readsOf(gateway)).toHaveLength(3);
  });

  test('the same state of the order does not read them again', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    const element = mountResults(gateway);
    await untilPhase(element, 'ready');

    const heard = nextEvent(element, 'portal-status');
    gateway.push('RESYNC', complete());
    await heard;
    await element.updateComplete;

    expect(readsOf(gateway)).toHaveLength(1);
  });

  test('an order that moved to another person takes its results away', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    const element = mountResults(gateway);
    await untilPhase(element, 'ready');

    gateway.resultAnswers.push({ data: { order: null } });
    gateway.push('CHANGED', { ...complete(), status: wireStatus('COMPLETED', 'corrected') });
    await untilPhase(element, 'failed');

    expect(element.lastError).toMatchObject({ code: 'NOT_FOUND', requestId: 'request-2' });
    expect(readScreen(element)).not.toContain('Cholesterol');
  });

  test('another order starts anew, and out of the page nothing is held', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    const element = mountResults(gateway);
    await untilPhase(element, 'ready');

    element.remove();
    await Promise.resolve();

    expect(element.phase).toBe('loading');
  });
});

describe('results that are not there yet', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });

  test.each(['before the answer', 'after the answer'])(
    'are read again by an element that was paused %s, when it resumes',
    async (moment) => {
      using gateway = new FakeGateway();
      gateway.order = complete();
      const answer = Promise.withResolvers<object>();
      gateway.resultAnswers.push(answer.promise);
      const element = mountResults(gateway);
      await vi.waitFor(() => expect(readsOf(gateway)).toHaveLength(1));
      const leave = async () => {
        element.pause();
        await element.updateComplete;
      };

      if (moment === 'before the answer') await leave();
      answer.resolve({ data: { order: { id: ORDER_ID, results: null } } });
      await untilPhase(element, 'none');
      if (moment === 'after the answer') await leave();
      vi.advanceTimersByTime(30_000);
      const readMeanwhile = readsOf(gateway).length;
      element.resume();

      await untilPhase(element, 'ready');
      expect(readMeanwhile).toBe(1);
    },
  );
});

describe('a token without read:results', () => {
  test('is replaced once, and then the element says what is missing and asks no more', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    gateway.resultAnswers.push(FORBIDDEN, FORBIDDEN);
    const asked: unknown[] = [];
    const element = mountResults(gateway, {
      tokenProvider: ({ reason, scope }) => {
        asked.push([reason, scope]);
        return { token: `token-${asked.length}`, expiresAt: Date.now() + 600_000 };
      },
    });
    await untilPhase(element, 'failed');

    expect(element.lastError).toMatchObject({
      ...{ code: 'SCOPE_MISSING', retryable: false, requestId: 'request-2' },
    });
    expect(readScreen(element)).toBe('This page has no permission to show your results.');
    expect(asked).toEqual([
      ['initial', 'status'],
      ['rejected', 'results'],
    ]);
    expect(readsOf(gateway).map(({ token }) => token)).toEqual(['token-1', 'token-2']);
  });

  test('that is replaced by one that has it shows the results', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    gateway.resultAnswers.push(FORBIDDEN);
    const element = mountResults(gateway);

    await untilPhase(element, 'ready');
  });
});

describe('a failure', () => {
  test('is shown with a way on, and retrying helps', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    const failed = {
      data: { order: { id: ORDER_ID, results: null } },
      errors: [{ extensions: { code: 'UPSTREAM_TIMEOUT' } }],
    };
    gateway.resultAnswers.push(failed);
    const element = mountResults(gateway);
    await untilPhase(element, 'failed');
    expect(element.lastError).toMatchObject({ code: 'TIMEOUT', requestId: 'request-1' });

    find(element, 'button.retry').click();
    await untilPhase(element, 'ready');
  });

  test('of a second read leaves the results, and says that they may be old', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    const element = mountResults(gateway);
    await untilPhase(element, 'ready');

    gateway.resultAnswers.push({ errors: [{ extensions: { code: 'INTERNAL' } }] });
    const failed = nextEvent(element, 'portal-error');
    gateway.push('CHANGED', { ...complete(), status: wireStatus('COMPLETED', 'corrected') });
    await failed;
    await element.updateComplete;

    expect(readScreen(element)).toContain('Something went wrong.');
    expect(readRows(element)).toHaveLength(8);
  });
});
