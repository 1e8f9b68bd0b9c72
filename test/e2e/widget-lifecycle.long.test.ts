import type { Browser, CDPSession, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Embedding, launchPage, startEmbedding } from './support/embedding.ts';
import { connectToChromium, openVisit } from './support/visit.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await connectToChromium();
});

afterAll(() => browser.close());

function orderOf(embedding: Embedding) {
  return embedding.findOrder('collecting_sample.walk_in_test.appointment_scheduled');
}

/** What is asked of an element here. */
interface Status {
  readonly updateComplete: Promise<void>;
  readonly order: unknown;
}

/** A page of the host with nothing of the widget in it but the definitions. */
function emptyPage(embedding: Embedding, { tokenDelayMs = 0 } = {}) {
  return launchPage(embedding, orderOf(embedding), {
    tokenDelayMs,
    body: '<div id="place"></div><p id="below">Below</p>',
  });
}

/** Counts what a page leaves running. Before anything of the page has run. */
async function countTimersAndSockets(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const running = new Set<unknown>();
    // Weakly: this reference must not retain them.
    const sockets: WeakRef<WebSocket>[] = [];
    const { setTimeout: later, setInterval: often, clearTimeout: stop, WebSocket: Socket } = window;
    const track = (id: unknown) => {
      running.add(id);
      return id;
    };
    const forget = (id: number) => {
      running.delete(id);
      stop(id);
    };
    Object.assign(window, {
      setTimeout: (run: () => void, ms?: number, ...rest: []) => {
        const id = later(() => {
          running.delete(id);
          run(...rest);
        }, ms);
        return track(id);
      },
      setInterval: (run: () => void, ms?: number) => track(often(run, ms)),
      clearTimeout: forget,
      clearInterval: forget,
      WebSocket: class extends Socket {
        constructor(...parameters: ConstructorParameters<typeof WebSocket>) {
          super(...parameters);
          sockets.push(new WeakRef(this));
        }
      },
      countRunning: () => ({
        timers: running.size,
        opened: sockets.length,
        open: sockets.filter((socket) => (socket.deref()?.readyState ?? 3) < 2).length,
      }),
    });
  });
}

async function countListeners(devtools: CDPSession): Promise<number | undefined> {
  await devtools.send('HeapProfiler.collectGarbage');
  await devtools.send('HeapProfiler.collectGarbage');
  const { metrics } = await devtools.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'JSEventListeners')?.value;
}

/** Puts elements into the page and takes them out again, so many times; every twentieth time once they show the order. */
async function mountAndUnmount(page: Page, markup: string, times: number): Promise<void> {
  await page.evaluate(
    async ({ markup, times }) => {
      const place = document.querySelector('#place') ?? document.body;
      for (let time = 0; time < times; time += 1) {
        place.innerHTML = markup;
        const status = place.querySelector<HTMLElement & Status>('portal-order-status');
        await status?.updateComplete;
        if (time % 20 === 0 && !status?.order) {
          await new Promise((resolve) => status?.addEventListener('portal-status', resolve, { once: true }));
        }
        place.replaceChildren();
        await null;
      }
    },
    { markup, times },
  );
}

test('elements that come and go a thousand times leave no listener, no timer and no socket', async () => {
  await using embedding = await startEmbedding();
  const { orderId } = orderOf(embedding);
  await using visit = await openVisit({ browser, embedding }, emptyPage(embedding), {
    prepare: countTimersAndSockets,
    // The page itself puts the elements in as markup.
    bypassCSP: true,
  });
  const { page } = visit;
  const attributes = `endpoint="${embedding.gatewayUrl}/graphql" order-id="${orderId}"`;
  const markup = `<portal-gateway><portal-launch ${attributes}></portal-launch>
    <portal-order-status ${attributes} status="steps"></portal-order-status></portal-gateway>`;
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable');
  await mountAndUnmount(page, markup, 40);
  const before = await countListeners(devtools);

  await mountAndUnmount(page, markup, 1000);

  const running = await page.evaluate('countRunning()');
  expect(running).toEqual({ timers: 0, open: 0, opened: 52 });
  expect(await countListeners(devtools)).toBe(before);
});
