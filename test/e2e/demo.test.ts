import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DemoGateway, startDemoGateway } from './support/demo-gateway.ts';
import { connectToChromium } from './support/visit.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const desktop = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };

let gateway: DemoGateway;
let browser: Browser;

beforeAll(async () => {
  gateway = await startDemoGateway();
  browser = await connectToChromium();
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
  await page.locator('portal-order-status').getByText('Up to date').waitFor();
  return { page, faults, [Symbol.asyncDispose]: () => context.close() };
}

/** Picks an order by the words of its option, such as `Lipid Check`. */
async function pickOrder(page: Page, words: RegExp): Promise<string> {
  const option = page
    .getByLabel('Order', { exact: true })
    .locator('option')
    .filter({ hasText: words })
    .first();
  const orderId = (await option.getAttribute('value')) ?? '';
  await page.getByLabel('Order', { exact: true }).selectOption(orderId);
  return orderId;
}

const stepButton = (page: Page) => page.getByRole('button', { name: 'Move the order one step' });
const statusOf = (page: Page, label: string) =>
  page.locator('portal-order-status').getByRole('listitem').filter({ hasText: label });

describe('the demo page', () => {
  test('moves the picked order, and the widget shows it without a reload', async () => {
    await using demo = await openDemo();
    const { page, faults } = demo;
    await page.getByLabel('Member', { exact: true }).selectOption({ label: 'Member 0006' });
    await pickOrder(page, /Kit registered/);
    await statusOf(page, 'Kit registered').waitFor();
    await page.evaluate('globalThis.isSamePage = true');

    await stepButton(page).click();

    await statusOf(page, 'Requisition created').waitFor();
    await page.getByText(/^Moved, and heard \d+ ms after the press\./).waitFor();
    const journey = page.getByRole('list', { name: 'The journey so far' }).getByRole('listitem');
    await journey.filter({ hasText: 'Requisition created' }).waitFor();
    const log = page.getByRole('list', { name: 'Events of the widget' });
    expect(await log.getByRole('listitem').first().textContent()).toContain('Requisition created (changed)');
    expect(await page.evaluate('globalThis.isSamePage')).toBe(true);
    expect(faults).toEqual([]);
  });

  test('says when an order has ended, and leads on to another one', async () => {
    await using demo = await openDemo();
    const { page, faults } = demo;
    const endedId = await pickOrder(page, /Results corrected/);
    await page.getByText('This order has come to its end: Results corrected.').waitFor();

    await page.getByRole('button', { name: 'Pick another order' }).click();

    await stepButton(page).waitFor();
    await page.locator('portal-order-status').getByText('Up to date').waitFor();
    expect(page.url()).not.toContain(endedId);
    expect(faults).toEqual([]);
  });

  test('shows members without orders and without details as they are', async () => {
    await using demo = await openDemo();
    const { page, faults } = demo;

    await page.getByLabel('Member', { exact: true }).selectOption({ label: 'Member 0014' });

    await page.locator('portal-order-status').getByText('No order to show yet.').waitFor();
    expect(await page.getByLabel('Order', { exact: true }).isDisabled()).toBe(true);
    expect(await page.locator('#embed-code').textContent()).not.toContain('order-id');
    expect(await page.locator('#caption').textContent()).toContain('the portal stays shut');
    expect(faults).toEqual([]);
  });

  test('keeps the pick through a reload and through a link within the page', async () => {
    await using demo = await openDemo();
    const { page } = demo;
    const orderId = await pickOrder(page, /Lipid Check/);

    await page.getByRole('link', { name: 'How it works' }).click();
    await page.waitForURL((url) => url.hash.includes(orderId));
    await page.reload();

    await page.getByRole('heading', { name: 'Lipid Check' }).waitFor();
    expect(await page.getByLabel('Order', { exact: true }).inputValue()).toBe(orderId);
  });

  test('gives code to embed with this address and this order, and copies it', async () => {
    await using demo = await openDemo({ permissions: ['clipboard-read', 'clipboard-write'] });
    const { page } = demo;
    const orderId = await pickOrder(page, /Lipid Check/);

    await page.getByRole('button', { name: 'Copy' }).first().click();

    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const lines = String(await page.evaluate('navigator.clipboard.readText()')).split('\n');
    expect(lines).toEqual([
      `<script type="module" src="${gateway.url}/widget/portal-widget.js"></script>`,
      `<portal-launch endpoint="${gateway.url}/graphql" order-id="${orderId}" status="steps"></portal-launch>`,
      expect.stringContaining(".tokenProvider = () => fetch('/portal-token'"),
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

  test('links to GraphiQL with the three queries and a key that works', async () => {
    await using demo = await openDemo();
    const { page } = demo;

    const [graphiql] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('link', { name: 'Open GraphiQL' }).click(),
    ]);

    await graphiql.locator('.graphiql-tab').nth(2).waitFor();
    expect(await graphiql.locator('.graphiql-tab').allTextContents()).toEqual([
      expect.stringContaining('UsersWithOrders'),
      expect.stringContaining('OrderTestkit'),
      expect.stringContaining('OrderLive'),
    ]);
    await graphiql.getByRole('button', { name: /Execute query/ }).click();
    await graphiql.locator('.result-window').getByText('member-0001').waitFor();
  });

  test.each([
    { name: 'a desktop, light', viewport: desktop, colorScheme: 'light' },
    { name: 'a desktop, dark', viewport: desktop, colorScheme: 'dark' },
    { name: 'a phone, light', viewport: phone, colorScheme: 'light' },
    { name: 'a phone, dark', viewport: phone, colorScheme: 'dark' },
  ] as const)('is accessible and fits on $name', async ({ viewport, colorScheme }) => {
    // axe is put into the page as a script, which the page's own policy would refuse.
    await using demo = await openDemo({ viewport, colorScheme, bypassCSP: true });
    const { page, faults } = demo;
    await page.evaluate(axeSource);

    const violations = await page.evaluate(`axe.run().then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`);

    expect(violations).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
    expect(faults).toEqual([]);
  });
});
