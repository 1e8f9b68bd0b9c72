import axe from 'axe-core';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gatewayKey, serviceKey } from '../support/lab.ts';
import { type Embedding, launchPage, startEmbedding } from './support/embedding.ts';
import { connectToChromium, connectToHeadlessShell, openVisit, type Visit } from './support/visit.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await connectToHeadlessShell();
});

afterAll(() => browser.close());

function orderOf(embedding: Embedding) {
  return embedding.findOrder('collecting_sample.walk_in_test.appointment_scheduled');
}

/** From the first status to the portal, and a change on the way. */
async function liveThrough(visit: Visit, embedding: Embedding): Promise<Page> {
  const { page } = visit;
  await page.getByText('Appointment scheduled').waitFor();
  await embedding.advance(orderOf(embedding).orderId);
  await page.getByText('Some results ready').waitFor();
  const opening = visit.nextPortal();
  await page.getByRole('button', { name: 'Open patient portal' }).click();
  return opening;
}

describe('a page with the strictest policy', () => {
  test.each(['gateway', 'self'] as const)('is never broken by the module from the %s', async (policy) => {
    await using embedding = await startEmbedding();
    const page = launchPage(embedding, orderOf(embedding), { policy, status: 'steps' });
    await using visit = await openVisit({ browser, embedding }, page);

    await liveThrough(visit, embedding);

    expect(visit.reports.filter(({ kind }) => kind === 'violation')).toEqual([]);
    expect(visit.recording.complaints).toEqual([]);
  });

  test.each(['gateway', 'self'] as const)(
    'is not broken by a tab held back and a launch refused, with the module from the %s',
    async (policy) => {
      await using browser = await connectToChromium();
      await using embedding = await startEmbedding();
      const order = orderOf(embedding);
      const page = launchPage(embedding, order, { policy, launchesAtLoad: true });
      await using visit = await openVisit({ browser, embedding }, page);

      await visit.page.getByRole('link', { name: 'Open in a new tab' }).click();
      embedding.sandbox.faults.add({ path: /create_portal_url/, effect: { kind: 'featureNotEnabled' } });
      await visit.page.getByRole('button', { name: 'Open patient portal' }).click();
      await visit.page
        .getByText('The patient portal is not available here. Ask support for your results.')
        .waitFor();

      expect(visit.reports.filter(({ kind }) => kind === 'violation')).toEqual([]);
      expect(visit.recording.complaints).toEqual([]);
    },
  );

  test('reports a policy that does break it: on the console while the page loads, later in an event too', async () => {
    await using embedding = await startEmbedding();
    const page = launchPage(embedding, orderOf(embedding));
    const broken = { ...page, body: `${page.body}<p style="color: red">Inline</p>` };
    await using visit = await openVisit({ browser, embedding }, broken);
    expect(visit.recording.complaints).toEqual([expect.stringContaining('inline style')]);

    await visit.page.evaluate(() => document.body.setAttribute('style', 'color: red'));

    expect(await visit.until(({ kind }) => kind === 'violation')).toMatchObject({
      directive: 'style-src-attr',
    });
    expect(visit.recording.complaints).toHaveLength(2);
  });
});

describe('axe finds nothing wrong with', () => {
  /** What axe finds in the host page, and what it could not decide. */
  async function audit({ page }: Visit): Promise<readonly string[]> {
    await page.addScriptTag({ content: axe.source });
    const { violations, incomplete } = await page.evaluate<axe.AxeResults>('axe.run()');
    return [...violations, ...incomplete].map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`,
    );
  }

  // axe itself is an inline script.
  const options = { bypassCSP: true };

  test.each(['text', 'steps'])('an order as %s', async (status) => {
    await using embedding = await startEmbedding();
    const page = launchPage(embedding, orderOf(embedding), { status });
    await using visit = await openVisit({ browser, embedding }, page, options);
    await visit.page.getByText('Appointment scheduled').waitFor();

    expect(await audit(visit)).toEqual([]);
  });

  test('a refused launch', async () => {
    await using embedding = await startEmbedding();
    embedding.sandbox.faults.add({ path: /create_portal_url/, effect: { kind: 'serverError' } });
    await using visit = await openVisit(
      { browser, embedding },
      launchPage(embedding, orderOf(embedding)),
      options,
    );
    await visit.page.getByRole('button').click();
    await visit.page.locator('[part~=error]').waitFor();

    expect(await audit(visit)).toEqual([]);
  });

  test('an order that is not there', async () => {
    await using embedding = await startEmbedding();
    const page = launchPage(embedding, { ...orderOf(embedding), orderId: crypto.randomUUID() });
    await using visit = await openVisit({ browser, embedding }, page, options);
    await visit.page
      .getByText('This order could not be found. If it should be here, contact support.')
      .waitFor();

    expect(await audit(visit)).toEqual([]);
  });

  test('a tab held back', async () => {
    await using browser = await connectToChromium();
    await using embedding = await startEmbedding();
    const page = launchPage(embedding, orderOf(embedding), { launchesAtLoad: true });
    await using visit = await openVisit({ browser, embedding }, page, options);
    await visit.page.getByRole('link', { name: 'Open in a new tab' }).waitFor();

    expect(await audit(visit)).toEqual([]);
  });
});

describe('the keys of the servers', () => {
  test('are in nothing the browser sends, receives or shows', async () => {
    await using embedding = await startEmbedding();
    const token = await embedding.mintToken(orderOf(embedding).userId);
    const page = launchPage(embedding, orderOf(embedding), { mintToken: async () => token });
    await using visit = await openVisit({ browser, embedding }, page);

    await liveThrough(visit, embedding);
    await visit.recording.settle();

    // Where the viewer token is found, a key would be found as well.
    const { placesOf } = visit.recording;
    expect(placesOf(token.token).toSorted()).toEqual(['request header', 'response body', 'socket sent']);
    expect(placesOf('"orderUpdates"')).toContain('socket received');
    expect(placesOf('Sec-WebSocket-Accept')).toContain('socket handshake');
    expect(placesOf('content-security-policy')).toContain('response header');
    expect(placesOf('<portal-launch')).toContain('page');
    expect(placesOf('createPortalUrl')).toContain('request body');
    expect([placesOf(serviceKey), placesOf(gatewayKey)]).toEqual([[], []]);
  });
});

describe('a link in the element', () => {
  const inside = '<a slot="fallback" href="/portal-help">Ask for your portal link</a>';

  test('is what a browser without scripts offers', async () => {
    await using embedding = await startEmbedding();
    const page = launchPage(embedding, orderOf(embedding), { inside });
    await using visit = await openVisit({ browser, embedding }, page, { javaScriptEnabled: false });

    await visit.page.getByRole('link', { name: 'Ask for your portal link' }).click();

    expect(visit.page.url()).toBe(`${embedding.host.origin}/portal-help`);
  });

  test('gives way to the button where there are scripts', async () => {
    await using embedding = await startEmbedding();
    const page = launchPage(embedding, orderOf(embedding), { inside });
    await using visit = await openVisit({ browser, embedding }, page);

    await visit.page.getByRole('button', { name: 'Open patient portal' }).waitFor();

    expect(await visit.page.getByRole('link').count()).toBe(0);
  });
});
