import { afterEach, describe, expect, test, vi } from 'vitest';
import { FakeGateway } from '../support/fake-gateway.ts';
import { find, readScreen } from '../support/page.ts';
import { complete, mountResults, untilPhase } from '../support/results.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the report', () => {
  const watchLinks = () => {
    const opened: HTMLAnchorElement[] = [];
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
      opened.push(this);
    });
    return opened;
  };

  test('is downloaded by a ticket that is used once; a second press asks for another', async () => {
    using gateway = new FakeGateway();
    const opened = watchLinks();
    gateway.order = complete();
    const element = mountResults(gateway);
    await untilPhase(element, 'ready');
    const button = find(element, 'button.download');

    button.click();
    button.click();
    await vi.waitFor(() => expect(readScreen(element)).toContain('The report is being downloaded.'));
    button.click();
    await vi.waitFor(() => expect(opened).toHaveLength(2));

    const url = new URL('/api/documents/ticket-1', gateway.endpoint).href;
    expect(opened.map(({ href, rel, target }) => [href, rel, target])).toEqual([
      [url, 'noreferrer', '_self'],
      [url, 'noreferrer', '_self'],
    ]);
    expect(gateway.requests.filter(({ operation }) => operation === 'PortalDocument')).toHaveLength(2);
    expect(element.shadowRoot?.querySelector('a')).toBeNull();
  });

  test.each([
    ['Mozilla/5.0 (Linux; Android 15; Pixel 9; wv) Chrome/140.0.0.0 Mobile Safari/537.36', false],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148', true],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0', true],
  ])('is a download that an app sees before it is requested (%s)', async (userAgent, isDownload) => {
    using gateway = new FakeGateway();
    vi.spyOn(navigator, 'userAgent', 'get').mockReturnValue(userAgent);
    const opened = watchLinks();
    gateway.order = complete();
    const element = mountResults(gateway);
    await untilPhase(element, 'ready');

    find(element, 'button.download').click();
    await vi.waitFor(() => expect(opened).toHaveLength(1));

    expect(opened[0]?.hasAttribute('download')).toBe(isDownload);
  });

  test.each([
    [{ __typename: 'DocumentNotReady' }, 'The report is not ready yet.', null],
    [{ __typename: 'NotFound' }, 'The report could not be fetched.', 'NOT_FOUND'],
    [
      { __typename: 'DocumentTicket', url: 'https://elsewhere.test/documents/1' },
      'could not be fetched',
      'URL_REJECTED',
    ],
    [{ __typename: 'DocumentTicket', url: 'javascript:alert(1)' }, 'could not be fetched', 'URL_REJECTED'],
  ])('that cannot be had (%j) is reported beside the button', async (answer, text, code) => {
    using gateway = new FakeGateway();
    const opened = watchLinks();
    gateway.order = complete();
    gateway.documentResult = answer;
    const element = mountResults(gateway);
    await untilPhase(element, 'ready');

    find(element, 'button.download').click();

    await vi.waitFor(() => expect(readScreen(element)).toContain(text));
    const requestId = `request-${gateway.requests.length}`;
    expect(element.lastError ?? null).toEqual(code && expect.objectContaining({ code, requestId }));
    expect(opened).toEqual([]);
  });

  test('that the sign-in no longer allows asks to sign in again, and not only to try again', async () => {
    using gateway = new FakeGateway();
    gateway.order = complete();
    const element = mountResults(gateway);
    await untilPhase(element, 'ready');
    gateway.refusedTokens.add('token');

    find(element, 'button.download').click();
    await vi.waitFor(() => expect(element.lastError?.code).toBe('UNAUTHENTICATED'));
    await element.updateComplete;

    expect(find(element, '.report .note').textContent).toBe(
      'Your sign-in has ended, or may not show this. Sign in again, then try again.',
    );
  });

  test('of one person is not downloaded after a change to another person', async () => {
    using gateway = new FakeGateway();
    const opened = watchLinks();
    gateway.order = complete();
    const { promise, resolve } = Promise.withResolvers<unknown>();
    gateway.documentResult = promise;
    const element = mountResults(gateway);
    await untilPhase(element, 'ready');
    find(element, 'button.download').click();
    await vi.waitFor(() => expect(gateway.requests.at(-1)?.operation).toBe('PortalDocument'));

    element.tokenProvider = () => 'other';
    await vi.waitFor(() => expect(gateway.requests.at(-1)?.token).toBe('other'));
    await untilPhase(element, 'ready');
    find(element, 'button.download').click();
    resolve({ __typename: 'DocumentTicket', url: '/documents/ticket-1' });
    await vi.waitFor(() => expect(readScreen(element)).toContain('The report is being downloaded.'));

    expect(gateway.requests.slice(-1).map(({ operation, token }) => [operation, token])).toEqual([
      ['PortalDocument', 'other'],
    ]);
    expect(opened).toHaveLength(1);
  });
});
