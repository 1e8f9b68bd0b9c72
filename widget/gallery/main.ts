import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium } from 'playwright';
import { createServer } from 'vite';
import { findChromium } from '../../test/support/tools.ts';

/** `npm run gallery` shows the gallery; `npm run gallery -- --screenshots` photographs it for the documents and ends. */
const imagesFolder = fileURLToPath(new URL('../../docs/images/', import.meta.url));

interface Picture {
  readonly file: string;
  readonly query: string;
  readonly forced?: boolean;
}

const PICTURES: readonly Picture[] = [
  { file: 'gallery-light.png', query: 'section=Launch' },
  { file: 'gallery-dark.png', query: 'theme=dark&section=Status as text' },
  { file: 'gallery-steps.png', query: 'section=Status as steps' },
  { file: 'gallery-rtl.png', query: 'lang=ar&section=Status as steps' },
  { file: 'gallery-error.png', query: 'section=Trouble' },
  { file: 'gallery-contrast.png', query: 'theme=forced&section=Launch', forced: true },
  { file: 'gallery-freshness.png', query: 'section=Freshness' },
  { file: 'gallery-hosts.png', query: 'section=In the design of others' },
];

const server = await createServer({
  root: fileURLToPath(new URL('.', import.meta.url)),
  configFile: false,
  logLevel: 'warn',
  server: { host: '127.0.0.1', fs: { strict: false } },
});
await server.listen(0);
const [address = ''] = server.resolvedUrls?.local ?? [];

if (process.argv.includes('--screenshots')) {
  mkdirSync(imagesFolder, { recursive: true });
  const executablePath = await findChromium();
  const browser = await chromium.launch({
    ...(executablePath ? { executablePath } : {}),
    args: ['--no-sandbox', '--disable-gpu'],
  });
  for (const picture of PICTURES) await photograph(browser, picture);
  await browser.close();
  await server.close();
} else {
  process.stdout.write(`The gallery is at ${address}\n`);
}

async function photograph(browser: Browser, { file, query, forced }: Picture): Promise<void> {
  const page = await browser.newPage({
    viewport: { width: 1200, height: 300 },
    reducedMotion: 'reduce',
    forcedColors: forced ? 'active' : 'none',
    colorScheme: forced ? 'dark' : null,
  });
  page.on('pageerror', (error) => process.stderr.write(`${error.stack}\n`));
  await page.goto(address + encodeURI(`?${query}`), { waitUntil: 'networkidle' });
  await page.locator('figure').first().waitFor();
  await page.screenshot({ path: `${imagesFolder}${file}`, fullPage: true });
  await page.close();
}
