import { cdp } from 'vitest/browser';

/** The colours of a page as a host may have it. `bare` is a dark page that names no `color-scheme`. */
export const SCHEMES = ['light', 'dark', 'bare', 'forced'] as const;

/** Every direction in all colours. */
export const LOOKS = (['ltr', 'rtl'] as const).flatMap((direction) =>
  SCHEMES.map((scheme) => [direction, scheme] as const),
);

/** Gives the page a direction, with its language, and colours. */
export async function dressPage(direction: 'ltr' | 'rtl', scheme: (typeof SCHEMES)[number]): Promise<void> {
  const { documentElement } = document;
  const isDark = scheme === 'dark' || scheme === 'bare';
  documentElement.dir = direction;
  documentElement.lang = direction === 'rtl' ? 'ar' : 'en';
  documentElement.style.colorScheme = scheme === 'dark' ? 'dark' : 'light';
  if (scheme === 'bare') documentElement.style.colorScheme = '';
  documentElement.style.background = isDark ? '#14181c' : '#fff';
  documentElement.style.color = isDark ? '#e8ecef' : '#1d2429';
  await emulate({ 'forced-colors': scheme === 'forced' ? 'active' : 'none' });
}

/** Makes the page again what every test begins with. */
export async function undressPage(): Promise<void> {
  const { documentElement } = document;
  documentElement.removeAttribute('style');
  documentElement.dir = '';
  documentElement.lang = 'en';
  await emulate({});
}

/** What the person or the device asks for: media features by name, and the page on paper. */
export function emulate(wishes: Readonly<Record<string, string>>, media = ''): Promise<unknown> {
  // The provider's session; its type is known only to the provider's own package.
  const devtools = cdp() as { readonly send?: (name: string, parameters: object) => Promise<unknown> };
  const features = Object.entries(wishes).map(([name, value]) => ({ name, value }));
  return (
    devtools.send?.('Emulation.setEmulatedMedia', { media, features }) ??
    Promise.reject(new Error('No devtools.'))
  );
}
