import axe from 'axe-core';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { casesFor } from '../../support/runs.ts';
import { FakeGateway } from '../support/fake-gateway.ts';
import { mountLaunch } from '../support/launch.ts';
import { dressPage, emulate, LOOKS, undressPage } from '../support/look.ts';
import { mountStatus } from '../support/order-status.ts';
import { kitAfter } from '../support/orders.ts';
import { STATES, withOrder } from '../support/states.ts';
import { OpenedTabs } from '../support/tabs.ts';
import '../../../widget/src/languages/ar.ts';

beforeEach(() => {
  document.title = 'A page';
});

afterEach(async () => {
  vi.restoreAllMocks();
  await undressPage();
});

/** What axe finds wrong, and what it could not decide. */
async function audit(): Promise<readonly string[]> {
  const rules = {
    region: { enabled: false },
    'page-has-heading-one': { enabled: false },
    'landmark-one-main': { enabled: false },
  };
  const { violations, incomplete } = await axe.run(document.body, { rules });
  return [...violations, ...incomplete].map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`,
  );
}

describe.each(
  Object.entries(STATES).map(([state, reach], row) => ({ state, reach, looks: casesFor(row, LOOKS) })),
)('axe finds nothing wrong and nothing undecided in $state', ({ reach, looks }) => {
  test.each(looks)('in a page written %s, in %s colours', async (direction, scheme) => {
    using gateway = new FakeGateway();
    using _opened = new OpenedTabs();
    await dressPage(direction, scheme);

    await reach(gateway);

    expect(matchMedia('(forced-colors: active)').matches).toBe(scheme === 'forced');
    expect(await audit()).toEqual([]);
  });
});

describe('in forced colours', () => {
  test('marks and a disabled button take the colours of the person, not those of the host', async () => {
    using gateway = new FakeGateway();
    await dressPage('ltr', 'forced');
    document.documentElement.style.setProperty('--portal-good', '#123456');
    await withOrder(kitAfter(8), 'text')(gateway);
    const button = mountLaunch(gateway, { disabled: true });
    await button.updateComplete;
    const system = document.body.appendChild(document.createElement('p'));
    const colorOf = (name: string) => {
      system.style.color = name;
      return getComputedStyle(system).color;
    };

    const mark = document.querySelector('portal-order-status')?.shadowRoot?.querySelector('.mark');
    const control = button.shadowRoot?.querySelector('button');

    expect(mark && getComputedStyle(mark).color).toBe(colorOf('CanvasText'));
    expect(control && getComputedStyle(control).color).toBe(colorOf('GrayText'));
    expect(control && getComputedStyle(control).opacity).toBe('1');
  });
});

describe('for who asks for less motion', () => {
  test.each([
    ['no-preference', 'breathe'],
    ['reduce', 'none'],
  ])('(%s) the skeleton is animated with: %s', async (wish, animation) => {
    using gateway = new FakeGateway();
    await emulate({ 'prefers-reduced-motion': wish });
    const element = mountStatus(gateway, { tokenProvider: () => new Promise(() => {}) });
    await element.updateComplete;

    const animations = [...(element.shadowRoot?.querySelectorAll('.bone') ?? [])].map(
      (bone) => getComputedStyle(bone).animationName,
    );

    expect(new Set(animations)).toEqual(new Set([animation]));
  });
});
