import puppeteer, { type ElementHandle, type Page } from 'puppeteer-core';
import { findFirefox } from '../../support/tools.ts';
import { type Browser, findControl, type Tab } from './browser.ts';

/** As people have it: what Firefox sets for tests would switch its popup blocker off. */
const extraPrefsFirefox = { 'remote.prefs.recommended': false, 'dom.disable_open_during_load': true };

/** The Firefox of this machine, over WebDriver BiDi. */
export async function startFirefox(): Promise<Browser> {
  const executablePath = findFirefox();
  if (executablePath === null) throw new Error('There is no Firefox on this machine.');
  const firefox = await puppeteer.launch({ browser: 'firefox', executablePath, extraPrefsFirefox });
  return {
    version: (await firefox.version()).replace('firefox/', ''),
    visit: async (address) => {
      const context = await firefox.createBrowserContext();
      const page = await context.newPage();
      await page.goto(address);
      return toTab(page);
    },
    [Symbol.asyncDispose]: () => firefox.close(),
  };
}

function toTab(page: Page): Tab {
  const context = page.browserContext();
  return {
    click: async (text) => {
      const control = await page.waitForFunction(findControl(text));
      // `findControl` finds a button or a link.
      await (control as ElementHandle<HTMLElement>).click();
    },
    read: (expression) => page.evaluate(expression),
    goBack: async () => void (await page.goBack({ waitUntil: 'domcontentloaded' })),
    otherTabs: async () => (await context.pages()).filter((other) => other !== page).map(toTab),
    [Symbol.asyncDispose]: () => context.close(),
  };
}
