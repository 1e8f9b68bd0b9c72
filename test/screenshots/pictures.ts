import type { Page } from 'playwright';

/** How a person has set up the browser. */
export type Theme = 'light' | 'dark' | 'forced';

/** One picture of a page. */
export interface Picture {
  /** Its file, below the folder of its set. */
  readonly file: string;
  readonly page: 'demo' | 'gallery';
  /** The query of the gallery: `?theme=dark&lang=ar&section=Trouble`. */
  readonly query?: string;
  readonly width: number;
  readonly height: number;
  readonly theme: Theme;
  /** The whole page, and not only its first screen. */
  readonly isWhole: boolean;
  /** Pixels of the picture for each pixel of the page; 1 by default. */
  readonly scale?: number;
  /** What a person does before the picture is taken. */
  readonly act?: (page: Page) => Promise<void>;
}

const screens = [
  { width: 390, height: 844 },
  { width: 834, height: 1112 },
  { width: 1280, height: 720 },
  { width: 1440, height: 900 },
];
const themes: readonly Theme[] = ['light', 'dark', 'forced'];
const languages = ['en', 'es', 'fr', 'de', 'pt', 'ar'];

/** The demo page after one step: its first screen and the whole page, for each screen and theme. */
export const demoPictures: readonly Picture[] = screens.flatMap((screen) =>
  themes.flatMap((theme) =>
    [false, true].map((isWhole): Picture => {
      const file = `demo-${screen.width}-${theme}${isWhole ? '-whole' : ''}.png`;
      const act = isWhole ? takeStepAndScroll : takeStep;
      return { file, page: 'demo', ...screen, theme, isWhole, act };
    }),
  ),
);

/** Every state of the widget, for each screen, theme and language. */
export const galleryPictures: readonly Picture[] = screens.flatMap((screen) =>
  themes.flatMap((theme) =>
    languages.map((language): Picture => {
      const file = `gallery-${screen.width}-${theme}-${language}.png`;
      return {
        file,
        page: 'gallery',
        query: `?theme=${theme}&lang=${language}`,
        ...screen,
        theme,
        isWhole: true,
      };
    }),
  ),
);

/** The pictures that README and docs show. */
export const documentPictures: readonly Picture[] = [
  {
    file: 'demo-desktop.png',
    page: 'demo',
    width: 1280,
    height: 720,
    theme: 'light',
    isWhole: false,
    scale: 2,
    act: takeStep,
  },
  ofSection('gallery-light.png', 'section=Launch'),
  ofSection('gallery-dark.png', 'section=Status as text', 'dark'),
  ofSection('gallery-steps.png', 'section=Status as steps'),
  ofSection('gallery-rtl.png', 'lang=ar&section=Status as steps'),
  ofSection('gallery-results.png', 'section=Results'),
  ofSection('gallery-error.png', 'section=Trouble'),
  ofSection('gallery-contrast.png', 'section=Launch', 'forced'),
  ofSection('gallery-freshness.png', 'section=Freshness'),
  ofSection('gallery-hosts.png', 'section=In the design of others'),
];

function ofSection(file: string, query: string, theme: Theme = 'light'): Picture {
  const shown = `?theme=${theme}&${query}`;
  return { file, page: 'gallery', query: shown, width: 1200, height: 300, theme, isWhole: true };
}

/** Moves the test of the demo one step, and waits until the widget shows it. */
async function takeStep(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Move the test one step' }).click();
  await page.getByText(/^Done\. The widget shows it, \d+ ms after your click\.$/).waitFor();
  // Away from the button, which would look hovered.
  await page.mouse.move(0, 0);
}

/** The results are read when they come into view. */
async function takeStepAndScroll(page: Page): Promise<void> {
  await takeStep(page);
  await page.locator('portal-results').scrollIntoViewIfNeeded();
  await page.getByText('There are no results yet.').waitFor();
  await page.evaluate(() => scrollTo(0, 0));
}
