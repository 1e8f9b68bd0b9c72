import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Embedding, inGateway, startEmbedding } from './support/embedding.ts';
import type { HostPage } from './support/host.ts';
import { connectToHeadlessShell, openVisit, type Report, type Visit } from './support/visit.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await connectToHeadlessShell();
});

afterAll(() => browser.close());

interface Shown {
  readonly privacy?: 'minimal' | 'full';
  readonly scopes?: readonly string[];
}

const reader = ['read:orders', 'read:results'];

/** A page with the results of an order; one tag loads everything. */
function resultsPage(
  embedding: Embedding,
  order: { readonly orderId: string; readonly userId: string },
  { privacy = 'full', scopes = reader }: Shown = {},
): HostPage {
  const markup = `<portal-results order-id="${order.orderId}" privacy="${privacy}"></portal-results>`;
  return {
    head: `<script type="module" src="${embedding.gatewayUrl}/widget/portal-results.js"></script>`,
    body: inGateway(embedding, markup),
    mintToken: () => embedding.mintToken(order.userId, { ttlSeconds: 600, scopes }),
  };
}

const open = (embedding: Embedding, page: HostPage) => openVisit({ browser, embedding }, page);
const untilText = ({ page }: Visit, text: string) =>
  page.locator('portal-results').getByText(text).first().waitFor();
const corrected = (embedding: Embedding) => embedding.findOrder('completed.at_home_phlebotomy.corrected');
const violationsOf = ({ reports }: Visit) => reports.filter(({ kind }) => kind === 'violation');
const isError = (report: Report) => report.kind === 'event' && report.name === 'portal-error';

describe('the results of an order on a strict page', () => {
  test('come while the order is shown: none, some, all', async () => {
    await using embedding = await startEmbedding();
    const order = embedding.findOrder('collecting_sample.walk_in_test.appointment_scheduled');
    await using visit = await open(embedding, resultsPage(embedding, order));
    await untilText(visit, 'There are no results yet.');

    await embedding.advance(order.orderId);
    await untilText(visit, 'More results are still to come.');
    const some = await visit.page.locator('[part=biomarker]').count();
    await embedding.advance(order.orderId);
    await untilText(visit, 'All results are here.');

    expect(some).toBeGreaterThan(0);
    expect(await visit.page.locator('[part=biomarker]').count()).toBeGreaterThan(some);
    expect(violationsOf(visit)).toEqual([]);
  });

  test('are shown by panel, with words, bounds and remarks, and with the laboratory', async () => {
    await using embedding = await startEmbedding();
    await using visit = await open(embedding, resultsPage(embedding, corrected(embedding)));
    await untilText(visit, 'The laboratory has corrected these results.');

    const shown = await visit.page
      .locator('portal-results')
      .evaluate(({ shadowRoot }) =>
        [...(shadowRoot?.querySelectorAll('caption') ?? [])].map(({ textContent }) => textContent),
      );
    expect(shown).toEqual([
      'Lipid Panel',
      'Complete Blood Count',
      'Kidney Function',
      'Urinalysis',
      'Single tests',
    ]);
    for (const text of [
      '>90',
      'Positive',
      'No cells were seen under the microscope.',
      '1 Example Plaza',
      'CLIA',
    ])
      await untilText(visit, text);
    expect(visit.reports.filter(isError)).toEqual([]);
  });

  test('never reach a page with minimal privacy', async () => {
    await using embedding = await startEmbedding();
    const page = resultsPage(embedding, corrected(embedding), { privacy: 'minimal' });
    await using visit = await open(embedding, page);
    await untilText(visit, 'Your results are here.');
    await visit.recording.settle();

    expect(visit.recording.placesOf('resultMetadata')).not.toEqual([]);
    for (const text of ['Cholesterol', 'mg/dL', 'Example Diagnostics'])
      expect(visit.recording.placesOf(text)).toEqual([]);
  });
});

test('a token without read:results shows nothing, and the page says why', async () => {
  await using embedding = await startEmbedding();
  const page = resultsPage(embedding, corrected(embedding), { scopes: ['read:orders'] });
  await using visit = await open(embedding, page);

  expect(await visit.until(isError)).toMatchObject({ detail: { code: 'SCOPE_MISSING', retryable: false } });
  await untilText(visit, 'This page has no permission to show your results.');
  expect(
    visit.reports.flatMap((report) => (report.kind === 'token-asked' ? [[report.reason, report.scope]] : [])),
  ).toEqual([
    ['initial', 'status'],
    ['rejected', 'results'],
  ]);
});

test('the report is a PDF, downloaded by a ticket that opens it once, and the page stays', async () => {
  await using embedding = await startEmbedding();
  await using visit = await open(embedding, resultsPage(embedding, corrected(embedding)));
  const { page } = visit;
  await untilText(visit, 'All results are here.');
  const address = page.url();

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download the report (PDF)' }).click(),
  ]);

  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString('latin1').slice(0, 8)).toBe('%PDF-1.4');
  expect(download.suggestedFilename()).toBe('result.pdf');
  await untilText(visit, 'The report is being downloaded.');
  expect(page.url()).toBe(address);
  expect((await fetch(download.url())).status).toBe(404);
});
