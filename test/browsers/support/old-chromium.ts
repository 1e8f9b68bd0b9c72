import { createRequire } from 'node:module';
import { chromium } from 'playwright';
import { installLocked } from '../../../bench/support/install.ts';
import type { Browser } from './browser.ts';
import { toBrowser } from './chromium.ts';

const folder = new URL('../old/', import.meta.url);

/** The oldest Chromium in which the widget must work (docs/embedding.md), as npm has it: without a blocker of tabs. */
export async function startOldChromium(): Promise<Browser> {
  installLocked(folder);
  const found: { readonly executablePath: () => Promise<string> } =
    createRequire(folder)('@sparticuz/chromium');
  return toBrowser(
    await chromium.launch({
      executablePath: await found.executablePath(),
      args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader'],
    }),
  );
}
