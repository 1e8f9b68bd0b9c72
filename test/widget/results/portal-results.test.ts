import { afterEach, describe, expect, test, vi } from 'vitest';
import { fakeBiomarker, fakeResults } from '../../../widget/src/testing/fake-results.ts';
import { FakeGateway } from '../support/fake-gateway.ts';
import { emulate } from '../support/look.ts';
import { wireOrder, wireStatus } from '../support/orders.ts';
import { find, readScreen } from '../support/page.ts';
import { complete, mountResults, readRows, untilPhase } from '../support/results.ts';
import '../../../widget/src/languages/ar.ts';
import '../../../widget/src/languages/de.ts';
import '../../../widget/src/languages/es.ts';
import '../../../widget/src/languages/fr.ts';
import '../../../widget/src/languages/pt.ts';

afterEach(async () => {
  await emulate({});
  document.documentElement.lang = 'en';
});

const readsOf = (gateway: FakeGateway) =>
  gateway.requests.filter(({ operation }) => operation === 'PortalResults');

describe('the results of an order', () => {
  test('are shown by panel, with value, unit, range, and a flag in words and shape', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    const element = mountResults(gateway);
    await untilPhase(element, 'ready');

    const captions = [...(element.shadowRoot?.querySelectorAll('caption') ?? [])];
    expect(captions.map(({ textContent }) => textContent)).toEqual([
      'Lipid Panel',
      'Urinalysis',
      'Single tests',
    ]);
    expect(readRows(element)).toEqual([
      ['Cholesterol, Total', '231 mg/dL High', 'below 200'],
      ['HDL Cholesterol', '38 mg/dL Low', 'above 39'],
      ['Triglycerides', '112 mg/dL Normal', 'below 150'],
      ['Urine Protein', 'Negative Normal', 'Negative'],
      [
        'Urine Nitrite Note of the laboratory: Repeated, with the same result.',
        'Positive Abnormal',
        'Negative',
      ].map((text) => text.replace('Nitrite Note', 'NitriteNote')),
      ['Urine Color', 'Yellow Normal', 'none given'],
      ['Thyroid Stimulating Hormone', '2.14 mIU/L Normal', '0.45 to 4.50'],
      ['Potassium', '6.9 mmol/L Critically high', '3.5 to 5.2'],
    ]);
    expect(element.shadowRoot?.querySelectorAll('.flag svg path')).toHaveLength(8);
  });

  test.each([
    ['ABNORMAL', 'CRITICAL', 'At least one result needs attention at once. Please contact your care team.'],
    ['NORMAL', 'ABNORMAL', 'At least one result is outside its expected range.'],
    ['NORMAL', 'NORMAL', 'The laboratory rates them as normal.'],
    [null, 'ABNORMAL', undefined],
  ])(
    'that are %s as a whole, with one that is %s, begin with the graver statement',
    async (whole, one, words) => {
      using gateway = new FakeGateway();
      gateway.order = complete();
      gateway.results = fakeResults({
        metadata: { ...fakeResults().metadata, interpretation: whole },
        biomarkers: [fakeBiomarker('Sodium', '140', { interpretation: one })],
      });
      const element = mountResults(gateway);
      await untilPhase(element, 'ready');
      expect(element.shadowRoot?.querySelector('.overall')?.textContent).toBe(words);
    },
  );

  test('are not called normal where one has a mark that is not known here', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    gateway.results = fakeResults({
      metadata: { ...fakeResults().metadata, interpretation: 'NORMAL' },
      biomarkers: [
        fakeBiomarker('Sodium', '140', { interpretation: 'NORMAL' }),
        fakeBiomarker('Culture', 'grown', { interpretation: 'NORMAL', sourceInterpretation: 'R' }),
      ],
    });
    const element = mountResults(gateway);
    await untilPhase(element, 'ready');

    expect(element.shadowRoot?.querySelector('.overall')).toBeNull();
    expect(readRows(element).map(([, result]) => result)).toEqual(['140 Normal', 'grown']);
  });

  test('put the value right after the name in a narrow place, and the note of the laboratory last', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    const element = mountResults(gateway);
    element.style.inlineSize = '300px';
    await untilPhase(element, 'ready');

    const row = find(element, '.biomarker:has(.note)');
    const parts = [...row.querySelectorAll('.name > bdi, .measured, .flag, .range, .note')];
    const fromTop = parts.toSorted((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
    expect(fromTop.map(({ textContent }) => textContent?.trim())).toEqual([
      'Urine Nitrite',
      'Positive',
      'Abnormal',
      'Expected range: Negative',
      'Note of the laboratory: Repeated, with the same result.',
    ]);
  });

  test('begin at the right edge of a narrow place on a page from right to left', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    const element = mountResults(gateway);
    element.dir = 'rtl';
    element.style.inlineSize = '300px';
    await untilPhase(element, 'ready');

    const row = find(element, '.biomarker:has(.note)');
    const edges = ['.name > bdi', '.value', '.note'].map((selector) => {
      const text = document.createRange();
      text.selectNodeContents(row.querySelector(selector) ?? row);
      return text.getBoundingClientRect().right;
    });
    const { right } = row.getBoundingClientRect();
    expect(edges.map((edge) => Math.round(edge - right))).toEqual([0, 0, 0]);
  });

  test('have the minus sign of a bound before its number on a page in Arabic', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    const biomarkers = [fakeBiomarker('Base excess', '-1', { referenceRange: '-2-3' })];
    gateway.results = fakeResults({ biomarkers });
    document.documentElement.lang = 'ar';
    const element = mountResults(gateway);
    element.dir = 'rtl';
    await untilPhase(element, 'ready');

    const text = find(element, '.range bdi').lastChild as Text;
    const leftOf = (sign: string) => {
      const place = document.createRange();
      place.setStart(text, text.data.indexOf(sign));
      place.setEnd(text, text.data.indexOf(sign) + 1);
      return place.getBoundingClientRect().left;
    };
    expect(leftOf('-')).toBeLessThan(leftOf('2'));
  });

  test('have the lines of a text as the laboratory wrote them', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    const text = 'No growth.\nThe culture is still running.';
    gateway.results = fakeResults({ biomarkers: [fakeBiomarker('Culture', text, { type: 'COMMENT' })] });
    const element = mountResults(gateway);
    await untilPhase(element, 'ready');

    const value = find(element, '.value');
    expect([value.textContent, getComputedStyle(value).whiteSpace]).toEqual([text, 'pre-line']);
  });

  test('have nothing after their dates on paper', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    const element = mountResults(gateway);
    await untilPhase(element, 'ready');

    await emulate({}, 'print');

    expect(getComputedStyle(find(element, 'time'), '::after').content).toBe('none');
  });

  test('come with laboratory, dates, physician, and what is missing with its reason', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    const element = mountResults(gateway);
    await untilPhase(element, 'ready');

    const screen = readScreen(element);
    for (const text of [
      'All results are here.',
      'At least one result needs attention at once. Please contact your care team.',
      'Example Diagnostics 1 Example Plaza Phoenix, AZ 85004 United States',
      'Phone : +16025550142',
      'Medical director : Dr. Robin Standin',
      'CLIA number : 00D0000000',
      'Dr. Jordan Placeholder',
      'Ferritin The sample could not be used or was too small.',
    ])
      expect(screen).toContain(text);
    expect(find(element, 'time[datetime="2026-03-04"]').textContent).toBe('March 4, 2026');
  });

  test.each([
    ['CANCELLED', 'cancelled', 'This order has ended without results. Nothing more happens with this order.'],
    [
      'FAILED',
      'sample_error',
      'This order has ended without results. A new sample is needed. Contact support.',
    ],
    ['FAILED', 'eaten_by_dog', 'This order has ended without results.'],
    ['COMPLETED', 'completed', 'There are no results yet.'],
  ] as const)('are not promised if the order ended without them: %s.%s', async (stage, step, words) => {
    using gateway = new FakeGateway();
    gateway.order = wireOrder([[stage, step]]);
    gateway.results = null;

    const element = mountResults(gateway, { privacy: 'minimal' });
    await untilPhase(element, 'none');

    expect(readScreen(element)).toBe(words);
  });

  test('are text, whatever the service sends', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    const name = '<img src=x onerror=alert(1)>';
    gateway.results = fakeResults({ biomarkers: [fakeBiomarker(name, '<b>1</b>')] });
    const element = mountResults(gateway);
    await untilPhase(element, 'ready');

    expect(readRows(element)[0]?.slice(0, 2)).toEqual([name, '<b>1</b> Normal']);
    expect(element.shadowRoot?.querySelectorAll('img,b')).toHaveLength(0);
  });

  test('are cut with a sentence that says so, where there are very many', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    const many = Array.from({ length: 600 }, (_, index) => fakeBiomarker(`Test ${index}`, '1'));
    gateway.results = fakeResults({ biomarkers: many });
    const element = mountResults(gateway);
    await untilPhase(element, 'ready');

    expect(readRows(element)).toHaveLength(500);
    expect(readScreen(element)).toContain('Only the first 500 results are shown.');
  });

  test('are not called cut where only the list of missing ones is', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    const missing = Array.from({ length: 101 }, (_, index) => ({
      name: `Test ${index}`,
      reason: null,
      note: null,
    }));
    gateway.results = fakeResults({ biomarkers: [fakeBiomarker('Sodium', '140')], missing });
    const element = mountResults(gateway);
    await untilPhase(element, 'ready');

    expect(readScreen(element)).not.toContain('first 500');
    expect(find(element, '.missing .cut').textContent).toContain('Only the first 100 results are shown.');
  });

  test('are not there before the element is in the page, and reading them settles all the same', async () => {
    const element = document.createElement('portal-results');

    expect(await element.refresh()).toBeUndefined();
  });

  test('say that they are partial, and that they were corrected', async () => {
    using gateway = new FakeGateway();
    gateway.order = { ...complete(), status: wireStatus('COMPLETED', 'corrected') };
    const element = mountResults(gateway);
    await untilPhase(element, 'ready');
    expect(readScreen(element)).toContain('The laboratory has corrected these results.');

    gateway.results = fakeResults({ metadata: { statusRaw: 'partial' } });
    gateway.push('CHANGED', { ...complete(), status: wireStatus('SAMPLE_WITH_LAB', 'partial_results') });
    await vi.waitFor(() => expect(readScreen(element)).toContain('More results are still to come.'));
    expect(element.matches(':state(partial)')).toBe(true);
    expect(readScreen(element)).not.toContain('corrected');
  });

  test.each([
    ['de', 'Kritisch hoch', '0,45 bis 4,50', 'Alle Ergebnisse liegen vor.'],
    ['es', 'Críticamente alto', 'de 0,45 a 4,50', 'Todos los resultados están disponibles.'],
    ['fr', 'Élevé, critique', 'de 0,45 à 4,50', 'Tous les résultats sont disponibles.'],
    ['pt', 'Criticamente alto', '0,45 a 4,50', 'Todos os resultados estão disponíveis.'],
    ['ar', 'مرتفع بشكل حرج', 'من \u200e0.45 إلى \u200e4.50', 'جميع النتائج متوفرة.'],
  ])('speak %s', async (language, flag, range, state) => {
    using gateway = new FakeGateway();
    document.documentElement.lang = language;
    gateway.order = complete();
    const element = mountResults(gateway);
    await untilPhase(element, 'ready');

    for (const text of [flag, range, state]) expect(readScreen(element)).toContain(text);
  });
});

describe('with minimal privacy, the default', () => {
  test('no value is asked for or shown: only that there are results', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    const element = mountResults(gateway, { privacy: 'minimal' });
    await untilPhase(element, 'ready');

    expect(document.createElement('portal-results').privacy).toBe('minimal');
    expect(readsOf(gateway).map(({ variables }) => variables.full)).toEqual([false]);
    expect(readScreen(element)).toBe('Your results are here. Reported');
  });

  test('what was shown before is gone at once', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    const element = mountResults(gateway);
    await untilPhase(element, 'ready');
    gateway.resultAnswers.push(new Promise(() => {}));

    element.privacy = 'minimal';
    await element.updateComplete;

    expect(readScreen(element)).not.toContain('Cholesterol');
  });
});

describe('values', () => {
  test.each(['full', 'minimal'] as const)('are hidden from recordings of sessions (%s)', async (privacy) => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    const element = mountResults(gateway, { privacy });
    await untilPhase(element, 'ready');

    expect(find(element, '.frame').className).toContain('ph-no-capture');
    expect(find(element, '.frame').dataset.ddPrivacy).toBe('mask');
  });

  test('a host may say everything in its own words', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    const element = mountResults(gateway, { strings: { results: { high: 'Above' } } });
    await untilPhase(element, 'ready');

    expect(readRows(element)[0]?.[1]).toBe('231 mg/dL Above');
  });
});
