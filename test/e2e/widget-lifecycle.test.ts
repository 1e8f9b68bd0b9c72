import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Embedding, inGateway, launchPage, startEmbedding } from './support/embedding.ts';
import { connectToHeadlessShell, openVisit } from './support/visit.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await connectToHeadlessShell();
});

afterAll(() => browser.close());

function orderOf(embedding: Embedding) {
  return embedding.findOrder('collecting_sample.walk_in_test.appointment_scheduled');
}

/** A page of the host with nothing of the widget in it but the definitions. */
function emptyPage(embedding: Embedding) {
  const body = '<div id="place"></div><p id="below">Below</p>';
  return launchPage(embedding, orderOf(embedding), { body });
}

describe('elements that come and go', () => {
  test('ask for nothing before they can be seen', async () => {
    await using embedding = await startEmbedding();
    const { orderId } = orderOf(embedding);
    const body = `<div id="place"></div>${inGateway(embedding, `<portal-order-status order-id="${orderId}"></portal-order-status>`)}`;
    await using visit = await openVisit(
      { browser, embedding },
      launchPage(embedding, orderOf(embedding), { body }),
      {
        prepare: async (page) => {
          await page.addInitScript(() => {
            addEventListener('DOMContentLoaded', () => {
              (document.querySelector('#place') as HTMLElement).style.blockSize = '300vh';
            });
          });
        },
      },
    );
    const { page } = visit;
    await page.waitForFunction(
      () => document.querySelector('portal-order-status')?.shadowRoot?.childElementCount,
    );
    // Two frames: in the first the browser looks which elements are in sight, by the second it has notified them.
    await page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    );
    const asked = () =>
      visit.recording.seen.filter(({ where, text }) => where === 'address' && /graphql|token/.test(text))
        .length;
    const before = asked();

    await page.locator('portal-order-status').scrollIntoViewIfNeeded();
    await page.getByText('Appointment scheduled').waitFor();

    expect([before, asked() > 0]).toEqual([0, true]);
  });

  test('share one connection and one subscription, twenty separate elements', async () => {
    await using embedding = await startEmbedding();
    const { orderId } = orderOf(embedding);
    const element = `<portal-order-status endpoint="${embedding.gatewayUrl}/graphql" order-id="${orderId}"></portal-order-status>`;
    const page = launchPage(embedding, orderOf(embedding), { body: element.repeat(20) });
    await using visit = await openVisit({ browser, embedding }, page, {
      viewport: { width: 800, height: 3000 },
    });
    await visit.page.getByText('Appointment scheduled').nth(19).waitFor();

    const sent = visit.recording.seen
      .filter(({ where }) => where === 'socket sent')
      .map(({ text }) => JSON.parse(text));

    expect(sent.map(({ type }) => type)).toEqual(['connection_init', 'subscribe']);
    expect(visit.reports.filter(({ kind }) => kind === 'token-asked')).toHaveLength(1);
  });
});

describe('the content below an element', () => {
  test.each([
    ['portal-order-status', 'text'],
    ['portal-order-status', 'steps'],
    ['portal-launch', 'text'],
    ['portal-launch', 'steps'],
  ])('<%s status="%s"> does not move when the order comes', async (name, status) => {
    await using embedding = await startEmbedding();
    const { orderId } = orderOf(embedding);
    const skeleton = Promise.withResolvers<void>();
    const host = emptyPage(embedding);
    const mintToken = () => skeleton.promise.then(host.mintToken);
    await using visit = await openVisit({ browser, embedding }, { ...host, mintToken });
    const { page } = visit;
    await page.evaluate(
      ({ name, status, orderId, endpoint }) => {
        const shifts: number[] = [];
        Object.assign(window, { shifts });
        const element = document.createElement(name);
        element.setAttribute('endpoint', endpoint);
        element.setAttribute('order-id', orderId);
        element.setAttribute('status', status);
        document.querySelector('#place')?.append(element);
        const watch = () =>
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) shifts.push((entry as unknown as { value: number }).value);
          }).observe({ type: 'layout-shift' });
        // Putting it in moves what is below; what counts comes after that frame.
        requestAnimationFrame(() => requestAnimationFrame(watch));
      },
      { name, status, orderId, endpoint: `${embedding.gatewayUrl}/graphql` },
    );
    await page.locator('[part~=skeleton]').waitFor();
    skeleton.resolve();
    await page.locator('[part~=label]').getByText('Appointment scheduled').waitFor();
    await page.locator('[part~=freshness][part~=live]').waitFor();
    await page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    );

    expect(await page.evaluate('shifts')).toEqual([]);
  });
});
