import { installLocked } from '../../bench/support/install.ts';

/** Vitest calls it before the tests of this folder are loaded. */
export function setup(): void {
  installLocked(new URL('.', import.meta.url));
}
