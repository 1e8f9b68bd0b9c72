import { describe, expect, test } from 'vitest';
import { FakeGateway } from '../support/fake-gateway.ts';
import { mountLaunch } from '../support/launch.ts';
import { mountStatus } from '../support/order-status.ts';
import { kitAfter } from '../support/orders.ts';
import { find, untilLabel } from '../support/page.ts';

/** The selector by which each session recorder excludes an element. */
const MASKS = [
  '.fs-mask',
  '.rr-mask',
  '.sentry-mask',
  '.ph-no-capture',
  '[data-private]',
  '[data-dd-privacy=mask]',
  '[data-hj-suppress]',
  '[data-clarity-mask=true]',
  '[data-openreplay-masked]',
];

describe('privacy="minimal"', () => {
  test('excludes its content from every session recorder', async () => {
    using gateway = new FakeGateway();
    const status = mountStatus(gateway);
    const launch = mountLaunch(gateway);
    await Promise.all([untilLabel(status, 'Transit customer'), launch.updateComplete]);

    const frames = [find(status, ':host > *'), find(launch, ':host > *')];

    expect(frames.map((frame) => MASKS.filter((mask) => !frame.matches(mask)))).toEqual([[], []]);
  });

  test('neither shows nor reports the name of a test, even when the gateway sends one', async () => {
    using gateway = new FakeGateway();
    gateway.order = { ...kitAfter(3), labTest: { name: 'Lipid panel' } };
    const element = mountStatus(gateway);
    const details: string[] = [];
    element.addEventListener('portal-status', ({ detail }) => details.push(JSON.stringify(detail)));

    await untilLabel(element, 'Transit customer');

    expect([...details, element.shadowRoot?.innerHTML].filter((text) => text?.includes('Lipid'))).toEqual([]);
    expect(element.order?.testName).toBeNull();
  });
});

describe('privacy="full"', () => {
  test('shows the name of the test, and masks nothing', async () => {
    using gateway = new FakeGateway();
    gateway.order = { ...kitAfter(3), labTest: { name: 'Lipid panel' } };
    const element = mountStatus(gateway, { privacy: 'full' });

    await untilLabel(element, 'Transit customer');

    expect(find(element, '[part~=test-name]').textContent).toBe('Lipid panel');
    expect(MASKS.filter((mask) => element.shadowRoot?.querySelector(mask))).toEqual([]);
  });

  test('taken back, forgets the name at once', async () => {
    using gateway = new FakeGateway();
    gateway.order = { ...kitAfter(3), labTest: { name: 'Lipid panel' } };
    const element = mountStatus(gateway, { privacy: 'full' });
    await untilLabel(element, 'Transit customer');

    element.privacy = 'minimal';
    await element.updateComplete;

    expect(element.shadowRoot?.textContent).not.toContain('Lipid');
    expect(element.order?.testName ?? null).toBeNull();
  });
});
