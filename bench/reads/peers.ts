import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { installLocked } from '../support/install.ts';

const folder = new URL('../peers/', import.meta.url);
const versions = z.record(z.string(), z.string());
const manifest = z.object({ dependencies: versions, optionalDependencies: versions });

/** Installs the peers from their own lockfile. */
export function ensurePeers(): void {
  installLocked(folder);
}

/** The packages that the peers are, with their exact versions. */
export function describePeers(): string {
  const { dependencies, optionalDependencies } = manifest.parse(
    JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')),
  );
  return Object.entries({ ...dependencies, ...optionalDependencies })
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');
}
