import { installLocked, installPacked } from '../../bench/support/install.ts';

/** Vitest calls it before the tests of this folder are loaded. */
export function setup(): void {
  const folder = new URL('.', import.meta.url);
  installLocked(folder);
  installPacked('client', folder);
}
