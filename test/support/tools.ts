import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';

/** The first executable of these names on the PATH, or null. */
function findOnPath(names: readonly string[]): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of names) {
      const candidate = join(folder, name);
      if (isExecutable(candidate)) return candidate;
    }
  }
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Chromium from CHROMIUM, the PATH, or what playwright has downloaded; null when there is none. */
export async function findChromium(): Promise<string | null> {
  const named = process.env.CHROMIUM;
  if (named) return named;
  const onPath = findOnPath(['chromium', 'chromium-browser', 'google-chrome']);
  if (onPath) return onPath;
  const { chromium } = await import('playwright');
  const downloaded = chromium.executablePath();
  return existsSync(downloaded) ? downloaded : null;
}

/** redis-server from REDIS_SERVER or the PATH; null when there is none. */
export function findRedisServer(): string | null {
  return process.env.REDIS_SERVER ?? findOnPath(['redis-server']);
}

/** nginx from NGINX, the PATH, or where Debian puts it; null when there is none. */
function findNginx(): string | null {
  return (
    process.env.NGINX ?? findOnPath(['nginx']) ?? (isExecutable('/usr/sbin/nginx') ? '/usr/sbin/nginx' : null)
  );
}

/** Tools with which the bench measures better; it also runs without them. */
export interface BenchTools {
  readonly nginx: string | null;
  readonly wrk: string | null;
}

/** Finds nginx and wrk; where they are missing they are installed, on Debian as root. */
export function ensureBenchTools(): BenchTools {
  const missing = [...(findNginx() === null ? ['nginx-light'] : []), ...(findWrk() === null ? ['wrk'] : [])];
  if (missing.length > 0 && isDebianRoot()) installFromDebian(missing);
  return { nginx: findNginx(), wrk: findWrk() };
}

/** wrk from WRK or the PATH; null when there is none. */
function findWrk(): string | null {
  return process.env.WRK ?? findOnPath(['wrk']);
}

function isDebianRoot(): boolean {
  return process.getuid?.() === 0 && findOnPath(['apt-get']) !== null;
}

function installFromDebian(packages: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const run = (args: readonly string[]) => spawnSync('apt-get', args, { env, stdio: 'inherit' });
  run(['update', '-q']);
  run(['install', '-yq', '--no-install-recommends', ...packages]);
}

/**
 * Finds Chromium and redis-server for the test run, or installs them (apt on Debian
 * as root, else playwright's own download for the browser).
 * @throws an error that says what to install; a missing tool is never a skipped test.
 */
export async function ensureTools(): Promise<void> {
  const missing: string[] = [];
  if ((await findChromium()) === null) missing.push('chromium');
  if (findRedisServer() === null) missing.push('redis-server');
  // Optional: with strace the tests see which writes reach the disk.
  if (findOnPath(['strace']) === null) missing.push('strace');
  if (missing.length > 0 && isDebianRoot()) installFromDebian(missing);

  if ((await findChromium()) === null) {
    execFileSync('npx', ['playwright', 'install', 'chromium'], { stdio: 'inherit' });
  }
  if ((await findChromium()) === null) {
    throw new Error('The tests need Chromium. Install it, or name its path in the variable CHROMIUM.');
  }
  if (findRedisServer() === null) {
    throw new Error(
      'The tests need redis-server. Install it, or name its path in the variable REDIS_SERVER.',
    );
  }
}

if (import.meta.main) await ensureTools();
