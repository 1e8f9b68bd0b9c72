import axe from 'axe-core';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Embedding, launchPage, startEmbedding } from './support/embedding.ts';
import { readPage } from './support/recording.ts';
import { connectToChromium, openVisit, type Report, type Visit } from './support/visit.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await connectToChromium();
});

afterAll(() => browser.close());

function orderOf(embedding: Embedding) {
  return embedding.findOrder('collecting_sample.walk_in_test.appointment_scheduled');
}

/** What axe finds in a page whose policy lets no script in. */
async function auditPage(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const { violations, incomplete } = await page.evaluate<axe.AxeResults>('axe.run()');
  return [...violations, ...incomplete].map(({ id }) => id);
}

const isEvent = (name: string) => (report: Report) => report.kind === 'event' && report.name === name;

describe('mode="redirect"', () => {
  test('goes to the portal in this tab, without a Referer', async () => {
    await using embedding = await startEmbedding();
    const page = launchPage(embedding, orderOf(embedding), { attributes: 'mode="redirect"' });
    await using visit = await openVisit({ browser, embedding }, page);

    await visit.page.getByRole('button', { name: 'Open patient portal' }).click();
    await visit.page.waitForURL(`${embedding.serviceUrl}/**`);

    expect(visit.page.context().pages()).toHaveLength(1);
    expect(await visit.page.evaluate(() => document.referrer)).toBe('');
    expect(await embedding.readPortalVisits()).toMatchObject([{ referer: null, secFetchSite: 'cross-site' }]);
  });

  test('stays in this tab on a page whose links open another one', async () => {
    await using embedding = await startEmbedding();
    const page = launchPage(embedding, orderOf(embedding), { attributes: 'mode="redirect"' });
    const body = `<base target="_blank">${page.body}`;
    await using visit = await openVisit({ browser, embedding }, { ...page, body });

    await visit.page.getByRole('button', { name: 'Open patient portal' }).click();
    await visit.page.waitForURL(`${embedding.serviceUrl}/**`);

    expect(visit.page.context().pages()).toHaveLength(1);
  });

  test('is ready, live and up to date again when the person comes back through the back/forward cache', async () => {
    await using embedding = await startEmbedding();
    const order = orderOf(embedding);
    const page = launchPage(embedding, order, { attributes: 'mode="redirect"' });
    await using visit = await openVisit({ browser, embedding }, page);
    await visit.page.locator('[part~=live]').waitFor();
    await visit.page.evaluate(() => {
      addEventListener('pageshow', ({ persisted }) => {
        document.title = `persisted: ${persisted}`;
      });
    });
    await visit.page.getByRole('button', { name: 'Open patient portal' }).click();
    await visit.page.waitForURL(`${embedding.serviceUrl}/**`);
    await embedding.advance(order.orderId);

    // From the cache there is no load to wait for.
    await visit.page.goBack({ waitUntil: 'commit' });
    await visit.page.getByText('Some results ready').waitFor();
    await visit.page.locator('[part~=live]').waitFor();

    expect(await visit.page.title()).toBe('persisted: true');
    expect(await visit.until(isEvent('portal-returned'))).toBeDefined();
    expect(
      await visit.page.getByRole('button', { name: 'Open patient portal' }).getAttribute('aria-disabled'),
    ).toBeNull();
  });
});

describe('in the WebView of an app', () => {
  const webViews = {
    Android:
      'Mozilla/5.0 (Linux; Android 15; Pixel 9; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/140.0.0.0 Mobile Safari/537.36',
    iOS: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
    iPadOS: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)',
  };
  const cases = Object.entries(webViews).flatMap(([system, userAgent]) =>
    ['tab', 'post'].map((mode) => ({ system, userAgent, mode })),
  );

  test.each(cases)('mode="$mode" goes to the portal in the only window, on $system', async (each) => {
    await using embedding = await startEmbedding();
    const page = launchPage(embedding, orderOf(embedding), { attributes: `mode="${each.mode}"` });
    await using visit = await openVisit({ browser, embedding }, page, { userAgent: each.userAgent });

    await visit.page.getByRole('button', { name: 'Open patient portal' }).click();
    await visit.page.waitForURL(`${embedding.serviceUrl}/**`);

    expect(visit.page.context().pages()).toHaveLength(1);
    expect(await visit.page.evaluate(() => document.referrer)).toBe('');
  });

  test('mode="post" leaves nothing in a page that sends no Referer, where an app opens the address elsewhere', async () => {
    await using embedding = await startEmbedding();
    const page = launchPage(embedding, orderOf(embedding), { attributes: 'mode="post"' });
    const body = `<meta name="referrer" content="no-referrer">${page.body}`;
    const options = { userAgent: webViews.Android };
    await using visit = await openVisit({ browser, embedding }, { ...page, body }, options);
    const address = `${embedding.gatewayUrl}/launch`;
    const sent = visit.page.waitForRequest(address);
    // The page stays after such an answer.
    await visit.page.route(address, (route) => route.fulfill({ status: 204 }));

    await visit.page.getByRole('button', { name: 'Open patient portal' }).click();
    const { origin } = await (await sent).allHeaders();
    const left = visit.page.locator('meta[name="referrer"], form, iframe');

    expect(origin).toBe(embedding.host.origin);
    await vi.waitFor(async () => expect(await left.count()).toBe(1));
  });
});

describe('mode="post"', () => {
  const post = { attributes: 'mode="post"' };
  const open = (visit: Visit) => visit.page.getByRole('button', { name: 'Open patient portal' }).click();

  /** The one ticket that the page was given, and the one address that the gateway sent it to. */
  async function secretsOf({ recording }: Visit) {
    await recording.settle();
    const texts = (where: string) => recording.seen.filter((each) => each.where === where);
    const posted = texts('request body').find(({ text }) => text.startsWith('ticket='));
    const sentOn = texts('response header').find(({ text }) => text.includes('"location"'));
    const ticket = posted?.text.slice('ticket='.length) ?? '';
    return { ticket, link: new URL(JSON.parse(sentOn?.text ?? '{}').location) };
  }

  test('opens the portal in a tab without opener and Referer, through the gateway', async () => {
    await using embedding = await startEmbedding();
    await using visit = await openVisit(
      { browser, embedding },
      launchPage(embedding, orderOf(embedding), post),
    );

    const opening = visit.nextPortal();
    await open(visit);
    const portal = await opening;

    await portal.getByText('You are signed in.').waitFor();
    expect(await portal.evaluate(() => [window.opener, document.referrer])).toEqual([null, '']);
    expect(await embedding.readPortalVisits()).toMatchObject([{ referer: null, secFetchSite: 'cross-site' }]);
    expect(await visit.until(isEvent('portal-launched'))).toBeDefined();
    expect(visit.reports.filter(({ kind }) => kind === 'violation')).toEqual([]);
    expect(visit.recording.complaints).toEqual([]);
  });

  test('leaves ticket and address nowhere: in no page, event, console or storage, in no log and no metric', async () => {
    await using embedding = await startEmbedding();
    await using visit = await openVisit(
      { browser, embedding },
      launchPage(embedding, orderOf(embedding), post),
    );
    const opening = visit.nextPortal();
    await open(visit);
    await opening;

    const { ticket, link } = await secretsOf(visit);
    const code = link.pathname.split('/').at(-1) ?? '';
    expect([ticket, code]).toEqual([
      expect.stringMatching(/^[\w-]{43}$/),
      expect.stringMatching(/^[\w-]{43}$/),
    ]);
    const { placesOf } = visit.recording;
    expect(placesOf(ticket).toSorted()).toEqual(['request body', 'response body']);
    expect(placesOf(code).toSorted()).toEqual(['address', 'response header']);
    const metrics = await (await fetch(`${embedding.gatewayUrl}/metrics`)).text();
    const entries = await visit.page.evaluate(() => performance.getEntries().map(({ name }) => name));
    const stored = JSON.stringify(await visit.page.context().storageState());
    const written = [await readPage(visit.page), JSON.stringify(visit.reports), stored, ...entries];
    const found = [...written, ...embedding.logged, metrics].filter((text) =>
      [ticket, code].some((secret) => text.includes(secret)),
    );
    expect(found).toEqual([]);
  });

  test('runs under a form-action that names gateway and portal, and not without the portal', async () => {
    await using embedding = await startEmbedding();
    const { gatewayUrl, serviceUrl } = embedding;
    const pageWith = (postsTo: string) => launchPage(embedding, orderOf(embedding), { ...post, postsTo });
    await using visit = await openVisit({ browser, embedding }, pageWith(`${gatewayUrl} ${serviceUrl}`));
    const opening = visit.nextPortal();
    await open(visit);
    await opening;
    expect(visit.recording.complaints).toEqual([]);

    await using narrow = await openVisit({ browser, embedding }, pageWith(gatewayUrl));
    const complaining = narrow.page
      .context()
      .waitForEvent('console', (line) => /form-action/.test(line.text()));
    await open(narrow);
    await complaining;
    expect(await embedding.readPortalVisits()).toHaveLength(1);
  });

  test('works on a page that sends no Referer at all', async () => {
    await using embedding = await startEmbedding();
    const page = launchPage(embedding, orderOf(embedding), { ...post, referrerPolicy: 'no-referrer' });
    await using visit = await openVisit({ browser, embedding }, page);
    const opening = visit.nextPortal();
    await open(visit);
    await opening;
    expect(await embedding.readPortalVisits()).toMatchObject([{ referer: null }]);
  });

  test.each(['light', 'dark'] as const)(
    'ends in a page in plain words, %s, when the portal cannot be reached',
    async (colorScheme) => {
      await using embedding = await startEmbedding();
      const page = launchPage(embedding, orderOf(embedding), post);
      await using visit = await openVisit({ browser, embedding }, page, { colorScheme });
      embedding.sandbox.faults.add({ path: /create_portal_url/, effect: { kind: 'serverError' } });

      const opening = visit.page.context().waitForEvent('page');
      await open(visit);
      const tab = await opening;
      await tab.getByRole('heading', { name: 'The portal cannot be reached' }).waitFor();

      expect(tab.url()).toBe(`${embedding.gatewayUrl}/launch`);
      expect(await tab.title()).toBe('The portal cannot be reached');
      expect(await auditPage(tab)).toEqual([]);
      expect(visit.recording.complaints.filter((line) => !line.includes('502'))).toEqual([]);
    },
  );
});
