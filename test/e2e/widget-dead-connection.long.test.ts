import { connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { listenAnywhere } from '../support/listening.ts';
import { launchPage, startEmbedding } from './support/embedding.ts';
import { connectToChromium, openVisit, type Report } from './support/visit.ts';

/** A network before the gateway that can swallow everything without closing anything, as one does that a phone has left. */
async function startNetwork(gatewayUrl: string) {
  const port = Number(new URL(gatewayUrl).port);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    near.pipe(far);
    far.pipe(near);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.once('close', () => sockets.delete(socket));
    }
  });
  const url = await listenAnywhere(server);
  return {
    url,
    /** What is open now stays open and silent; new connections work. */
    swallow: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const isLive = (report: Report) =>
  report.kind === 'event' && report.name === 'portal-connection' && report.detail.connection === 'live';

test('a connection that died unnoticed is replaced when somebody looks at the page, and nothing is missed', async () => {
  await using browser = await connectToChromium();
  await using embedding = await startEmbedding();
  await using network = await startNetwork(embedding.gatewayUrl);
  const order = embedding.findOrder('received.walk_in_test.ordered');
  const page = launchPage(embedding, order, {
    connects: '*',
    body: `<portal-order-status endpoint="${network.url}/graphql" order-id="${order.orderId}"></portal-order-status>`,
  });
  await using visit = await openVisit({ browser, embedding }, page);
  await visit.until(isLive);
  await visit.page.getByText('Ordered', { exact: true }).waitFor();

  network.swallow();
  await embedding.advance(order.orderId);
  const knownAfterMs = await visit.page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const lookedAt = performance.now();
        document.addEventListener('portal-connection', () => resolve(performance.now() - lookedAt), {
          once: true,
        });
        window.dispatchEvent(new Event('focus'));
      }),
  );
  await visit.until(
    (report) =>
      report.kind === 'event' &&
      report.name === 'portal-status' &&
      report.detail.order.status.raw.endsWith('requisition_created'),
  );
  await visit.until((report) => visit.reports.filter(isLive).at(1) === report);

  process.stdout.write(`a dead connection is known ${Math.round(knownAfterMs)} ms after a look\n`);
  // The next ping and its limit would take 10 s at least.
  expect(knownAfterMs).toBeLessThan(10_000);
  expect(visit.reports.filter((report) => report.kind === 'event' && report.name === 'portal-error')).toEqual(
    [],
  );
});
