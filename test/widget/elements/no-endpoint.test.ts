import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ORDER_ID } from '../support/orders.ts';
import { mount, nextEvent, readScreen } from '../support/page.ts';
import { OpenedTabs } from '../support/tabs.ts';

/** Everything that the page sends while a test runs. */
const sent: string[] = [];
const { fetch, WebSocket } = window;

beforeEach(() => {
  sent.length = 0;
  window.fetch = async (input) => {
    sent.push(String(input));
    return Response.json({});
  };
  window.WebSocket = class {
    constructor(url: string) {
      sent.push(url);
    }
  } as unknown as typeof WebSocket;
});

afterEach(() => {
  Object.assign(window, { fetch, WebSocket });
  document.body.replaceChildren();
});

const tokenProvider = vi.fn(() => 'secret');

/** Of the whole file, because a page is warned once. */
const warnings: string[] = [];
vi.spyOn(console, 'warn').mockImplementation((text) => {
  if (!String(text).startsWith('Lit ')) warnings.push(String(text));
});

describe('an element without an endpoint', () => {
  test.each([null, '', '  '])(
    '(%j) sends nothing when the portal is launched, and says that it cannot',
    async (endpoint) => {
      using tabs = new OpenedTabs();
      const element = mount('portal-launch', { endpoint, tokenProvider });
      await element.updateComplete;

      await element.launch();
      await element.updateComplete;

      expect([element.lastError?.code, element.lastError?.retryable, tabs.newest.closed]).toEqual([
        'ENDPOINT_INVALID',
        false,
        true,
      ]);
      expect([sent, tokenProvider.mock.calls]).toEqual([[], []]);
    },
  );

  test('sends nothing for a status, and does not claim to be loading for ever', async () => {
    const element = mount('portal-order-status', { orderId: ORDER_ID, live: 'always', tokenProvider });

    const { detail } = await nextEvent(element, 'portal-error');
    await element.updateComplete;

    expect([detail.code, element.phase, readScreen(element)]).toEqual([
      'ENDPOINT_INVALID',
      'failed',
      detail.message,
    ]);
    expect([sent, tokenProvider.mock.calls]).toEqual([[], []]);
  });

  test('says so once on the console, however many elements there are', async () => {
    using _tabs = new OpenedTabs();
    const elements = [mount('portal-launch', { tokenProvider }), mount('portal-launch', { tokenProvider })];

    for (const element of elements) await element.launch();
    await elements[0]?.launch();

    expect(warnings).toEqual([expect.stringContaining('ENDPOINT_INVALID')]);
  });
});
