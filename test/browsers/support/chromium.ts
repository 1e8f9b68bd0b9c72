import type { Page, Browser as PlaywrightBrowser } from 'playwright';
import { connectToChromium } from '../../e2e/support/visit.ts';
import type { Browser, Tab } from './browser.ts';

/** The Chromium that all files of the run share. */
export async function startChromium(): Promise<Browser> {
  return toBrowser(await connectToChromium());
}

export function toBrowser(chromium: PlaywrightBrowser): Browser {
  return {
    version: chromium.version(),
    visit: async (address) => {
      const context = await chromium.newContext();
      const page = await context.newPage();
      await page.goto(address);
      return toTab(page);
    },
    [Symbol.asyncDispose]: () => chromium.close(),
  };
}

function toTab(page: Page): Tab {
  const context = page.context();
  return {
    click: (text) => page.getByText(text).click(),
    read: (expression) => page.evaluate(expression),
    goBack: async () => void (await page.goBack({ waitUntil: 'commit' })),
    otherTabs: async () =>
      context
        .pages()
        .filter((other) => other !== page)
        .map(toTab),
    [Symbol.asyncDispose]: () => context.close(),
  };
}
