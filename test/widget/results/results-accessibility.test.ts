import axe from 'axe-core';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { fakeBiomarker, fakeResults } from '../../../widget/src/testing/fake-results.ts';
import { casesFor } from '../../support/runs.ts';
import { FakeGateway } from '../support/fake-gateway.ts';
import { dressPage, LOOKS, undressPage } from '../support/look.ts';
import { find, mount } from '../support/page.ts';
import { complete, FORBIDDEN, mountResults, untilPhase } from '../support/results.ts';
import '../../../widget/src/languages/ar.ts';
import '../../../widget/src/languages/de.ts';

beforeEach(() => {
  document.title = 'A page';
});

afterEach(async () => {
  vi.restoreAllMocks();
  await undressPage();
});

const STATES: Readonly<Record<string, (gateway: FakeGateway) => Promise<unknown>>> = {
  'all results': async (gateway) => {
    gateway.order = complete();
    await untilPhase(mountResults(gateway), 'ready');
  },
  'all results in a narrow place': async (gateway) => {
    gateway.order = complete();
    const narrow = document.body.appendChild(document.createElement('div'));
    narrow.style.inlineSize = '200px';
    const element = mountResults(gateway);
    narrow.append(element);
    await untilPhase(element, 'ready');
  },
  'a critical report': async (gateway) => {
    gateway.order = complete();
    gateway.results = fakeResults({ metadata: { interpretation: 'CRITICAL', statusRaw: 'corrected' } });
    await untilPhase(mountResults(gateway), 'ready');
  },
  'minimal privacy': async (gateway) => {
    gateway.order = complete();
    await untilPhase(mountResults(gateway, { privacy: 'minimal' }), 'ready');
  },
  loading: async (gateway) => {
    gateway.resultAnswers.push(new Promise(() => {}));
    await mountResults(gateway).updateComplete;
  },
  'no results yet': async (gateway) => {
    gateway.results = null;
    await untilPhase(mountResults(gateway), 'none');
  },
  'no order': async () => {
    await mount('portal-results', {}).updateComplete;
  },
  'a missing scope': async (gateway) => {
    gateway.resultAnswers.push(FORBIDDEN, FORBIDDEN);
    await untilPhase(mountResults(gateway), 'failed');
  },
  'a failure': async (gateway) => {
    await untilPhase(
      mountResults(gateway, { tokenProvider: () => Promise.reject(new Error('Down.')) }),
      'failed',
    );
  },
  'a report that is not ready': async (gateway) => {
    gateway.order = complete();
    gateway.documentResult = { __typename: 'DocumentNotReady' };
    const element = mountResults(gateway);
    await untilPhase(element, 'ready');
    find(element, 'button.download').click();
    await vi.waitFor(() => expect(find(element, '.report .note')).toBeTruthy());
  },
};

describe.each(
  Object.entries(STATES).map(([state, reach], row) => ({ state, reach, looks: casesFor(row, LOOKS) })),
)('axe finds nothing in $state', ({ reach, looks }) => {
  test.each(looks)('in a page written %s, in %s colours', async (direction, scheme) => {
    using gateway = new FakeGateway();
    await dressPage(direction, scheme);

    await reach(gateway);

    const rules = {
      region: { enabled: false },
      'page-has-heading-one': { enabled: false },
      'landmark-one-main': { enabled: false },
    };
    const { violations, incomplete } = await axe.run(document.body, { rules });
    expect(
      [...violations, ...incomplete].map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`,
      ),
    ).toEqual([]);
  });
});

test.each(['ltr', 'rtl'])('nothing is wider than its place of 200 pixels (%s)', async (direction) => {
  using gateway = new FakeGateway();
  document.documentElement.dir = direction;
  document.documentElement.lang = 'de';
  gateway.order = complete();
  gateway.results = fakeResults({
    biomarkers: [
      fakeBiomarker('Mean Corpuscular Hemoglobin Concentration'.repeat(3), '1'.repeat(80), {
        unit: 'x'.repeat(80),
      }),
    ],
  });
  const narrow = document.body.appendChild(document.createElement('div'));
  narrow.style.inlineSize = '200px';
  const element = mountResults(gateway);
  narrow.append(element);
  await untilPhase(element, 'ready');

  const { left, right } = narrow.getBoundingClientRect();
  const wide = [
    ...(element.shadowRoot?.querySelectorAll('*:not(svg *, slot, .columns, .columns *)') ?? []),
  ].filter((each) => {
    const box = each.getBoundingClientRect();
    return each.getClientRects().length > 0 && (box.left < left - 1 || box.right > right + 1);
  });
  expect(wide.map(({ outerHTML }) => outerHTML.slice(0, 120))).toEqual([]);
});

test('a page without a doctype, whose tables have a font and colour of their own, shows results like its other words', async () => {
  using gateway = new FakeGateway();
  gateway.order = complete();
  const frame = document.body.appendChild(document.createElement('iframe'));
  const place = frame.contentDocument?.body.appendChild(document.createElement('div'));
  if (!place) throw new Error('The frame has no document.');
  Object.assign(place.style, { color: 'rgb(255, 255, 255)', font: 'italic 21px/2 serif' });
  const element = mountResults(gateway);
  place.append(element);
  await untilPhase(element, 'ready');
  await element.updateComplete;

  const read = (selector: string) => {
    const { color, fontSize, fontStyle } = getComputedStyle(find(element, selector));
    return { color, fontSize, fontStyle };
  };
  expect(place.ownerDocument.compatMode).toBe('BackCompat');
  expect(read('.panel')).toEqual(read('.summary'));
});

test('a page in capital letters shows results as the laboratory writes them: mg is not MG', async () => {
  using gateway = new FakeGateway();
  gateway.order = complete();
  const place = document.body.appendChild(document.createElement('div'));
  Object.assign(place.style, { textTransform: 'uppercase', fontVariantCaps: 'all-small-caps' });
  const element = mountResults(gateway);
  place.append(element);
  await untilPhase(element, 'ready');
  await element.updateComplete;

  for (const part of ['name', 'value', 'unit', 'range']) {
    const { textTransform, fontVariantCaps } = getComputedStyle(find(element, `.biomarker .${part}`));
    expect([part, textTransform, fontVariantCaps]).toEqual([part, 'none', 'normal']);
  }
});
