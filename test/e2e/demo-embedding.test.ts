import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gatewayKey } from '../support/lab.ts';
import { startDemoGateway } from './support/demo-gateway.ts';
import { connectToHeadlessShell } from './support/visit.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await connectToHeadlessShell();
});

afterAll(() => browser.close());

/** What the demo page lets people copy. */
interface Copied {
  readonly page: string;
  readonly script: string;
  readonly mutation: string;
}

async function copyAll(page: Page): Promise<Copied> {
  const copy = async (name: string) => {
    await page.getByRole('button', { name: `Copy ${name}` }).click();
    await page.getByRole('button', { name: `Copied ${name}` }).waitFor();
    return String(await page.evaluate('navigator.clipboard.readText()'));
  };
  return {
    page: await copy('the code of your page'),
    script: await copy('the script'),
    mutation: await copy('the mutation'),
  };
}

/** A team's server: its page under the strictest policy, its script, and the endpoint that gives a token. */
class TeamServer {
  readonly #server: Server;
  copied: Copied | null = null;
  gatewayUrl = '';

  constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request.url ?? '').then(
        ({ type, body }) => {
          response.setHeader('content-security-policy', this.#policy());
          response.setHeader('content-type', type).end(body);
        },
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    // A server that listens on a TCP port has an address of this shape.
    return `http://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  #policy(): string {
    const { gatewayUrl } = this;
    return [
      "default-src 'none'",
      `script-src 'self' ${gatewayUrl}`,
      `connect-src 'self' ${gatewayUrl} ${gatewayUrl.replace('http', 'ws')}`,
      "require-trusted-types-for 'script'",
      'trusted-types portal-widget',
    ].join('; ');
  }

  async #answer(path: string): Promise<{ readonly type: string; readonly body: string }> {
    if (path === '/portal-token.js') return { type: 'text/javascript', body: this.copied?.script ?? '' };
    if (path === '/portal-token') return { type: 'application/json', body: await this.#createToken() };
    return {
      type: 'text/html; charset=utf-8',
      body: `<!doctype html><html lang="en"><title>A page</title><body>${this.copied?.page}</body></html>`,
    };
  }

  async #createToken(): Promise<string> {
    const response = await fetch(`${this.gatewayUrl}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gatewayKey}` },
      body: JSON.stringify({ query: this.copied?.mutation }),
    });
    return JSON.stringify((await response.json()).data.createViewerToken);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}

describe('the code that the demo page gives away', () => {
  test('runs unchanged on a page with a strict policy: the widget is live, and opens the portal', async () => {
    await using team = new TeamServer();
    const origin = await team.listen();
    const gateway = await startDemoGateway({ GATEWAY_API_KEYS: gatewayKey, ALLOWED_ORIGINS: origin });
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
    context.setDefaultTimeout(150_000);
    const demo = await context.newPage();
    await demo.goto(gateway.url);
    await demo.locator('#events li').first().waitFor();
    team.copied = await copyAll(demo);
    team.gatewayUrl = gateway.url;
    const page = await context.newPage();
    const violations: string[] = [];
    await page.exposeFunction('reportViolation', (directive: string) => violations.push(directive));
    await page.addInitScript(`addEventListener('securitypolicyviolation', (event) => {
      reportViolation(event.violatedDirective);
    })`);
    await page.goto(origin);
    await page.locator('portal-launch').getByText('Kit waiting to be registered').waitFor();

    await demo.getByRole('button', { name: 'Move the test one step' }).click();
    await page.locator('portal-launch').getByText('Kit on its way to you').waitFor();
    const [portal] = await Promise.all([
      context.waitForEvent('page'),
      page.getByRole('button', { name: 'Open patient portal' }).click(),
    ]);
    await portal.getByRole('heading').first().waitFor();

    expect(violations).toEqual([]);
    expect(new URL(portal.url()).origin).not.toBe(origin);
    await context.close();
    await gateway.stop();
  });
});
