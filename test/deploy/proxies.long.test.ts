import { expect, test } from 'vitest';
import { openEventStream } from '../support/event-stream.ts';
import { makeFolder } from '../support/folder.ts';
import { gatewayKey, graphqlRequest } from '../support/lab.ts';
import { transports } from '../support/subscribe.ts';
import { orderUpdates } from './followers.ts';
import { checkConfigurations, startCaddy, startNginx } from './proxies.ts';
import { startStage } from './stage.ts';

const soon = { timeout: 150_000 };
const proxies = [
  { proxy: 'nginx', startProxy: startNginx },
  { proxy: 'Caddy', startProxy: startCaddy },
];

test('nginx and Caddy accept the configurations as they are', ({ skip }) => {
  skip(process.getuid?.() !== 0, 'Only root may listen on port 443.');
  using folder = makeFolder();
  checkConfigurations(folder.path);
});

async function ask(url: string, query: string) {
  return await (await fetch(graphqlRequest(url, { query }, gatewayKey))).json();
}

/** Uploads a lab report of this many bytes as a multipart request; returns the type of the result. */
async function upload(url: string, { userId, bytes }: { readonly userId: string; readonly bytes: number }) {
  const query = `mutation ($files: [File!]!) { createLabReport(input: {
    userId: "${userId}", idempotencyKey: "report-1", files: $files }) { __typename } }`;
  const body = new FormData();
  body.append('operations', JSON.stringify({ query, variables: { files: [null] } }));
  body.append('map', '{ "0": ["variables.files.0"] }');
  body.append('0', new File([`%PDF-1.4 ${'x'.repeat(bytes)}`], 'report.pdf', { type: 'application/pdf' }));
  const headers = { authorization: `Bearer ${gatewayKey}`, accept: 'application/json' };
  const answer = await (await fetch(`${url}/graphql`, { method: 'POST', headers, body })).json();
  return answer.data?.createLabReport.__typename ?? answer;
}

test.each(proxies)(
  'through $proxy come queries, uploads, documents and the widget, and nothing for those who run it',
  async ({ startProxy }) => {
    await using stage = await startStage();
    await using proxy = await startProxy(stage);
    const { url } = proxy;
    const [orderId = ''] = stage.sandbox.orders().map((order) => order.orderId);
    const [userId = ''] = stage.sandbox.users().map((user) => user.userId);
    expect(await ask(url, `{ order(id: "${orderId}") { id } }`)).toEqual({
      data: { order: { id: orderId } },
    });
    expect(await upload(url, { userId, bytes: 9_000_000 })).toBe('LabReportCreated');

    const { data } = await ask(
      url,
      `mutation { createDocumentTicket(input: { orderId: "${orderId}", kind: RESULT }) { ... on DocumentTicket { url } } }`,
    );
    const document = await fetch(`${url}${data.createDocumentTicket.url}`);
    expect([document.status, document.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    expect(await document.text()).toMatch(/^%PDF-1\.4[\s\S]*%%EOF\n$/);

    const statusOf = async (path: string) => (await fetch(`${url}${path}`)).status;
    expect(await Promise.all(['/widget/portal-widget.js', '/metrics', '/ready'].map(statusOf))).toEqual([
      200, 404, 404,
    ]);
  },
);

test.each(proxies)(
  'through $proxy each item of a stream comes at once, and a stream ends at the gateway with its client',
  async ({ startProxy }) => {
    await using stage = await startStage();
    await using proxy = await startProxy(stage);
    const [orderId = ''] = stage.freshOrders();
    const request = { url: proxy.url, token: gatewayKey, query: orderUpdates, variables: { orderId } };
    const countOpen = async () => {
      const texts = await Promise.all(
        stage.gateways.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()),
      );
      const counts = [...texts.join('\n').matchAll(/^labgraph_subscriptions\{.*\} (\d+)$/gm)];
      return counts.reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const streams = await Promise.all(transports.map(([, subscribe]) => subscribe(request)));
    const kinds = async () =>
      await Promise.all(streams.map(async (stream) => (await stream.next())?.data.orderUpdates.kind));
    expect(await kinds()).toEqual(['SNAPSHOT', 'SNAPSHOT', 'SNAPSHOT']);
    expect(await countOpen()).toBe(3);
    await stage.step([orderId]);
    expect(await kinds()).toEqual(['CHANGED', 'CHANGED', 'CHANGED']);
    await Promise.all(streams.map((stream) => stream.close()));
    await expect.poll(countOpen, soon).toBe(0);

    // As a browser's EventSource resumes.
    const first = await openEventStream(request);
    const lastEventId = (await first.next())?.id;
    first.leave();
    await stage.step([orderId]);
    const second = await openEventStream({ ...request, lastEventId });
    expect(JSON.parse((await second.next())?.data ?? '').data.orderUpdates.kind).toBe('CHANGED');
    second.leave();
  },
);

/** 1,000 streams, half of them WebSockets. */
const followers = { orders: 5, each: 200 };

test.each(proxies)(
  '1,000 streams miss and repeat no change over a reload of $proxy',
  async ({ startProxy }) => {
    await using stage = await startStage();
    await using proxy = await startProxy(stage);
    using following = stage.follow(proxy.url, followers);
    await expect.poll(() => following.opened, soon).toBe(1000);
    await stage.step(following.orderIds);
    await expect.poll(() => following.items, soon).toBe(1000);

    await proxy.reload();
    await stage.sandbox.webhooks.settled();
    await stage.step(following.orderIds);
    // Both cut the 500 WebSockets.
    await expect.poll(() => following.cut, soon).toBeGreaterThanOrEqual(500);
    await stage.sandbox.webhooks.settled();
    await stage.step(following.orderIds);
    await expect.poll(() => following.items, soon).toBe(3000);
    expect(await following.findWrong(3)).toEqual([]);
  },
);

test('behind nginx, over a rolling restart of two gateways, 1,000 streams miss and repeat no change, and none of 200 queries a second fails', async () => {
  await using stage = await startStage();
  await using proxy = await startNginx(stage);
  using following = stage.follow(proxy.url, followers);
  await expect.poll(() => following.opened, soon).toBe(1000);
  await using load = stage.load(proxy.url);
  await expect.poll(() => load.sent, soon).toBeGreaterThan(200);
  for (const [index, gateway] of stage.gateways.entries()) {
    using _ = proxy.without(index);
    expect(await gateway.end('SIGTERM')).toBe(0);
    await stage.step(following.orderIds);
    await stage.sandbox.webhooks.settled();
    await stage.restart(index);
  }
  await load.end();
  expect(load.sent).toBeGreaterThan(600);
  expect(load.failed).toEqual([]);
  await expect.poll(() => following.items, soon).toBe(2000);
  expect(await following.findWrong(2)).toEqual([]);
});
