import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Embedding, inGateway, launchPage, startEmbedding } from './support/embedding.ts';
import type { ViewerToken } from './support/host.ts';
import { readPage } from './support/recording.ts';
import { connectToHeadlessShell, openVisit, type Report, type Visit } from './support/visit.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await connectToHeadlessShell();
});

afterAll(() => browser.close());

const isError = (code: string) => (report: Report) =>
  report.kind === 'event' && report.name === 'portal-error' && report.detail.code === code;

/** Clicks, and gives the one tab that is left when the launch has failed. */
async function failToLaunch(visit: Visit): Promise<readonly string[]> {
  const opening = visit.page.context().waitForEvent('page');
  await visit.page.getByRole('button', { name: 'Open patient portal' }).click();
  const tab = await opening;
  if (!tab.isClosed()) await tab.waitForEvent('close');
  return visit.page
    .context()
    .pages()
    .map((page) => page.url());
}

/** Everything that came to the browser from the gateway about orders. */
function findData({ recording, reports }: Visit): readonly string[] {
  const answers = recording.seen
    .filter(({ where }) => ['response body', 'socket received'].includes(where))
    .map(({ text }) => text);
  return [...answers, JSON.stringify(reports)].filter((text) => /"(raw|stage|label)":"/.test(text));
}

/** Where the ids of the requests that failed with this code were seen, oldest first; null for an error that names none. */
function placesOfRequests({ reports, recording }: Visit, code: string) {
  return reports
    .filter((report) => report.kind === 'event')
    .filter(isError(code))
    .map(({ detail: { requestId } }) => requestId && recording.placesOf(requestId));
}

/** A token whose payload was rewritten to name another user, under the signature it had. */
function forge({ token, expiresAt }: ViewerToken, userId: string): ViewerToken {
  const [header, payload = '', signature] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const forged = Buffer.from(JSON.stringify({ ...claims, sub: userId })).toString('base64url');
  return { token: [header, forged, signature].join('.'), expiresAt };
}

/** An order, and a user it does not belong to. */
function findStranger(embedding: Embedding) {
  const order = embedding.findOrder('collecting_sample.walk_in_test.appointment_scheduled');
  const stranger = embedding.sandbox
    .users()
    .find(({ userId, hasDemographics }) => hasDemographics && userId !== order.userId);
  return { order, strangerId: stranger?.userId ?? '' };
}

describe('the gateway refuses', () => {
  test('a page of an origin it does not know: NETWORK, and nothing of the order', async () => {
    await using embedding = await startEmbedding();
    const { order } = findStranger(embedding);
    await using visit = await openVisit({ browser, embedding }, launchPage(embedding, order), {
      fromStrangeOrigin: true,
    });

    expect(await failToLaunch(visit)).toEqual([visit.page.url()]);
    await visit.page
      .getByText('There is no connection right now. Check your internet, then try again.')
      // The status says it too, in its own place.
      .first()
      .waitFor();

    expect(await visit.until(isError('NETWORK'))).toMatchObject({ detail: { retryable: true } });
    await visit.recording.settle();
    expect([findData(visit), await embedding.readPortalVisits()]).toEqual([[], []]);
  });

  test('a forged token: UNAUTHENTICATED after one new try, and nothing of the order', async () => {
    await using embedding = await startEmbedding();
    const { order, strangerId } = findStranger(embedding);
    const page = launchPage(embedding, order, {
      mintToken: async () => forge(await embedding.mintToken(strangerId), order.userId),
    });
    await using visit = await openVisit({ browser, embedding }, page);

    await visit.until(isError('UNAUTHENTICATED'));
    await visit.page
      .getByText('Your sign-in has ended, or may not show this. Sign in again, then try again.')
      .waitFor();
    expect(await failToLaunch(visit)).toEqual([visit.page.url()]);

    await visit.recording.settle();
    expect([findData(visit), await embedding.readPortalVisits()]).toEqual([[], []]);
    expect(embedding.sandbox.calls).toEqual([]);
    // The socket was refused, and the launch: only the launch has a request whose id a page can read.
    expect(placesOfRequests(visit, 'UNAUTHENTICATED')).toEqual([null, ['response header']]);
  });

  test("another user's order: NOT_FOUND for its status and for its portal, and nothing of the order", async () => {
    await using embedding = await startEmbedding();
    const { order, strangerId } = findStranger(embedding);
    const page = launchPage(embedding, { ...order, userId: strangerId });
    await using visit = await openVisit({ browser, embedding }, page);

    await visit.until(isError('NOT_FOUND'));
    await visit.page
      .getByText('This order could not be found. If it should be here, contact support.')
      .waitFor();
    expect(await failToLaunch(visit)).toEqual([visit.page.url()]);
    // Once for the status and once for the launch.
    await visit.until((report) => visit.reports.filter(isError('NOT_FOUND')).at(1) === report);

    await visit.recording.settle();
    expect([findData(visit), await embedding.readPortalVisits()]).toEqual([[], []]);
    expect(await readPage(visit.page)).not.toContain('Appointment');
    expect(placesOfRequests(visit, 'NOT_FOUND')).toEqual([null, ['response header']]);
    expect(embedding.sandbox.calls.filter((call) => call.includes('portal'))).toEqual([]);
  });
});

describe('a user without demographics', () => {
  test('gets a message, in the words of the page where it has some', async () => {
    await using embedding = await startEmbedding();
    const user = embedding.sandbox.users().find(({ hasDemographics }) => !hasDemographics);
    const userId = user?.userId ?? '';
    const own = '<a slot="error-demographics-missing" href="/profile">Fill in your details first</a>';
    const page = launchPage(
      embedding,
      { orderId: '', userId },
      {
        body: inGateway(embedding, `<portal-launch></portal-launch><portal-launch>${own}</portal-launch>`),
      },
    );
    await using visit = await openVisit({ browser, embedding }, page);
    const buttons = visit.page.getByRole('button', { name: 'Open patient portal' });
    const words = visit.page.getByText(
      'A few personal details are still missing before the portal can open.',
    );

    await buttons.nth(0).click();
    await words.waitFor();
    await buttons.nth(1).click();
    await visit.page.getByRole('link', { name: 'Fill in your details first' }).waitFor();

    expect(await words.filter({ visible: true }).count()).toBe(1);
    expect(visit.reports.filter(isError('DEMOGRAPHICS_MISSING'))).toMatchObject([
      { detail: { retryable: false } },
      { detail: { retryable: false } },
    ]);
    await visit.recording.settle();
    expect(placesOfRequests(visit, 'DEMOGRAPHICS_MISSING')).toEqual([
      ['response header'],
      ['response header'],
    ]);
    expect(visit.page.context().pages()).toHaveLength(1);
    expect(await buttons.nth(1).getAttribute('aria-describedby')).toBe('error');
  });
});
