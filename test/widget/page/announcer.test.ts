import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { announce } from '../../../widget/src/page/announcer.ts';
import { fakeResults } from '../../../widget/src/testing/fake-results.ts';
import { FakeGateway } from '../support/fake-gateway.ts';
import { mountLaunch } from '../support/launch.ts';
import { mountStatus } from '../support/order-status.ts';
import { kitAfter, ORDER_ID } from '../support/orders.ts';
import { mount, recordAnnouncements, untilLabel } from '../support/page.ts';
import { mountResults, readRows, untilPhase } from '../support/results.ts';
import { OpenedTabs } from '../support/tabs.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.runAllTimers();
  vi.useRealTimers();
});

describe('the announcer', () => {
  test('says within a second what many have to say, and of each only the last', () => {
    const takeSaid = recordAnnouncements();
    const [first, second] = [document.createElement('p'), document.createElement('p')];

    announce(first, 'One.', 'en');
    announce(second, 'Two.', 'en');
    announce(first, 'Three.', 'en');
    vi.advanceTimersByTime(999);
    const before = takeSaid();
    vi.advanceTimersByTime(1);

    expect([before, takeSaid()]).toEqual([[], ['Three. Two.']]);
  });

  test('says a change of status, but not the first status', async () => {
    const takeSaid = recordAnnouncements();
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

    expect(takeSaid()).toEqual([
      'Order status: Registered. Take your sample as the kit’s instructions say, then send it to the lab.',
    ]);
  });

  test('announces each change of the results on screen, and nothing after a read without a change', async () => {
    const takeSaid = recordAnnouncements();
    using gateway = new FakeGateway();
    const partial = (count: number) => {
      const { biomarkers, metadata } = fakeResults();
      return fakeResults({
        biomarkers: biomarkers.slice(0, count),
        metadata: { ...metadata, statusRaw: 'partial' },
      });
    };
    gateway.results = null;
    const element = mountResults(gateway);
    await untilPhase(element, 'none');

    const heard: unknown[] = [];
    for (const results of [partial(2), partial(3), partial(3), fakeResults(), fakeResults({ missing: [] })]) {
      gateway.results = results;
      heard.push(`${readRows(element).length} rows`);
      await element.refresh();
      vi.advanceTimersByTime(1000);
      heard.push(...takeSaid());
    }

    const changed = 'Your results have changed.';
    expect(heard).toEqual([
      ...['0 rows', 'The first of your results are here.', '2 rows', changed, '3 rows'],
      ...['3 rows', changed, '8 rows', changed],
    ]);
  });

  test('does not announce the link if the page shows another order meanwhile', async () => {
    const takeSaid = recordAnnouncements();
    using gateway = new FakeGateway();
    using tabs = new OpenedTabs();
    tabs.refuse = true;
    const { promise, resolve } = Promise.withResolvers<void>();
    gateway.portalGate = promise;
    const element = mountLaunch(gateway, { orderId: ORDER_ID, status: 'none' });
    const launch = element.launch();
    vi.advanceTimersByTime(1000);

    element.orderId = crypto.randomUUID();
    await element.updateComplete;
    resolve();
    await launch;
    vi.advanceTimersByTime(1000);

    expect([element.phase, takeSaid()]).toEqual(['idle', ['Opening…']]);
  });

  test('speaks through one hidden status region, in the page a second before it speaks, with its text until just before the next', () => {
    announce(document.body, 'Four.', 'en');
    const settling = document.querySelector('[role=status]');
    vi.advanceTimersByTime(1000);
    announce(document.body, 'Five.', 'en');
    vi.advanceTimersByTime(899);
    const before = settling?.textContent;
    vi.advanceTimersByTime(101);

    const regions = [...document.querySelectorAll<HTMLElement>('[role=status]')];
    expect(before).toBe('Four.');
    expect(regions.map(({ textContent, offsetWidth }) => [textContent, offsetWidth])).toEqual([['Five.', 1]]);
    expect(regions.filter((region) => !region.matches('.rr-mask.sentry-mask[data-dd-privacy=mask]'))).toEqual(
      [],
    );
  });

  test('has its region in the tree of screen readers while it is empty, also on pages that hide empty elements', () => {
    const style = document.createElement('style');
    style.textContent = 'div:empty { display: none }';
    document.head.append(style);
    onTestFinished(() => style.remove());

    announce(document.body, 'Ten.', 'en');
    vi.advanceTimersByTime(900);
    const region = document.querySelector('[role=status]');

    expect([region?.textContent, region?.getClientRects().length]).toEqual(['', 1]);
  });

  test('announces the same words again when the status returns to them', () => {
    announce(document.body, 'Six.', 'en');
    vi.advanceTimersByTime(1000);
    const region = document.querySelector('[role=status]');

    announce(document.body, 'Six.', 'en');
    vi.advanceTimersByTime(900);
    const before = region?.textContent;
    vi.advanceTimersByTime(100);

    expect([before, region?.textContent]).toEqual(['', 'Six.']);
  });

  test.each([
    '<dialog></dialog>',
    '<div role="dialog"></div>',
    '<div role="alertdialog" aria-modal="true"></div>',
  ])('speaks inside %s if the speaker is there, and outside when it is removed', (markup) => {
    using _gateway = new FakeGateway();
    document.body.insertAdjacentHTML('beforeend', markup);
    const dialog = document.body.lastElementChild;
    if (dialog instanceof HTMLDialogElement) dialog.showModal();
    const host = dialog?.appendChild(document.createElement('p'));
    const speaker = host?.attachShadow({ mode: 'open' }).appendChild(document.createElement('p'));

    announce(speaker ?? document.body, 'Seven.', 'en');
    vi.advanceTimersByTime(1000);
    const inside = dialog?.querySelector('[role=status]')?.textContent;
    dialog?.remove();
    announce(document.body, 'Eight.', 'en');
    vi.advanceTimersByTime(1000);

    const regions = [...document.querySelectorAll('[role=status]')];
    expect([inside, ...regions.map(({ textContent }) => textContent)]).toEqual(['Seven.', 'Eight.']);
  });

  test('speaks inside the dialog of the component whose slot contains the speaker', () => {
    using _gateway = new FakeGateway();
    document.body.insertAdjacentHTML('beforeend', '<div><p></p></div>');
    const component = document.body.lastElementChild;
    const shadow = component?.attachShadow({ mode: 'open' });
    const dialog = shadow?.appendChild(document.createElement('dialog'));
    dialog?.append(document.createElement('slot'));
    dialog?.showModal();

    announce(component?.firstElementChild ?? document.body, 'Slotted.', 'en');
    vi.advanceTimersByTime(1000);

    expect(dialog?.querySelector('[role=status]')?.textContent).toBe('Slotted.');
  });

  test('speaks outside a dialog that closes before it has spoken', () => {
    using _gateway = new FakeGateway();
    document.body.insertAdjacentHTML('beforeend', '<dialog><p></p></dialog>');
    const dialog = document.querySelector('dialog');
    dialog?.showModal();
    announce(dialog?.firstElementChild ?? document.body, 'Nine.', 'en');
    dialog?.close();
    vi.advanceTimersByTime(1000);

    const region = document.querySelector('[role=status]');
    expect([region?.parentNode, region?.textContent]).toEqual([document.body, 'Nine.']);
    dialog?.remove();
  });

  test('speaks the language of the text, also to pages that hide all but live regions', async () => {
    using gateway = new FakeGateway();
    const element = mountStatus(gateway, { lang: 'xx' });
    await untilLabel(element, 'Transit customer');

    gateway.push('CHANGED', kitAfter(5));
    vi.advanceTimersByTime(1000);

    const region = document.querySelector('[aria-live=polite]');
    expect([region?.textContent, region?.getAttribute('lang')]).toEqual([
      'Order status: Registered. Take your sample as the kit’s instructions say, then send it to the lab.',
      'en',
    ]);
  });
});
