import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  isRetryable,
  PortalError,
  type PortalErrorCode,
  reportError,
} from '../../../widget/src/gateway/errors.ts';
import { english as results } from '../../../widget/src/results/strings.ts';
import { addLanguage, readLanguage, readStrings } from '../../../widget/src/words/language.ts';
import { mergeStrings } from '../../../widget/src/words/strings.ts';
import { FakeGateway } from '../support/fake-gateway.ts';
import { mountStatus } from '../support/order-status.ts';
import { kitAfter, wireOrder, wireStatus } from '../support/orders.ts';
import { find, mount, nextEvent, readScreen, untilLabel } from '../support/page.ts';
import '../../../widget/src/languages/ar.ts';
import '../../../widget/src/languages/de.ts';
import '../../../widget/src/languages/es.ts';
import '../../../widget/src/languages/fr.ts';
import '../../../widget/src/languages/pt.ts';
import schema from '../../../schema.graphql?raw';

const LANGUAGES = ['ar', 'de', 'es', 'fr', 'pt'];

const CODES: readonly PortalErrorCode[] = [
  'ENDPOINT_INVALID',
  'TOKEN_UNAVAILABLE',
  'UNAUTHENTICATED',
  'NETWORK',
  'TIMEOUT',
  'GATEWAY_ERROR',
  'NOT_FOUND',
  'INPUT_REJECTED',
  'PORTAL_REJECTED',
  'DEMOGRAPHICS_MISSING',
  'FEATURE_NOT_ENABLED',
  'URL_REJECTED',
];

afterEach(() => {
  document.documentElement.lang = 'en';
  document.documentElement.dir = '';
});

/** Each text by its way, with the places in it that are filled in. */
function placesOf(texts: object, way = ''): readonly (readonly [string, readonly string[]])[] {
  return Object.entries(texts).flatMap(([key, text]) =>
    typeof text === 'string'
      ? [[way + key, text.match(/\{\w+\}/g) ?? []] as const]
      : placesOf(text, `${way}${key}.`),
  );
}

describe('every language', () => {
  test.each(LANGUAGES)('%s has every text of the English one, with the same places in it', (language) => {
    const { statuses: _, ...shared } = mergeStrings();
    const english = { ...shared, results };
    const { statuses: __, ...translated } = readStrings(language, null);

    expect(placesOf(translated)).toEqual(placesOf(english));
  });

  test.each(LANGUAGES)('%s has words for every step the gateway knows', (language) => {
    const [, body = ''] = /enum OrderStep \{([^}]*)\}/.exec(schema) ?? [];
    const steps = body.match(/^ {2}[A-Z_]+$/gm)?.map((step) => step.trim()) ?? [];

    expect(steps.length).toBeGreaterThan(20);
    const { statuses } = readStrings(language, null);
    expect(steps.filter((step) => step !== 'UNKNOWN' && !statuses[step])).toEqual([]);
  });
});

/** Each language asks for another try in words of its own. */
const TRY_AGAIN = /again|try|nuevo|intent|réess|erneut|noch einmal|versuch|novamente|tente|المحاولة/i;

describe('an error, in every language', () => {
  test.each(['en', ...LANGUAGES])('%s asks for another try only where one can help', (language) => {
    const texts = readStrings(language, null);
    const asks = CODES.filter((code) => TRY_AGAIN.test(reportError(new PortalError(code), texts).message));

    expect(asks).toEqual(CODES.filter(isRetryable));
  });
});

describe('the language of an element', () => {
  test('is that of the page around it, through shadow roots', async () => {
    using _gateway = new FakeGateway();
    const around = document.body.appendChild(document.createElement('div'));
    around.lang = 'de-AT';
    const shadow = around.attachShadow({ mode: 'open' });
    const element = mount('portal-order-status', {});
    shadow.append(element);
    await element.updateComplete;

    expect([readLanguage(element), readScreen(element)]).toEqual(['de-AT', 'Noch kein Auftrag vorhanden.']);
  });

  test('may come after the elements, which speak English until then and say so', async () => {
    using _gateway = new FakeGateway();
    document.documentElement.lang = 'nl';
    const element = mount('portal-order-status', {});
    await element.updateComplete;
    const before = [readScreen(element), find(element, '.frame').lang];

    addLanguage('nl', { empty: 'Nog geen bestelling.' });
    await element.updateComplete;

    expect([before, [readScreen(element), find(element, '.frame').lang]]).toEqual([
      ['No order to show yet.', 'en'],
      ['Nog geen bestelling.', 'nl'],
    ]);
  });

  test('applies to an error on screen, also if it is added or changed after the error', async () => {
    using gateway = new FakeGateway();
    gateway.order = null;
    document.documentElement.lang = 'yy';
    const element = mountStatus(gateway);
    await nextEvent(element, 'portal-error');
    await element.updateComplete;
    const before = element.lastError?.message;

    addLanguage('yy', { errors: { NOT_FOUND: 'Ykke fundet.' } });
    await element.updateComplete;
    const added = readScreen(element);
    document.documentElement.lang = 'de';
    await vi.waitFor(() => expect(readScreen(element)).not.toBe(added));

    const { errors } = readStrings('de', null);
    expect([added, readScreen(element)]).toEqual(['Ykke fundet.', errors.NOT_FOUND]);
    expect([before, element.lastError?.message]).toEqual([
      mergeStrings().errors.NOT_FOUND,
      mergeStrings().errors.NOT_FOUND,
    ]);
  });

  test('says a status in its own words, and one it does not know in those of the gateway', async () => {
    using gateway = new FakeGateway();
    document.documentElement.lang = 'es';
    const element = mountStatus(gateway);
    await untilLabel(element, 'Transit customer');
    const known = readScreen(element);

    gateway.push('CHANGED', { ...kitAfter(4), status: wireStatus('COLLECTING_SAMPLE', 'by_drone') });
    await element.updateComplete;

    expect([known, readScreen(element)]).toEqual([
      'Kit de camino a usted Cuando llegue, siga las instrucciones del kit.',
      'By drone',
    ]);
  });

  test('leaves the last word to the host', async () => {
    using gateway = new FakeGateway();
    document.documentElement.lang = 'fr';
    const element = mountStatus(gateway, { strings: { next: { TRANSIT_CUSTOMER: 'Elle arrive.' } } });

    await untilLabel(element, 'Transit customer');

    expect(readScreen(element)).toBe('Kit en route vers vous Elle arrive.');
  });

  test.each(['en_US', '!', ''])('that is none, %j, takes nothing away', async (lang) => {
    using gateway = new FakeGateway();
    document.documentElement.lang = lang;
    gateway.order = wireOrder([['RECEIVED', 'ordered']]);
    const element = mountStatus(gateway, { status: 'steps' });

    await untilLabel(element, 'Ordered');

    expect(find(element, 'time').textContent).not.toBe('');
  });

  test('is English where the page names none, and the texts say so to screen readers', async () => {
    using gateway = new FakeGateway();
    document.documentElement.removeAttribute('lang');
    const element = mountStatus(gateway, {});

    await untilLabel(element, 'Transit customer');

    expect(find(element, '.frame').lang).toBe('en');
  });

  test('written from right to left, mirrors the steps and the arrow', async () => {
    using gateway = new FakeGateway();
    document.documentElement.lang = 'ar';
    document.documentElement.dir = 'rtl';
    const element = mountStatus(gateway, { status: 'steps' });
    await untilLabel(element, 'Transit customer');
    const launch = mount('portal-launch', { endpoint: gateway.endpoint });
    await launch.updateComplete;

    const [mark, name] = [find(element, '.mark'), find(element, '.name')].map((part) =>
      part.getBoundingClientRect(),
    );

    expect((mark?.left ?? 0) > (name?.left ?? 0)).toBe(true);
    expect(getComputedStyle(find(launch, '.away-icon')).transform).toBe('matrix(-1, 0, 0, 1, 0, 0)');
    expect(readScreen(launch)).toContain('فتح بوابة المريض');
  });
});
