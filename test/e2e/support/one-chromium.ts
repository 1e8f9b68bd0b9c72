import { createServer } from 'node:http';
import type { BrowserServer } from 'playwright';
import type { TestProject } from 'vitest/node';
import { listenAnywhere } from '../../support/listening.ts';
import { findChromium, findHeadlessShell } from '../../support/tools.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A server that answers `/chromium` and `/headless-shell` with the address where the one of a run takes connections. */
    readonly browsers: string;
  }
}

const finders: Readonly<Record<string, () => Promise<string | null>>> = {
  '/chromium': findChromium,
  '/headless-shell': findHeadlessShell,
};

/** One browser of each kind for all files of the run, started when the first of them asks for it. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const launched = new Map<string, Promise<BrowserServer>>();
  const server = createServer(async ({ url = '' }, response) => {
    try {
      const browser = launched.get(url) ?? launch(finders[url]);
      launched.set(url, browser);
      response.end((await browser).wsEndpoint());
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  provide('browsers', await listenAnywhere(server));
  return async () => {
    server.close();
    for (const browser of launched.values()) await (await browser).close();
  };
}

/** With popup blocker and back/forward cache where the browser has them, as people have it. */
async function launch(find = findChromium): Promise<BrowserServer> {
  const { chromium } = await import('playwright');
  const executablePath = await find();
  return await chromium.launchServer({
    ...(executablePath ? { executablePath } : {}),
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
    ignoreDefaultArgs: ['--disable-popup-blocking', '--disable-back-forward-cache'],
  });
}
