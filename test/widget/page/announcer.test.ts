import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { announce } from '../../../widget/src/page/announcer.ts';
import { FakeGateway } from '../support/fake-gateway.ts';
import { kitAfter, ORDER_ID } from '../support/orders.ts';
import { mount, untilLabel } from '../support/page.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.runAllTimers();
  vi.useRealTimers();
});

/** Everything said through `ariaNotify`, whether or not this browser has it. */
function recordAnnouncements(): string[] {
  const said: string[] = [];
  const value = (text: string) => said.push(text);
  Object.defineProperty(Element.prototype, 'ariaNotify', { value, configurable: true });
  return said;
}

describe('the announcer', () => {
  test('says within a second what many have to say, and of each only the last', () => {
    const said = recordAnnouncements();
    const [first, second] = [{}, {}];

    announce(first, 'One.');
    announce(second, 'Two.');
    announce(first, 'Three.');
    vi.advanceTimersByTime(999);
    const before = [...said];
    vi.advanceTimersByTime(1);

    expect([before, said]).toEqual([[], ['Three. Two.']]);
  });

  test('says a change of status, but not the first status', async () => {
    const said = recordAnnouncements();
    using gateway = new FakeGateway();
    const { endpoint } = gateway;
    const element = mount('portal-order-status', {
      endpoint,
      orderId: ORDER_ID,
      live: 'always',
      tokenProvider: () => 'token',
    });
    await untilLabel(element, 'Transit customer');

    gateway.push('CHANGED', kitAfter(4));
    gateway.push('CHANGED', kitAfter(5));
    vi.advanceTimersByTime(1000);

    expect(said).toEqual([
      'Order status: Registered. Take your sample as the kit’s instructions say, then send it to the lab.',
    ]);
  });

  test('speaks through one hidden status region where the browser has no ariaNotify', () => {
    Reflect.deleteProperty(Element.prototype, 'ariaNotify');

    announce({}, 'Four.');
    vi.advanceTimersByTime(1000);
    announce({}, 'Five.');
    vi.advanceTimersByTime(1000);

    const regions = [...document.querySelectorAll<HTMLElement>('[role=status]')];
    expect(regions.map(({ textContent, offsetWidth }) => [textContent, offsetWidth])).toEqual([['Five.', 1]]);
    expect(regions.filter((region) => !region.matches('.rr-mask.sentry-mask[data-dd-privacy=mask]'))).toEqual(
      [],
    );
  });

  test('announces the same words again when the status returns to them', () => {
    Reflect.deleteProperty(Element.prototype, 'ariaNotify');
    announce({}, 'Six.');
    vi.advanceTimersByTime(1000);
    const region = document.querySelector('[role=status]');

    announce({}, 'Six.');
    const before = region?.textContent;
    vi.advanceTimersByTime(1000);

    expect([before, region?.textContent]).toEqual(['', 'Six.']);
  });
});
