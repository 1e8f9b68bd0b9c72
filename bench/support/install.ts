import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';

/** Installs the packages of a folder from its own lockfile, at first use and whenever it has changed. */
export function installLocked(folder: URL): void {
  if (isInstalled(folder)) return;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder.pathname];
  execFileSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

function isInstalled(folder: URL): boolean {
  const [lock, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((name) =>
    statSync(new URL(name, folder), { throwIfNoEntry: false }),
  );
  return lock !== undefined && installed !== undefined && installed.mtimeMs >= lock.mtimeMs;
}
