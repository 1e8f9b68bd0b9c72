import { expect } from 'vitest';
import { type Embedding, launchPage, startEmbedding } from '../e2e/support/embedding.ts';
import type { HostPage } from '../e2e/support/host.ts';
import type { Report } from '../e2e/support/visit.ts';
import type { Browser, Tab } from './support/browser.ts';

/** A person at a page of a host, with service and gateway behind it. */
interface Scene {
  readonly embedding: Embedding;
  readonly tab: Tab;
}

type Order = ReturnType<Embedding['findOrder']>;

/** For browsers that have a blocker. */
export const blockedCheck = 'launch where the browser blocks the tab: a link takes the place of the button';

/** What the widget must do in every browser, by the lines of the table in docs/embedding.md. */
export const checks: Readonly<Record<string, (browser: Browser) => Promise<void>>> = {
  'launch in a tab, without opener and Referer': async (browser) => {
    await using embedding = await startEmbedding();
    await using tab = await open({ browser, embedding }, launchPage(embedding, orderOf(embedding)));

    await tab.click(openPortal);

    await expectPortal({ embedding, tab });
    expect(await launchesOf(tab)).toEqual(['portal-before-launch', 'portal-launched']);
  },

  [blockedCheck]: async (browser) => {
    await using embedding = await startEmbedding();
    const page = launchPage(embedding, orderOf(embedding), { status: 'none', launchesAtLoad: true });
    await using tab = await open({ browser, embedding }, page);
    await untilShown(tab, openLink);
    expect(await tab.otherTabs()).toEqual([]);

    await tab.click(openLink);

    await expectPortal({ embedding, tab });
    await untilShown(tab, openPortal);
    expect(await launchesOf(tab)).toEqual(['portal-before-launch', 'portal-blocked', 'portal-launched']);
  },

  'launch with `mode="redirect"`, and live again on the way back': async (browser) => {
    await using embedding = await startEmbedding();
    const order = orderOf(embedding);
    const page = launchPage(embedding, order, { attributes: 'mode="redirect"' });
    await using tab = await open({ browser, embedding }, page);

    await tab.click(openPortal);
    await poll(() => tab.read('location.origin')).toBe(embedding.serviceUrl);
    expect(await tab.read('document.referrer')).toBe('');
    expect(await embedding.readPortalVisits()).toMatchObject([{ referer: null }]);
    await embedding.advance(order.orderId);
    await tab.goBack();

    await untilShown(tab, life.REQUISITION_CREATED);
    await embedding.advance(order.orderId);
    await untilShown(tab, life.APPOINTMENT_PENDING);
    expect(await tab.otherTabs()).toEqual([]);
  },

  'launch with `mode="post"`, without opener and Referer': async (browser) => {
    await using embedding = await startEmbedding();
    const page = launchPage(embedding, orderOf(embedding), { attributes: 'mode="post"' });
    await using tab = await open({ browser, embedding }, page);

    await tab.click(openPortal);

    await expectPortal({ embedding, tab });
    expect(await launchesOf(tab)).toEqual(['portal-before-launch', 'portal-launched']);
  },

  'every change of an order, live': async (browser) => {
    await using embedding = await startEmbedding();
    const order = orderOf(embedding);
    await using tab = await open({ browser, embedding }, launchPage(embedding, order));
    await untilShown(tab, life.ORDERED);

    for (const label of Object.values(life).slice(1)) {
      await embedding.advance(order.orderId);
      await untilShown(tab, label);
    }

    expect(await stepsOf(tab)).toEqual(Object.keys(life));
  },

  'after a lost connection, every change once': async (browser) => {
    await using embedding = await startEmbedding();
    const order = orderOf(embedding);
    // Without polling, which would show the newest state before the stream has sent the steps in between.
    const page = launchPage(embedding, order, { attributes: 'poll-interval="0"' });
    await using tab = await open({ browser, embedding }, page);
    await untilShown(tab, life.ORDERED);

    await embedding.stopGateway();
    await poll(() => connectionsOf(tab)).toContain('stale');
    await embedding.advanceUnreported(order.orderId);
    await embedding.startGateway();
    await embedding.sandbox.webhooks.settled();
    await untilShown(tab, life.REQUISITION_CREATED);
    await embedding.advance(order.orderId);
    await untilShown(tab, life.APPOINTMENT_PENDING);

    expect(await stepsOf(tab)).toEqual(Object.keys(life).slice(0, 3));
    expect((await connectionsOf(tab)).at(-1)).toBe('live');
  },

  'the gateway cannot be reached: `NETWORK`, and the next click opens the portal': async (browser) => {
    await using embedding = await startEmbedding();
    await using tab = await open({ browser, embedding }, launchPage(embedding, orderOf(embedding)));
    await untilShown(tab, life.ORDERED);

    await embedding.stopGateway();
    await tab.click(openPortal);
    await expectError(tab, 'NETWORK');
    await embedding.startGateway();
    await tab.click(openPortal);

    await expectPortal({ embedding, tab });
  },

  'the token is rejected: `UNAUTHENTICATED`, and nothing of the order': async (browser) => {
    await using embedding = await startEmbedding();
    const page = launchPage(embedding, orderOf(embedding), { mintToken: () => rejectedToken });
    await using tab = await open({ browser, embedding }, page);

    await expectError(tab, 'UNAUTHENTICATED');
    expect(await stepsOf(tab)).toEqual([]);
  },

  'there is no such order: `NOT_FOUND`': async (browser) => {
    await using embedding = await startEmbedding();
    const { userId } = orderOf(embedding);
    const page = launchPage(embedding, { orderId: crypto.randomUUID(), userId });
    await using tab = await open({ browser, embedding }, page);

    await expectError(tab, 'NOT_FOUND');
    expect(await stepsOf(tab)).toEqual([]);
  },
};

/** In the right form, signed by nobody. */
const rejectedToken = Promise.resolve({
  token: ['{"alg":"HS256","typ":"JWT"}', '{"sub":"nobody"}', 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.'),
  expiresAt: '2099-01-01T00:00:00.000Z',
});

const openPortal = 'Open patient portal';
const openLink = 'Open in a new tab';

/** The life of a walk-in order, and how a patient reads it. */
const life = {
  ORDERED: 'Ordered',
  REQUISITION_CREATED: 'Lab order ready',
  APPOINTMENT_PENDING: 'Appointment pending',
  APPOINTMENT_SCHEDULED: 'Appointment scheduled',
  PARTIAL_RESULTS: 'Some results ready',
  COMPLETED: 'Results ready',
};

function orderOf(embedding: Embedding): Order {
  return embedding.findOrder('received.walk_in_test.ordered');
}

function open(
  { browser, embedding }: { readonly browser: Browser; readonly embedding: Embedding },
  page: HostPage,
) {
  return browser.visit(embedding.host.origin + embedding.host.serve(page));
}

/** A busy machine gets this long for anything that a page does. */
const poll = <Value>(read: () => Promise<Value>) => expect.poll(read);

/** What a person reads in the elements of the page. */
const shownText = `[...document.querySelectorAll('portal-launch, portal-order-status')]
  .flatMap(({ shadowRoot }) => [...(shadowRoot?.children ?? [])].map(({ innerText }) => innerText ?? ''))
  .join('\\n')`;

async function untilShown(tab: Tab, text: string): Promise<void> {
  await poll(() => tab.read(shownText)).toContain(text);
}

/** The portal is open in a second tab, which knows nothing of the page. */
async function expectPortal({ embedding, tab }: Scene): Promise<void> {
  const readPlaces = async () => {
    const others = await tab.otherTabs();
    return Promise.all(
      others.map((other) => other.read('[location.origin, window.opener === null, document.referrer]')),
    );
  };
  await poll(readPlaces).toEqual([[embedding.serviceUrl, true, '']]);
  expect(await embedding.readPortalVisits()).toMatchObject([{ referer: null }]);
}

/** The error is reported, the person reads its sentence, and no tab was left open. */
async function expectError(tab: Tab, code: string): Promise<void> {
  const find = async () => (await readEvents(tab)).find(({ detail }) => detail.code === code);
  await poll(find).toBeDefined();
  await untilShown(tab, (await find())?.detail.message);
  await poll(() => tab.otherTabs()).toEqual([]);
}

type Event = Extract<Report, { kind: 'event' }>;

/** What the page has seen of its elements: see host-app.js. */
async function readEvents(tab: Tab): Promise<readonly Event[]> {
  const reports = await tab.read('globalThis.reports');
  // This is what host-app.js puts there.
  return (reports as Report[]).filter((report) => report.kind === 'event');
}

/** The events about launches, in their order. */
async function launchesOf(tab: Tab): Promise<readonly string[]> {
  const events = await readEvents(tab);
  return events.map(({ name }) => name).filter((name) => /before-launch|launched|blocked/.test(name));
}

async function stepsOf(tab: Tab): Promise<readonly string[]> {
  const events = await readEvents(tab);
  return events.filter(({ name }) => name === 'portal-status').map(({ detail }) => detail.order.status.step);
}

async function connectionsOf(tab: Tab): Promise<readonly string[]> {
  const events = await readEvents(tab);
  return events.filter(({ name }) => name === 'portal-connection').map(({ detail }) => detail.connection);
}
