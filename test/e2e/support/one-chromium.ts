import { createServer } from 'node:http';
import type { BrowserServer } from 'playwright';
import type { TestProject } from 'vitest/node';
import { listenAnywhere } from '../../support/listening.ts';
import { findChromium } from '../../support/tools.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A server that answers with the address where the one Chromium of a run takes connections. */
    readonly chromium: string;
  }
}

/** One Chromium for all files of the run, started when the first of them asks for it. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  let launched: Promise<BrowserServer> | null = null;
  const server = createServer(async (_, response) => {
    try {
      launched ??= launch();
      response.end((await launched).wsEndpoint());
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  provide('chromium', await listenAnywhere(server));
  return async () => {
    server.close();
    await (await launched)?.close();
  };
}

/** With its popup blocker and its back/forward cache, as people have it. */
async function launch(): Promise<BrowserServer> {
  const { chromium } = await import('playwright');
  const executablePath = await findChromium();
  return await chromium.launchServer({
    ...(executablePath ? { executablePath } : {}),
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
    ignoreDefaultArgs: ['--disable-popup-blocking', '--disable-back-forward-cache'],
  });
}
