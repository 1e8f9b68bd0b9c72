import { EventEmitter, once } from 'node:events';
import { type Browser, type BrowserContextOptions, type CDPSession, chromium, type Page } from 'playwright';
import { inject } from 'vitest';
import { gatewayKey, serviceKey, webhookSecret } from '../../support/lab.ts';
import type { Embedding } from './embedding.ts';
import type { HostPage } from './host.ts';
import { type Recording, record } from './recording.ts';

/**
 * A connection to the Chromium that all files share, for tests of tabs, popups and the way back. Closing it closes the
 * contexts that were opened through it.
 */
export const connectToChromium = () => connect('chromium');

/** The same for a page that is only loaded and used: without the browser around it, it costs a third. */
export const connectToHeadlessShell = () => connect('headless-shell');

async function connect(kind: 'chromium' | 'headless-shell'): Promise<Browser> {
  const answer = await fetch(`${inject('browsers')}/${kind}`);
  if (!answer.ok) throw new Error(await answer.text());
  return await chromium.connect(await answer.text());
}

/** What the host page saw of the elements, in the order in which it happened. See host-app.js. */
export type Report =
  | {
      readonly kind: 'event';
      readonly name: string;
      readonly isActive: boolean;
      // biome-ignore lint/suspicious/noExplicitAny: read like a host reads it, field by field.
      readonly detail: any;
    }
  | {
      readonly kind: 'violation';
      readonly directive: string;
      readonly blocked: string;
      readonly file: string;
    }
  | { readonly kind: 'socket-closed'; readonly code: number }
  | { readonly kind: 'launch-at-load'; readonly isActive: boolean }
  | {
      readonly kind: 'token-asked';
      readonly reason: string;
      readonly scope: string;
      readonly orderId: string;
    };

/** A person's visit to a host page. */
export interface Visit {
  readonly page: Page;
  readonly reports: readonly Report[];
  readonly recording: Recording;
  /** The first report that is so, now or later. */
  readonly until: (isSo: (report: Report) => boolean) => Promise<Report>;
  /** The next tab that opens, once it is at the portal. */
  readonly nextPortal: () => Promise<Page>;
  /** Ends the visit. Throws when a secret of a server was in anything the browser saw. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

export interface VisitOptions extends BrowserContextOptions {
  /** Comes by the name that the gateway does not know. */
  readonly fromStrangeOrigin?: boolean;
  /** Before the page is opened. */
  readonly prepare?: (page: Page) => Promise<void>;
}

const secrets = { serviceKey, gatewayKey, webhookSecret };
/** A busy machine gets this long for anything that a page does. */
const timeoutMs = 150_000;

export async function openVisit(
  { browser, embedding }: { readonly browser: Browser; readonly embedding: Embedding },
  hostPage: HostPage,
  { fromStrangeOrigin = false, prepare, ...options }: VisitOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 800, height: 600 }, ...options });
  context.setDefaultTimeout(timeoutMs);
  const recording = record(context);
  const page = await context.newPage();
  const { reports, until } = await listen(await context.newCDPSession(page), recording);
  await prepare?.(page);
  const { host, serviceUrl } = embedding;
  await page.goto((fromStrangeOrigin ? host.strangeOrigin : host.origin) + host.serve(hostPage));
  return {
    page,
    reports,
    recording,
    until,
    nextPortal: async () => {
      const tab = await context.waitForEvent('page');
      await tab.waitForURL(`${serviceUrl}/**`);
      return tab;
    },
    [Symbol.asyncDispose]: async () => {
      await recording.settle();
      await context.close();
      for (const [name, secret] of Object.entries(secrets)) {
        const places = recording.placesOf(secret);
        if (places.length > 0) throw new Error(`The browser saw ${name}: ${places.join(', ')}.`);
      }
    },
  };
}

/**
 * By a binding of the DevTools protocol and not by asking the page: each evaluation by playwright counts as a
 * click of the person, which would let every popup through.
 */
async function listen(devtools: CDPSession, recording: Recording) {
  const reports: Report[] = [];
  const arrivals = new EventEmitter();
  devtools.on('Runtime.bindingCalled', ({ payload }) => {
    reports.push(JSON.parse(payload));
    arrivals.emit('report');
  });
  devtools.on('Network.webSocketWillSendHandshakeRequest', ({ request }) =>
    recording.add('socket handshake', JSON.stringify(request.headers)),
  );
  devtools.on('Network.webSocketHandshakeResponseReceived', ({ response }) =>
    recording.add('socket handshake', JSON.stringify(response.headers)),
  );
  await devtools.send('Network.enable');
  await devtools.send('Runtime.enable');
  await devtools.send('Runtime.addBinding', { name: 'report' });

  const until: Visit['until'] = async (isSo) => {
    const signal = AbortSignal.timeout(timeoutMs);
    for (;;) {
      const found = reports.find(isSo);
      if (found) return found;
      await once(arrivals, 'report', { signal });
    }
  };
  return { reports, until };
}
