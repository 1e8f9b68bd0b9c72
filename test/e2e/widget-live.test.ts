import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Embedding, inGateway, launchPage, startEmbedding, walkInLabels } from './support/embedding.ts';
import { connectToHeadlessShell, openVisit, type Report, type Visit } from './support/visit.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await connectToHeadlessShell();
});

afterAll(() => browser.close());

function freshOrder(embedding: Embedding) {
  return embedding.findOrder('received.walk_in_test.ordered');
}

/** The status line, once it says this, in the words of the widget where it has its own. */
function untilLabel({ page }: Visit, label: string): Promise<void> {
  const shown = label === 'Requisition created' ? 'Lab order ready' : label;
  return page.locator('[part~=label].headline').getByText(shown, { exact: true }).waitFor();
}

function untilLive({ page }: Visit): Promise<void> {
  return page.locator('[part~=freshness][part~=live]').waitFor();
}

function untilFreshness({ page }: Visit, text: string | RegExp): Promise<void> {
  return page.locator('[part~=freshness]').getByText(text).waitFor();
}

/** Each `portal-status`: where it came from and what it brought. */
function statusesOf(reports: readonly Report[]): readonly (readonly [source: string, label: string])[] {
  return reports.flatMap((report) =>
    report.kind === 'event' && report.name === 'portal-status'
      ? [[report.detail.source, report.detail.order.status.label] as const]
      : [],
  );
}

function connectionsOf(reports: readonly Report[]): readonly string[] {
  return reports.flatMap((report) =>
    report.kind === 'event' && report.name === 'portal-connection' ? [report.detail.connection] : [],
  );
}

const isConnection = (connection: string) => (report: Report) =>
  report.kind === 'event' && report.name === 'portal-connection' && report.detail.connection === connection;

/** The cursors that subscriptions began with, and the last one that was received before each but the first. */
function cursorsOf({ recording }: Visit) {
  const began: (string | null)[] = [];
  const lastReceived: (string | null)[] = [];
  let last: string | null = null;
  for (const { where, text } of recording.seen) {
    if (where === 'socket received') last = JSON.parse(text).payload?.data?.orderUpdates.cursor ?? last;
    if (where !== 'socket sent' || JSON.parse(text).type !== 'subscribe') continue;
    began.push(JSON.parse(text).payload.variables.after);
    lastReceived.push(last);
  }
  return { began, lastReceived };
}

describe('an order on the page', () => {
  test('shows every step as it happens, without a reload', async () => {
    await using embedding = await startEmbedding();
    const order = freshOrder(embedding);
    await using visit = await openVisit({ browser, embedding }, launchPage(embedding, order));
    await untilLabel(visit, 'Ordered');
    await untilLive(visit);

    for (const label of walkInLabels.slice(1)) {
      await embedding.advance(order.orderId);
      await untilLabel(visit, label);
    }

    expect(statusesOf(visit.reports)).toEqual(
      walkInLabels.map((label, index) => [index ? 'changed' : 'snapshot', label]),
    );
    expect(cursorsOf(visit).began).toEqual([null]);
  });

  test('moves its steps along', async () => {
    await using embedding = await startEmbedding();
    const order = freshOrder(embedding);
    await using visit = await openVisit(
      { browser, embedding },
      launchPage(embedding, order, { status: 'steps' }),
    );
    const current = visit.page.locator('[aria-current=step]');
    await current.getByText('Ordered').waitFor();

    await embedding.advance(order.orderId);
    await embedding.advance(order.orderId);

    await current.getByText('Visit to a centre').waitFor();
    await current.getByText('Appointment pending').waitFor();
    expect(await visit.page.getByRole('listitem').allInnerTexts()).toHaveLength(4);
  });

  test('goes stale and offline with the gateway, and then goes on from its cursor', async () => {
    await using embedding = await startEmbedding();
    const order = freshOrder(embedding);
    // Without polling, which would show the newest state before the stream has sent the steps in between.
    const page = launchPage(embedding, order, { attributes: 'poll-interval="0"' });
    await using visit = await openVisit({ browser, embedding }, page);
    const network = visit.page.context();
    await untilLabel(visit, 'Ordered');
    await embedding.advance(order.orderId);
    await untilLabel(visit, 'Requisition created');

    await embedding.stopGateway();
    await visit.until(isConnection('stale'));
    await network.setOffline(true);
    await visit.until(isConnection('offline'));
    await untilFreshness(visit, /^You are offline. Last checked /);
    // The first comes while the gateway is down, two while only the browser is away.
    await embedding.advanceUnreported(order.orderId);
    await embedding.startGateway();
    await embedding.sandbox.webhooks.settled();
    await embedding.advance(order.orderId);
    await embedding.advance(order.orderId);
    await untilLabel(visit, 'Requisition created');
    await network.setOffline(false);
    await untilLabel(visit, 'Some results ready');
    await untilFreshness(visit, 'Up to date');
    await embedding.advance(order.orderId);
    await untilLabel(visit, 'Results ready');

    expect(statusesOf(visit.reports)).toEqual(
      walkInLabels.map((label, index) => [index ? 'changed' : 'snapshot', label]),
    );
    const connections = connectionsOf(visit.reports);
    expect(connections.slice(0, 4)).toEqual(['connecting', 'live', 'stale', 'offline']);
    expect(connections.at(-1)).toBe('live');
    const { began, lastReceived } = cursorsOf(visit);
    expect(began).toEqual([null, expect.any(String)]);
    expect(began).toEqual(lastReceived);
  });

  test('is offline as soon as the browser is, and goes on from its cursor', async () => {
    await using embedding = await startEmbedding();
    const order = freshOrder(embedding);
    await using visit = await openVisit({ browser, embedding }, launchPage(embedding, order));
    const network = visit.page.context();
    await untilLive(visit);

    await network.setOffline(true);
    await untilFreshness(visit, /^You are offline. Last checked /);
    await embedding.advance(order.orderId);
    await network.setOffline(false);
    await untilLabel(visit, 'Requisition created');
    await untilFreshness(visit, 'Up to date');

    expect(connectionsOf(visit.reports)).toEqual(['connecting', 'live', 'offline', 'live']);
    expect(statusesOf(visit.reports)).toEqual([
      ['snapshot', 'Ordered'],
      ['changed', 'Requisition created'],
    ]);
  });

  test('shares one socket with every other element of the page', async () => {
    await using embedding = await startEmbedding();
    const order = freshOrder(embedding);
    const status = `<portal-order-status order-id="${order.orderId}"></portal-order-status>`;
    await using visit = await openVisit(
      { browser, embedding },
      launchPage(embedding, order, { body: inGateway(embedding, status.repeat(3)) }),
    );
    await visit.page.getByText('Ordered', { exact: true }).nth(2).waitFor();

    const subscriptions = visit.recording.seen.filter(({ text }) => text.includes('"type":"subscribe"'));
    const inits = visit.recording.seen.filter(({ text }) => text.includes('"type":"connection_init"'));
    expect([inits.length, subscriptions.length]).toEqual([1, 1]);
  });
});

describe.concurrent('a token that ends', () => {
  // Whole seconds in the token: one of five lives between four and five.
  const ttlSeconds = 5;

  test.each([
    ['with a new one asked for as expiring, when the page reported its expiry', true, 'expiring'],
    ['with a new one asked for as rejected, when it did not', false, 'rejected'],
  ])('closes the socket with 4403, and the element goes on %s', async (_, sendsExpiry, reason) => {
    await using embedding = await startEmbedding();
    const order = freshOrder(embedding);
    const page = launchPage(embedding, order, { ttlSeconds, sendsExpiry });
    await using visit = await openVisit({ browser, embedding }, page);
    await untilLabel(visit, 'Ordered');

    const closed = await visit.until(({ kind }) => kind === 'socket-closed');
    await visit.until((report) => report.kind === 'token-asked' && report.reason !== 'initial');
    await embedding.advance(order.orderId);
    await untilLabel(visit, 'Requisition created');

    expect(closed).toEqual({ kind: 'socket-closed', code: 4403 });
    expect(visit.reports.filter(({ kind }) => kind === 'token-asked')).toEqual([
      { kind: 'token-asked', reason: 'initial', scope: 'status', orderId: order.orderId },
      { kind: 'token-asked', reason, scope: 'status', orderId: order.orderId },
    ]);
    expect(statusesOf(visit.reports)).toEqual([
      ['snapshot', 'Ordered'],
      ['changed', 'Requisition created'],
    ]);
    expect(
      visit.reports.filter((report) => report.kind === 'event' && report.name === 'portal-error'),
    ).toEqual([]);
  });
});
