import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DemoGateway, startDemoGateway } from './support/demo-gateway.ts';
import { connectToHeadlessShell } from './support/visit.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const desktop = { width: 1440, height: 900 };
const laptop = { width: 1280, height: 720 };
const phone = { width: 390, height: 844 };

let gateway: DemoGateway;
let browser: Browser;

beforeAll(async () => {
  gateway = await startDemoGateway();
  browser = await connectToHeadlessShell();
});

afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

/** A page of its own context, with everything that went wrong on it. */
interface OpenedDemo extends AsyncDisposable {
  readonly page: Page;
  readonly faults: readonly string[];
}

/** Opens the demo and waits until the widget follows the picked order live. */
async function openDemo(options: BrowserContextOptions = {}): Promise<OpenedDemo> {
  const context = await browser.newContext({ viewport: desktop, reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(150_000);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('requestfailed', (request) => faults.push(`failed: ${request.url()}`));
  await page.exposeFunction('reportViolation', (directive: string) => faults.push(`CSP: ${directive}`));
  await page.addInitScript(`addEventListener('securitypolicyviolation', (event) => {
    reportViolation(event.violatedDirective);
  })`);
  await page.goto(gateway.url);
  await untilLive(page);
  return { page, faults, [Symbol.asyncDispose]: () => context.close() };
}

/** Waits until the widget has a live connection. */
async function untilLive(page: Page): Promise<void> {
  await page.locator('#log').getByText('connecting to live').first().waitFor();
  await page.locator('portal-launch').getByRole('list').waitFor();
}

async function pickPerson(page: Page, name: string): Promise<void> {
  await page.getByLabel('Person', { exact: true }).selectOption({ label: name });
  await page.locator('#app-person').getByText(name).waitFor();
}

/** Picks an order by the words of its option, such as `Lipid Check`. */
async function pickOrder(page: Page, words: RegExp): Promise<string> {
  const option = page
    .getByLabel('Test', { exact: true })
    .locator('option')
    .filter({ hasText: words })
    .first();
  const orderId = (await option.getAttribute('value')) ?? '';
  await page.getByLabel('Test', { exact: true }).selectOption(orderId);
  return orderId;
}

const stepButton = (page: Page) => page.getByRole('button', { name: 'Move the test one step' });
const statusOf = (page: Page, label: string) =>
  page.locator('portal-launch').getByRole('listitem').filter({ hasText: label });

/** The lines of GraphiQL's editor that are not wholly within their pane. */
const findCutLines = `[...document.querySelectorAll('.graphiql-query-editor .view-line > span')]
  .filter((line) => {
    const [box, pane] = [line, line.closest('.monaco-scrollable-element')].map((node) => node.getBoundingClientRect());
    return line.textContent.trim() !== '' && (box.right > pane.right || box.bottom > pane.bottom);
  })
  .map((line) => line.textContent)`;

describe('the demo page', () => {
  test('moves the picked order, and the widget shows it without a reload', async () => {
    await using demo = await openDemo();
    const { page, faults } = demo;
    await pickPerson(page, 'Finley Osgoode');
    await pickOrder(page, /Kit registered/);
    await statusOf(page, 'Kit registered').waitFor();
    await page.evaluate('globalThis.isSamePage = true');

    await stepButton(page).click();

    await statusOf(page, 'Lab order ready').waitFor();
    await page.getByText(/^Done\. The widget shows it, \d+ ms after your click\.$/).waitFor();
    const journey = page.getByRole('list', { name: 'Every step so far' }).getByRole('listitem');
    await journey.filter({ hasText: 'Lab order ready' }).waitFor();
    const log = page.getByRole('list', { name: 'Events for your code' });
    expect(await log.getByRole('listitem').first().textContent()).toContain('Requisition created (changed)');
    expect(await page.evaluate('globalThis.isSamePage')).toBe(true);
    expect(faults).toEqual([]);
  });

  test('stays with the person who is shown where the orders of another one cannot be read, who can be picked again', async () => {
    await using demo = await openDemo();
    const { page } = demo;
    await pickPerson(page, 'Finley Osgoode');
    const select = page.getByLabel('Person', { exact: true });
    const shown = await select.inputValue();
    await page.route('**/graphql', (route) => route.fulfill({ status: 503 }));

    await select.selectOption({ label: 'Avery Lindholm' });
    await page.getByText('Labgraph does not answer. Is it still running?').waitFor();

    expect(await select.inputValue()).toBe(shown);
    expect(await stepButton(page).getAttribute('aria-disabled')).toBe('false');
    await page.unroute('**/graphql');
    await pickPerson(page, 'Avery Lindholm');
  });

  test('says when an order has ended, and leads on to another one', async () => {
    await using demo = await openDemo();
    const { page, faults } = demo;
    await pickPerson(page, 'Avery Lindholm');
    const endedId = await pickOrder(page, /Results corrected/);
    await page.getByText('This test has come to its end: Results corrected.').waitFor();

    await page.getByRole('button', { name: 'Show another test' }).click();

    await stepButton(page).waitFor();
    await page.locator('portal-launch').locator('[aria-current=step]').waitFor();
    expect(page.url()).not.toContain(endedId);
    expect(faults).toEqual([]);
  });

  test('shows people without tests and without details as they are', async () => {
    await using demo = await openDemo();
    const { page, faults } = demo;

    await pickPerson(page, 'Noel Abernathie');

    await page.locator('portal-launch').getByText('No order to show yet.').waitFor();
    expect(await page.getByLabel('Test', { exact: true }).isDisabled()).toBe(true);
    expect(await page.locator('#page-code').textContent()).not.toContain('order-id');
    expect(await page.locator('#note').textContent()).toContain('the portal cannot open');
    expect(faults).toEqual([]);
  });

  test('keeps the pick through a reload and through a link within the page', async () => {
    await using demo = await openDemo();
    const { page } = demo;
    await pickPerson(page, 'Avery Lindholm');
    const orderId = await pickOrder(page, /Lipid Check/);

    await page.getByRole('link', { name: 'How it works' }).click();
    await page.waitForURL((url) => url.hash.includes(orderId));
    await page.reload();

    await page.getByRole('heading', { name: 'Lipid Check' }).waitFor();
    expect(await page.getByLabel('Test', { exact: true }).inputValue()).toBe(orderId);
  });

  test('opened over http from another machine, says why the widget shows nothing and what to do', async () => {
    const open = await startDemoGateway({ HOST: '0.0.0.0' });
    try {
      const context = await browser.newContext({ viewport: phone });
      const page = await context.newPage();
      // To a browser this address is no more this machine than another one is.
      await page.goto(open.url);

      const { port } = new URL(open.url);
      await page
        .locator('portal-launch')
        .getByText(`Forward the port, and open that: ssh -L ${port}:localhost:${port}`)
        .waitFor();
      await context.close();
    } finally {
      await open.stop();
    }
  });

  test('gives code to embed with this address and this order, and copies it', async () => {
    await using demo = await openDemo({ permissions: ['clipboard-read', 'clipboard-write'] });
    const { page } = demo;
    const orderId = await pickOrder(page, /Heart and Metabolism/);

    await page.getByRole('button', { name: 'Copy the code of your page' }).click();

    await page.getByRole('button', { name: 'Copied the code of your page' }).waitFor();
    const lines = String(await page.evaluate('navigator.clipboard.readText()')).split('\n');
    expect(lines).toEqual([
      '<script type="module" src="/portal-token.js"></script>',
      `<script type="module" src="${gateway.url}/widget/portal-widget.js"></script>`,
      `<portal-launch endpoint="${gateway.url}/graphql" order-id="${orderId}" status="steps"></portal-launch>`,
    ]);
  });

  test('selects the code where the browser does not let a page copy', async () => {
    await using demo = await openDemo();
    const { page } = demo;
    await page.evaluate(`{
      navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'));
      document.execCommand = () => false;
    }`);

    await page.getByRole('button', { name: 'Copy' }).first().click();

    await page.getByText('The code is selected: copy it with your keyboard.').waitFor();
    expect(await page.evaluate('String(getSelection())')).toContain('<portal-launch');
  });

  test('links to GraphiQL, whose three operations fit their pane and are answered', async () => {
    await using demo = await openDemo({ viewport: laptop });
    const [graphiql] = await Promise.all([
      demo.page.waitForEvent('popup'),
      demo.page.getByRole('link', { name: 'Open GraphiQL' }).click(),
    ]);
    await graphiql.locator('.graphiql-tab').nth(2).waitFor();

    const expected = [
      ['UsersWithOrders', '"Avery"'],
      ['OrderTestkit', '"OrderCreated"'],
      ['OrderLive', '"SNAPSHOT"'],
    ];
    for (const [index, [name = '', answer = '']] of expected.entries()) {
      await graphiql.getByRole('button', { name, exact: true }).press('Enter');
      await graphiql.locator('.graphiql-query-editor .view-line').getByText(name).waitFor();
      const execute = graphiql.getByRole('button', { name: /Execute query/ });
      const shown = graphiql.locator('.result-window').getByText(answer).first();
      // GraphiQL reads the operations of a tab a moment after it shows them, and until then executes those of the last one.
      const isAnswered = async () => {
        if (await execute.isVisible()) await execute.click();
        await shown.waitFor({ timeout: 3000 }).catch(() => undefined);
        return await shown.isVisible();
      };
      await expect.poll(isAnswered).toBe(true);
      expect([index, await graphiql.evaluate(findCutLines)]).toEqual([index, []]);
    }
    // Monaco alone takes seconds on a busy machine.
  });

  test.each([laptop, phone])(
    'has the widget, its caption and the one button to press on the first screen of $width x $height',
    async (viewport) => {
      await using demo = await openDemo({ viewport });
      const { page } = demo;
      const widget = page.locator('portal-launch');
      const parts = [
        page.getByText('This is the widget'),
        widget.getByRole('button', { name: 'Open my portal' }),
        widget.getByRole('listitem').last(),
        stepButton(page),
      ];

      await stepButton(page).click();
      await page.getByText(/^Done\./).waitFor();

      const lowest = (await stepButton(page).boundingBox())?.y ?? 0;
      const floor = viewport === phone ? lowest : viewport.height;
      const boxes = await Promise.all(parts.map((part) => part.boundingBox()));
      const ends = boxes.map((box) => (box === null ? Number.NaN : box.y + box.height));
      expect(ends.slice(0, 3).every((end) => end <= floor)).toBe(true);
      expect(ends[3]).toBeLessThanOrEqual(viewport.height);
      expect(await page.evaluate('scrollY')).toBe(0);
    },
  );

  test.each([
    { name: 'a desktop, light', viewport: desktop, colorScheme: 'light' },
    { name: 'a desktop, dark', viewport: desktop, colorScheme: 'dark' },
    { name: 'a phone, light', viewport: phone, colorScheme: 'light' },
    { name: 'a phone, dark', viewport: phone, colorScheme: 'dark' },
    { name: 'a laptop, forced colours', viewport: laptop, colorScheme: 'dark', forcedColors: 'active' },
  ] as const)('is accessible and fits on $name', async ({ name: _name, ...options }) => {
    // axe is put into the page as a script, which the page's own policy would refuse.
    await using demo = await openDemo({ ...options, bypassCSP: true });
    const { page, faults } = demo;
    await page.evaluate(axeSource);

    const violations = await page.evaluate(`axe.run().then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`);

    expect(violations).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(options.viewport.width);
    expect(faults).toEqual([]);
  });
});
