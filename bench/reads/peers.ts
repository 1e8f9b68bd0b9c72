import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { z } from 'zod';

const folder = new URL('../peers/', import.meta.url);
const manifest = z.object({ dependencies: z.record(z.string(), z.string()) });

/** Installs the peers from their own lockfile, at first use and whenever it has changed. */
export function ensurePeers(): void {
  if (isInstalled()) return;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder.pathname];
  execFileSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

function isInstalled(): boolean {
  const [lock, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((name) =>
    statSync(new URL(name, folder), { throwIfNoEntry: false }),
  );
  return lock !== undefined && installed !== undefined && installed.mtimeMs >= lock.mtimeMs;
}

/** The packages that the peers are, with their exact versions. */
export function describePeers(): string {
  const { dependencies } = manifest.parse(JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')));
  return Object.entries(dependencies)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');
}
