import { createHash } from 'node:crypto';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Embedding, launchPage, startEmbedding } from './support/embedding.ts';
import type { HostPage } from './support/host.ts';
import { connectToChromium, connectToHeadlessShell, openVisit, type Report } from './support/visit.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await connectToHeadlessShell();
});

afterAll(() => browser.close());

function orderOf(embedding: Embedding) {
  return embedding.findOrder('collecting_sample.walk_in_test.appointment_scheduled');
}

const isEvent = (name: string) => (report: Report) => report.kind === 'event' && report.name === name;

/** What the gateway says a page is to write into `integrity`, by file. */
async function readHashes({ gatewayUrl }: Embedding): Promise<Readonly<Record<string, string>>> {
  return (await fetch(`${gatewayUrl}/widget/sri.json`)).json();
}

const ownLit = '<script type="module" src="/lit-app.js"></script>';

/** Four pages of strict hosts, each with a Lit of its own. */
const PAGES: Readonly<Record<string, (embedding: Embedding) => Promise<Partial<HostPage>>>> = {
  'the module from the gateway': async ({ gatewayUrl }) => ({
    head: `${ownLit}<script type="module" src="${gatewayUrl}/widget/portal-widget.js"></script>`,
  }),
  'the module from the page itself, and no server to ask but the gateway': async () => ({
    policy: 'self',
    head: `${ownLit}<script type="module" src="/portal-widget.js"></script>`,
  }),
  'a nonce and strict-dynamic': async ({ gatewayUrl }) => ({
    scripts: "'nonce-once' 'strict-dynamic'",
    head: `<script type="module" src="/lit-app.js" nonce="once"></script>
      <script type="module" src="${gatewayUrl}/widget/portal-widget.js" nonce="once"></script>`,
  }),
  'a hash for the module and no origin of it': async (embedding) => {
    const { 'portal-widget.js': hash = '' } = await readHashes(embedding);
    const src = `${embedding.gatewayUrl}/widget/portal-widget.js`;
    return {
      scripts: `'self' '${hash}'`,
      head: `${ownLit}<script type="module" src="${src}" integrity="${hash}" crossorigin></script>`,
    };
  },
};

describe('beside a Lit of the host, under Trusted Types, nothing is violated on a page with', () => {
  test.each(Object.entries(PAGES))('%s', async (_, more) => {
    await using embedding = await startEmbedding();
    const trustedTypes = 'portal-widget lit-html';
    const page = launchPage(embedding, orderOf(embedding), { trustedTypes, ...(await more(embedding)) });
    await using visit = await openVisit({ browser, embedding }, page);

    await visit.page.getByText('Drawn by Lit').waitFor();
    await visit.page.getByText('Appointment scheduled').waitFor();
    await embedding.advance(orderOf(embedding).orderId);
    await visit.page.getByText('Some results ready').waitFor();
    const opening = visit.nextPortal();
    await visit.page.getByRole('button', { name: 'Open patient portal' }).click();
    await opening;

    expect(visit.reports.filter(({ kind }) => kind === 'violation')).toEqual([]);
    expect(visit.recording.complaints).toEqual([]);
  });
});

describe('the hashes', () => {
  test('are those of what the gateway serves: every script and style sheet, by name and behind the version', async () => {
    await using embedding = await startEmbedding();
    const hashes = await readHashes(embedding);

    const served = Object.keys(hashes).map(async (file) => {
      const response = await fetch(`${embedding.gatewayUrl}/widget/${file}`);
      const hash = createHash('sha384').update(new Uint8Array(await response.arrayBuffer()));
      return [file, `sha384-${hash.digest('base64')}`];
    });

    expect(Object.fromEntries(await Promise.all(served))).toEqual(hashes);
    const names = ['ar', 'de', 'es', 'fr', 'pt'].map((language) => `portal-widget.${language}.js`);
    const [plain = [], versioned = []] = [false, true].map((isVersioned) =>
      Object.keys(hashes)
        .filter((file) => file.includes('/') === isVersioned)
        .map((file) => file.slice(file.indexOf('/') + 1))
        .toSorted(),
    );
    expect(plain).toEqual(['placeholder.css', 'portal-results.js', ...names, 'portal-widget.js'].toSorted());
    expect(versioned).toEqual(plain);
  });

  test.each([
    ['lets the module run as it was built', '/portal-widget.js', true],
    ['blocks a module that was tampered with: the link in the element stays', '/tampered.js', false],
  ])('%s', async (_, src, runs) => {
    await using embedding = await startEmbedding();
    const { 'portal-widget.js': hash = '' } = await readHashes(embedding);
    const page = launchPage(embedding, orderOf(embedding), {
      head: `<script type="module" src="${src}" integrity="${hash}" crossorigin></script>`,
      inside: '<a href="/portal-help">Ask for your portal link</a>',
    });
    await using visit = await openVisit({ browser, embedding }, page);

    const link = visit.page.getByRole('link', { name: 'Ask for your portal link' });
    const button = visit.page.getByRole('button', { name: 'Ask for your portal link' });
    await (runs ? button : link).waitFor();

    const facts = await visit.page.evaluate(() => [
      customElements.get('portal-launch') !== undefined,
      Reflect.get(globalThis, 'isTampered') === true,
    ]);
    expect(facts).toEqual([runs, false]);
    expect(await link.count()).toBe(runs ? 0 : 1);
    expect(visit.recording.complaints).toEqual(runs ? [] : [expect.stringContaining('integrity')]);
  });
});

describe('loaded twice', () => {
  test('the first copy works, the second one warns once, and nothing throws', async () => {
    await using embedding = await startEmbedding();
    const page = launchPage(embedding, orderOf(embedding), {
      head: `<script type="module" src="${embedding.gatewayUrl}/widget/portal-widget.js"></script>
        <script type="module" src="/portal-widget.js"></script>`,
    });
    const said: string[] = [];
    await using visit = await openVisit({ browser, embedding }, page, {
      prepare: async (opened) => {
        opened.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
        opened.on('pageerror', ({ message }) => said.push(message));
      },
    });
    await visit.page.getByText('Appointment scheduled').waitFor();

    expect(said).toEqual(['warning: Labgraph widget: already defined; this copy is unused.']);
  });
});

describe('a portal that isolates itself (Cross-Origin-Opener-Policy)', () => {
  test('opens, and the return to the page is noticed without asking the portal anything', async () => {
    await using browser = await connectToChromium();
    await using embedding = await startEmbedding();
    await using visit = await openVisit(
      { browser, embedding },
      launchPage(embedding, orderOf(embedding), { status: 'none' }),
    );
    // The portal of the sandbox isolates itself on request.
    await visit.page
      .context()
      .route(`${embedding.serviceUrl}/portal/**`, (route) =>
        route.continue({ url: `${route.request().url()}?coop=1` }),
      );
    // Otherwise playwright reports every tab as visible.
    const devtools = await visit.page.context().newCDPSession(visit.page);
    await devtools.send('Emulation.setFocusEmulationEnabled', { enabled: false });
    const headers = visit.page
      .context()
      .waitForEvent('response', (response) => response.url().includes('/portal/'));

    const opening = visit.nextPortal();
    await visit.page.getByRole('button', { name: 'Open patient portal' }).click();
    const portal = await opening;
    expect((await headers).headers()['cross-origin-opener-policy']).toBe('same-origin');
    expect(await portal.evaluate(() => [window.opener, document.referrer])).toEqual([null, '']);
    await visit.until(isEvent('portal-launched'));
    expect(visit.reports.filter(isEvent('portal-returned'))).toEqual([]);

    await portal.close();
    await visit.page.bringToFront();

    expect(await visit.until(isEvent('portal-returned'))).toBeDefined();
  });
});
