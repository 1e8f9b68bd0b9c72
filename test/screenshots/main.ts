import { mkdirSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright';
import { serveGallery } from '../../widget/gallery/server.ts';
import { startDemoGateway } from '../e2e/support/demo-gateway.ts';
import { findChromium } from '../support/tools.ts';
import { demoPictures, documentPictures, galleryPictures, type Picture } from './pictures.ts';

const usage = `npm run screenshots -- [demo] [gallery] [documents]

Takes pictures of the demo page and of the gallery: four widths, light, dark and forced colours, and the gallery in six
languages. They go to screenshots/; the pictures that README and docs show go to docs/images/. Without a name it takes all.`;

interface PictureSet {
  readonly folder: string;
  readonly pictures: readonly Picture[];
}

const sets: Readonly<Record<string, PictureSet>> = {
  demo: { folder: folderOf('screenshots'), pictures: demoPictures },
  gallery: { folder: folderOf('screenshots'), pictures: galleryPictures },
  documents: { folder: folderOf('docs/images'), pictures: documentPictures },
};

function folderOf(name: string): string {
  return fileURLToPath(new URL(`../../${name}/`, import.meta.url));
}

interface Place {
  /** The address of the page. */
  readonly url: string;
  readonly folder: string;
}

async function takePicture(browser: Browser, picture: Picture, { url, folder }: Place): Promise<void> {
  const { width, height, theme, scale = 1, isWhole } = picture;
  const context = await browser.newContext({
    viewport: { width, height },
    deviceScaleFactor: scale,
    reducedMotion: 'reduce',
    colorScheme: theme === 'light' ? 'light' : 'dark',
    forcedColors: theme === 'forced' ? 'active' : 'none',
  });
  const page = await context.newPage();
  page.on('pageerror', (error) => process.stderr.write(`${picture.file}: ${error.stack}\n`));
  await page.goto(url + encodeURI(picture.query ?? ''));
  await waitForContent(page, picture);
  await picture.act?.(page);
  await page.screenshot({ path: folder + picture.file, fullPage: isWhole });
  await context.close();
}

async function waitForContent(page: Page, { page: name }: Picture): Promise<void> {
  await page
    .locator(name === 'demo' ? '#events li' : 'figure')
    .first()
    .waitFor();
  await page.waitForLoadState('networkidle');
}

async function takeSet(browser: Browser, { folder, pictures }: PictureSet): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const gallery = await serveGallery();
  for (const picture of pictures) {
    // A gateway for each picture of the demo, because the picture moves the test that it shows.
    const demo = picture.page === 'demo' ? await startDemoGateway({ LOG_LEVEL: 'error' }) : null;
    await takePicture(browser, picture, { url: (demo ?? gallery).url, folder });
    await demo?.stop();
  }
  await gallery.stop();
  process.stdout.write(`${pictures.length} pictures in ${folder}\n`);
}

const names = process.argv.slice(2);
if (names.some((name) => !(name in sets))) {
  process.stderr.write(`${usage}\n`);
  process.exit(1);
}
const executablePath = await findChromium();
const browser = await chromium.launch({
  ...(executablePath ? { executablePath } : {}),
  args: ['--no-sandbox', '--disable-gpu'],
});
for (const [name, set] of Object.entries(sets)) {
  if (names.length === 0 || names.includes(name)) await takeSet(browser, set);
}
await browser.close();
