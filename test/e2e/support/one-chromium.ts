import { chromium } from 'playwright';
import type { TestProject } from 'vitest/node';
import { findChromium } from '../../support/tools.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the one Chromium of a run takes connections. */
    readonly chromium: string;
  }
}

/** Starts one Chromium for all files of the run: with its popup blocker and its back/forward cache, as people have it. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const executablePath = await findChromium();
  const server = await chromium.launchServer({
    ...(executablePath ? { executablePath } : {}),
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
    ignoreDefaultArgs: ['--disable-popup-blocking', '--disable-back-forward-cache'],
  });
  provide('chromium', server.wsEndpoint());
  return () => server.close();
}
