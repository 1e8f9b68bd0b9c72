import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Embedding, launchPage, startEmbedding } from './support/embedding.ts';
import { readPage } from './support/recording.ts';
import { startTicketGateway } from './support/ticket-gateway.ts';
import { launchChromium, openVisit, type Report } from './support/visit.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium();
});

afterAll(() => browser.close());

function orderOf(embedding: Embedding) {
  return embedding.findOrder('collecting_sample.walk_in_test.appointment_scheduled');
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

  test('is ready, live and up to date again when the person comes back through the back/forward cache', async () => {
    await using embedding = await startEmbedding();
    const order = orderOf(embedding);
    const page = launchPage(embedding, order, { attributes: 'mode="redirect"' });
    await using visit = await openVisit({ browser, embedding }, page);
    await visit.page.getByText('Up to date').waitFor();
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
    await visit.page.getByText('Up to date').waitFor();

    expect(await visit.page.title()).toBe('persisted: true');
    expect(await visit.until(isEvent('portal-returned'))).toBeDefined();
    expect(
      await visit.page.getByRole('button', { name: 'Open patient portal' }).getAttribute('aria-disabled'),
    ).toBeNull();
  });
});

describe('mode="post"', () => {
  test('posts its ticket in a tab without opener, which the gateway sends on; the page never sees the address', async () => {
    await using embedding = await startEmbedding();
    const portalUrl = `${embedding.serviceUrl}/portal/secret-of-the-portal`;
    await using gateway = await startTicketGateway(portalUrl);
    const body = `<portal-launch mode="post" endpoint="${gateway.endpoint}"></portal-launch>`;
    await using visit = await openVisit(
      { browser, embedding },
      launchPage(embedding, orderOf(embedding), { body }),
      {
        // The page's policy names the real gateway.
        bypassCSP: true,
      },
    );

    const opening = visit.nextPortal();
    await visit.page.getByRole('button', { name: 'Open patient portal' }).click();
    const portal = await opening;

    expect(gateway.launches).toEqual([
      {
        body: 'ticket=ticket-once',
        origin: embedding.host.origin,
        contentType: 'application/x-www-form-urlencoded',
      },
    ]);
    expect(await portal.evaluate(() => [window.opener, document.referrer])).toEqual([null, '']);
    expect(
      [await readPage(visit.page), JSON.stringify(visit.reports)].filter((seen) =>
        /secret|ticket-/.test(seen),
      ),
    ).toEqual([]);
  });
});
