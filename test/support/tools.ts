import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';

/** The first executable of these names on the PATH, or null. */
export function findOnPath(names: readonly string[]): string | null {
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

const headlessShell = ['chromium-headless-shell', 'chrome-headless-shell'];

/**
 * Chromium's engine without the browser around it, from HEADLESS_SHELL or the PATH; else Chromium. A page costs a third of
 * the processor time in it, but it has no popup blocker and no back/forward cache.
 */
export async function findHeadlessShell(): Promise<string | null> {
  return process.env.HEADLESS_SHELL ?? findOnPath(headlessShell) ?? (await findChromium());
}

/** redis-server from REDIS_SERVER or the PATH; null when there is none. */
export function findRedisServer(): string | null {
  return process.env.REDIS_SERVER ?? findOnPath(['redis-server']);
}

const debianRabbit = '/usr/lib/rabbitmq/bin/rabbitmq-server';

/** rabbitmq-server from RABBITMQ_SERVER, where Debian puts it (its command on the PATH changes the user), or the PATH. */
export function findRabbitServer(): string | null {
  const named = process.env.RABBITMQ_SERVER ?? (isExecutable(debianRabbit) ? debianRabbit : null);
  return named ?? findOnPath(['rabbitmq-server']);
}

/** Firefox from FIREFOX or the PATH; null when there is none. */
export function findFirefox(): string | null {
  return process.env.FIREFOX ?? findOnPath(['firefox-esr', 'firefox']);
}

/** The driver of WebKitGTK's browser, from WEBKIT_DRIVER or the PATH; null when there is none. */
export function findWebKitDriver(): string | null {
  return process.env.WEBKIT_DRIVER ?? findOnPath(['WebKitWebDriver']);
}

/** An X server without a screen, from XVFB or the PATH; null when there is none. */
export function findXvfb(): string | null {
  return process.env.XVFB ?? findOnPath(['Xvfb']);
}

/** nginx from NGINX, the PATH, or where Debian puts it; null when there is none. */
export function findNginx(): string | null {
  return (
    process.env.NGINX ?? findOnPath(['nginx']) ?? (isExecutable('/usr/sbin/nginx') ? '/usr/sbin/nginx' : null)
  );
}

/** Caddy from CADDY or the PATH; null when there is none. */
export function findCaddy(): string | null {
  return process.env.CADDY ?? findOnPath(['caddy']);
}

/** Prometheus from PROMETHEUS or the PATH; null when there is none. Its promtool is on the PATH, too. */
export function findPrometheus(): string | null {
  return process.env.PROMETHEUS ?? findOnPath(['prometheus']);
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
  // Optional, because not every release has it; Chromium serves in its place.
  const [debianShell = ''] = headlessShell;
  if (!process.env.HEADLESS_SHELL && findOnPath(headlessShell) === null && isDebianRoot()) {
    if (spawnSync('apt-cache', ['show', debianShell]).status === 0) installFromDebian([debianShell]);
  }

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

/** What only the long tests need, by the name of its Debian package. */
const longTools = [
  { name: 'rabbitmq-server', variable: 'RABBITMQ_SERVER', find: findRabbitServer },
  { name: 'firefox-esr', variable: 'FIREFOX', find: findFirefox },
  { name: 'webkit2gtk-driver', variable: 'WEBKIT_DRIVER', find: findWebKitDriver },
  { name: 'xvfb', variable: 'XVFB', find: findXvfb },
  { name: 'nginx-light', variable: 'NGINX', find: findNginx },
  { name: 'caddy', variable: 'CADDY', find: findCaddy },
  { name: 'prometheus', variable: 'PROMETHEUS', find: findPrometheus },
];

/**
 * Finds RabbitMQ, Firefox, WebKitGTK's browser and a display for it, or installs them (apt on Debian as root).
 * @throws an error that says what to install
 */
export function ensureLongTools(): void {
  const listMissing = () => longTools.filter(({ find }) => find() === null);
  const names = listMissing().map(({ name }) => name);
  if (names.length > 0 && isDebianRoot()) installFromDebian(names);
  for (const { name, variable } of listMissing()) {
    throw new Error(`The long tests need ${name}. Install it, or name its path in the variable ${variable}.`);
  }
}

if (import.meta.main) {
  await ensureTools();
  if (process.argv.includes('--all')) ensureLongTools();
  // What `npm ci` has just written would delay the first tests that wait for the disk, by half a minute on a slow one.
  spawnSync('sync');
}
