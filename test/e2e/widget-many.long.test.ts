import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serviceKey } from '../support/lab.ts';
import { type Embedding, inGateway, launchPage, startEmbedding, walkInLabels } from './support/embedding.ts';
import { connectToChromium, openVisit, type Report, type Visit } from './support/visit.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await connectToChromium();
});

afterAll(() => browser.close());

/** What an element shows, for a page that looks into many. */
interface Status extends HTMLElement {
  readonly connection: string;
  readonly order: { readonly status: { readonly label: string } } | null;
}

/** Orders more test kits for a user, and gives their ids. */
async function orderKits({ serviceUrl, sandbox }: Embedding, userId: string, count: number) {
  const lab_test_id = sandbox.labTests().find(({ method }) => method === 'testkit')?.labTestId;
  const shipping_details = {
    receiver_name: 'Robin Doe',
    first_line: '1 Main Street',
    city: 'Phoenix',
    state: 'AZ',
    zip: '85004',
    country: 'US',
    phone_number: '+14155550123',
  };
  const ids: string[] = [];
  for (let ordered = 0; ordered < count; ordered += 1) {
    const response = await fetch(`${serviceUrl}/v3/order/testkit`, {
      method: 'POST',
      headers: { 'x-service-api-key': serviceKey, 'content-type': 'application/json' },
      body: JSON.stringify({ user_id: userId, lab_test_id, shipping_details }),
    });
    if (!response.ok) throw new Error(await response.text());
    ids.push((await response.json()).order.id);
  }
  return ids;
}

function namesOf(reports: readonly Report[], name: string): readonly Report[] {
  return reports.filter((report) => report.kind === 'event' && report.name === name);
}

function messagesSent({ recording }: Visit, type: string): number {
  return recording.seen.filter(
    ({ where, text }) => where === 'socket sent' && text.includes(`"type":"${type}"`),
  ).length;
}

test('120 elements of 80 orders on one page are all live, over two connections and without an error', async () => {
  await using embedding = await startEmbedding();
  const user = embedding.sandbox.users().find(({ hasDemographics }) => hasDemographics);
  const userId = user?.userId ?? '';
  const orderIds = await orderKits(embedding, userId, 80);
  await embedding.sandbox.webhooks.settled();
  const elements = [...orderIds, ...orderIds.slice(0, 40)].map(
    (orderId) => `<portal-order-status order-id="${orderId}" live="always"></portal-order-status>`,
  );
  const page = launchPage(
    embedding,
    { orderId: '', userId },
    { body: inGateway(embedding, elements.join('')) },
  );
  await using visit = await openVisit({ browser, embedding }, page, {
    prepare: async (page) => {
      await page.addInitScript(() => {
        const times: Record<string, number[]> = { connecting: [], live: [] };
        Object.assign(window, { times });
        document.addEventListener('portal-connection', (event) => {
          times[(event as CustomEvent).detail.connection]?.push(performance.now());
        });
      });
    },
  });
  await visit.page.waitForFunction(() => {
    const all = [...document.querySelectorAll<Status>('portal-order-status')];
    return all.length === 120 && all.every(({ connection, order }) => connection === 'live' && order);
  });
  const tookMs = await visit.page.evaluate(() => {
    const { times } = window as unknown as { times: { connecting: number[]; live: number[] } };
    return Math.max(...times.live) - Math.min(...times.connecting);
  });
  process.stdout.write(`120 elements of 80 orders live in ${Math.round(tookMs)} ms\n`);

  // One order of each connection moves, and every element that shows it.
  for (const orderId of [orderIds[0] ?? '', orderIds[79] ?? '']) await embedding.advance(orderId);
  await visit.page.waitForFunction(
    (moved) =>
      [...document.querySelectorAll<Status>('portal-order-status')]
        .filter((element) => moved.includes(element.getAttribute('order-id') ?? ''))
        .every(({ order }) => order?.status.label !== 'Ordered'),
    [orderIds[0] ?? '', orderIds[79] ?? ''],
  );

  // A sixth of it, on a machine that does nothing else.
  expect(tookMs).toBeLessThan(5000);
  expect(namesOf(visit.reports, 'portal-error')).toEqual([]);
  expect([messagesSent(visit, 'connection_init'), messagesSent(visit, 'subscribe')]).toEqual([2, 80]);
  expect(visit.reports.filter(({ kind }) => kind === 'token-asked')).toHaveLength(1);
});

test('an element that is moved a thousand times has one connection and misses nothing', async () => {
  await using embedding = await startEmbedding();
  const order = embedding.findOrder('received.walk_in_test.ordered');
  const status = `<portal-order-status order-id="${order.orderId}"></portal-order-status>`;
  const body = inGateway(embedding, `<div id="one">${status}</div><div id="other"></div>`);
  await using visit = await openVisit({ browser, embedding }, launchPage(embedding, order, { body }));
  await visit.page.getByText('Ordered', { exact: true }).waitFor();

  for (let round = 0; round < 5; round += 1) {
    const advanced = embedding.advance(order.orderId);
    await visit.page.evaluate(async () => {
      const places = [...document.querySelectorAll<HTMLElement>('#one, #other')];
      const element = document.querySelector('portal-order-status');
      for (let move = 0; move < 200; move += 1) {
        const place = places[move % 2];
        // Half of them as every framework does it, half as new browsers can.
        if (move % 4 < 2 || !place || !('moveBefore' in place)) place?.append(element ?? '');
        else place.moveBefore(element as Node, null);
        if (move % 10 === 0) await new Promise(requestAnimationFrame);
      }
    });
    await advanced;
  }
  await visit.page.getByText('Results ready', { exact: true }).waitFor();

  const labels = namesOf(visit.reports, 'portal-status').map(
    (report) => report.kind === 'event' && report.detail.order.status.label,
  );
  expect(labels).toEqual(walkInLabels);
  expect([messagesSent(visit, 'connection_init'), messagesSent(visit, 'subscribe')]).toEqual([1, 1]);
  expect(namesOf(visit.reports, 'portal-error')).toEqual([]);
});
