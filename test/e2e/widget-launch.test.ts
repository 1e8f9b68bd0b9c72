import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Embedding, launchPage, startEmbedding } from './support/embedding.ts';
import { readPage } from './support/recording.ts';
import { connectToChromium, openVisit, type Report, type Visit } from './support/visit.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await connectToChromium();
});

afterAll(() => browser.close());

function namesOf(reports: readonly Report[]): readonly string[] {
  return reports.flatMap((report) =>
    report.kind === 'event' && !['portal-status', 'portal-connection'].includes(report.name)
      ? report.name
      : [],
  );
}

const isEvent = (name: string) => (report: Report) => report.kind === 'event' && report.name === name;

/** The element in the page and the part of it that have the focus. */
function readFocus({ page }: Visit): Promise<readonly (string | undefined)[]> {
  return page.evaluate(() => {
    const element = document.activeElement;
    return [element?.localName, element?.shadowRoot?.activeElement?.localName];
  });
}

function orderOf(embedding: Embedding) {
  return embedding.findOrder('collecting_sample.walk_in_test.appointment_scheduled');
}

describe('a click', () => {
  test('opens the portal in a tab of its own, with neither opener nor Referer', async () => {
    await using embedding = await startEmbedding();
    const order = orderOf(embedding);
    await using visit = await openVisit({ browser, embedding }, launchPage(embedding, order));

    const opening = visit.nextPortal();
    await visit.page.getByRole('button', { name: 'Open patient portal' }).click();
    const portal = await opening;

    await portal.getByText(order.orderId.slice(0, 8)).waitFor();
    expect(await portal.evaluate(() => [window.opener, document.referrer, history.length])).toEqual([
      null,
      '',
      1,
    ]);
    expect(await embedding.readPortalVisits()).toEqual([
      { path: new URL(portal.url()).pathname, referer: null, secFetchSite: 'cross-site' },
    ]);
    expect(namesOf(visit.reports)).toEqual(['portal-before-launch', 'portal-launched']);
    expect(await readFocus(visit)).toEqual(['portal-launch', 'button']);
  });

  test('leaves the address nowhere in the host page', async () => {
    await using embedding = await startEmbedding();
    await using visit = await openVisit({ browser, embedding }, launchPage(embedding, orderOf(embedding)));

    const opening = visit.nextPortal();
    await visit.page.getByRole('button').click();
    const portal = await opening;
    await visit.until(isEvent('portal-launched'));

    const secret = new URL(portal.url()).pathname;
    expect(
      [JSON.stringify(visit.reports), await readPage(visit.page)].filter((text) => text.includes(secret)),
    ).toEqual([]);
    // The gateway's answer, and the tab that went there: nothing else, no console and no page.
    await visit.recording.settle();
    expect(visit.recording.placesOf(secret).toSorted()).toEqual(['address', 'response body']);
  });

  test('still opens the portal when the token takes longer than the browser remembers the click', async () => {
    await using embedding = await startEmbedding();
    const late = launchPage(embedding, orderOf(embedding), { status: 'none', tokenDelayMs: 6500 });
    await using visit = await openVisit({ browser, embedding }, late);

    const opening = visit.nextPortal();
    await visit.page.getByRole('button').click();
    const portal = await opening;

    expect(await visit.until(isEvent('portal-launched'))).toMatchObject({ isActive: false });
    expect(await portal.evaluate(() => [window.opener, document.referrer])).toEqual([null, '']);
    expect(await embedding.readPortalVisits()).toMatchObject([{ referer: null }]);
  });
});

describe('where the browser holds the tab back', () => {
  const byItself = { status: 'none', launchesAtLoad: true };

  test('the button becomes a link that opens the portal once, with neither opener nor Referer', async () => {
    await using embedding = await startEmbedding();
    const page = launchPage(embedding, orderOf(embedding), byItself);
    await using visit = await openVisit({ browser, embedding }, page);
    const link = visit.page.getByRole('link', { name: 'Open in a new tab' });
    await link.waitFor();
    expect(await visit.until(({ kind }) => kind === 'launch-at-load')).toMatchObject({ isActive: false });
    expect(await readFocus(visit)).toEqual(['portal-launch', 'a']);
    expect([namesOf(visit.reports), visit.page.context().pages().length]).toEqual([
      ['portal-before-launch', 'portal-blocked'],
      1,
    ]);

    const opening = visit.nextPortal();
    await link.click();
    const portal = await opening;

    expect(await portal.evaluate(() => [window.opener, document.referrer])).toEqual([null, '']);
    expect(await embedding.readPortalVisits()).toMatchObject([{ referer: null, secFetchSite: 'cross-site' }]);
    await visit.page.getByRole('button', { name: 'Open patient portal' }).waitFor();
    expect(await readFocus(visit)).toEqual(['portal-launch', 'button']);
    expect(await readPage(visit.page)).not.toContain(new URL(portal.url()).pathname);
    expect(namesOf(visit.reports)).toEqual(['portal-before-launch', 'portal-blocked', 'portal-launched']);
  });

  test('the link is gone after a minute, and its address with it', async () => {
    await using embedding = await startEmbedding();
    const page = launchPage(embedding, orderOf(embedding), byItself);
    await using visit = await openVisit({ browser, embedding }, page, {
      prepare: (tab) => tab.clock.install(),
    });
    const href = await visit.page.getByRole('link').getAttribute('href');

    await visit.page.clock.fastForward(50_000);
    expect(await visit.page.getByRole('link').count()).toBe(1);
    await visit.page.clock.fastForward(10_000);

    await visit.page.getByRole('button', { name: 'Open patient portal' }).waitFor();
    expect(href).toMatch(`${embedding.serviceUrl}/portal/`);
    expect(await readPage(visit.page)).not.toContain(href);
    expect(await embedding.readPortalVisits()).toEqual([]);
  });
});
