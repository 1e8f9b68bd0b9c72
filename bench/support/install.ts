import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Installs the packages of a folder from its own lockfile, at first use and whenever it has changed. */
export function installLocked(folder: URL): void {
  if (isInstalled(folder)) return;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', fileURLToPath(folder)];
  execFileSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Puts a workspace of this repository into another folder's packages, as it would be published. It must be built. */
export function installPacked(workspace: 'client' | 'widget', folder: URL): void {
  const into = fileURLToPath(new URL(`node_modules/@labgraph/${workspace}/`, folder));
  mkdirSync(into, { recursive: true });
  const args = ['pack', '-w', workspace, '--json', '--ignore-scripts', '--pack-destination', into];
  const said = execFileSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [tarball] = Object.values<{ readonly filename: string }>(JSON.parse(said));
  execFileSync('tar', ['-xzf', `${tarball?.filename}`, '--strip-components', '1'], { cwd: into });
}

function isInstalled(folder: URL): boolean {
  const [lock, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((name) =>
    statSync(new URL(name, folder), { throwIfNoEntry: false }),
  );
  return lock !== undefined && installed !== undefined && installed.mtimeMs >= lock.mtimeMs;
}
