import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findFreePort } from '../support/listening.ts';
import { createVictim, prepareNginx } from '../support/processes.ts';
import { findCaddy, findNginx } from '../support/tools.ts';

const deploy = fileURLToPath(new URL('../../deploy/', import.meta.url));
const tls = fileURLToPath(new URL('../support/tls/', import.meta.url));

/** nginx or Caddy in front of gateways, with the configuration of `deploy/` but its certificate. */
export interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** Reads its configuration again, as after a change. */
  readonly reload: () => Promise<void>;
}

interface Place {
  readonly folder: string;
  readonly port: number;
  readonly gateways: readonly { readonly url: string }[];
}

const hostOf = ({ url }: { readonly url: string }) => new URL(url).host;
const nginxText = readFileSync(join(deploy, 'nginx/labgraph.conf'), 'utf8');

/**
 * The configuration of a whole nginx. Old workers would otherwise keep their streams for as long as they like. Its usual folder of
 * unfinished bodies is root's.
 */
const wholeNginx = (folder: string, site: string) => `
pid ${folder}/nginx.pid;
worker_processes 1;
worker_shutdown_timeout 200ms;
events { worker_connections 4096; }
http { access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; include ${site}; }
`;

export interface Nginx extends Proxy {
  /** Sends no request to this gateway until it is disposed of, as `docs/deployment.md` says. */
  readonly without: (index: number) => Disposable;
}

export async function startNginx({ folder, port, gateways }: Place): Promise<Nginx> {
  const site = join(folder, 'site.conf');
  const [first, second] = gateways.map(hostOf);
  // Its worker is another user, and looks for files here.
  chmodSync(folder, 0o711);
  const nginx = await prepareNginx(findNginx() ?? 'nginx', {
    ...{ folder, port },
    configure: () => {
      const text = nginxText
        .replaceAll('127.0.0.1:4001', first ?? '')
        .replaceAll('127.0.0.1:4002', second ?? '')
        .replaceAll('/run/labgraph/', `${folder}/`)
        .replace(/server \{\n {2}listen 80;.*?\n\}\n/s, '')
        .replace('listen 443 ssl http2', `listen 127.0.0.1:${port}`)
        .replace(/ {2}ssl_.*\n/g, '');
      writeFileSync(site, text);
      return wholeNginx(folder, site);
    },
  });
  await nginx.start();
  return {
    url: nginx.url,
    reload: async () => void process.kill(nginx.pid() ?? 0, 'SIGHUP'),
    without: (index) => {
      const file = join(folder, `without-${index + 1}`);
      writeFileSync(file, '');
      return { [Symbol.dispose]: () => rmSync(file) };
    },
    [Symbol.asyncDispose]: () => nginx.end('SIGTERM'),
  };
}

const caddyText = readFileSync(join(deploy, 'caddy/Caddyfile'), 'utf8');

export async function startCaddy({ folder, port, gateways }: Place): Promise<Proxy> {
  const [url, admin, file] = [
    `http://127.0.0.1:${port}`,
    `127.0.0.1:${await findFreePort()}`,
    join(folder, 'Caddyfile'),
  ];
  const site = caddyText
    .replace('gateway.example.com {', `${url} {`)
    .replace('127.0.0.1:4000', gateways.map(hostOf).join(' '));
  writeFileSync(file, `{\n\tadmin ${admin}\n}\n${site}`);
  const env = { PATH: process.env.PATH ?? '', HOME: folder };
  const configuration = ['--config', file, '--adapter', 'caddyfile'];
  const caddy = createVictim({
    name: 'caddy',
    file: findCaddy() ?? 'caddy',
    args: ['run', ...configuration],
    ...{ cwd: folder, env },
    isReady: (line) => line.includes('serving initial configuration'),
  });
  await caddy.start();
  return {
    url,
    reload: async () => {
      const args = ['reload', ...configuration, '--address', admin, '--force'];
      await promisify(execFile)(findCaddy() ?? 'caddy', args, { env });
    },
    [Symbol.asyncDispose]: () => caddy.end('SIGKILL'),
  };
}

/** Lets nginx and Caddy check the files as they are, with a certificate that exists. @throws with what they complain of */
export function checkConfigurations(folder: string): void {
  const [site, whole] = [join(folder, 'whole-site.conf'), join(folder, 'whole.conf')];
  writeFileSync(
    site,
    nginxText
      .replace('/etc/nginx/tls/gateway.pem', `"${join(tls, 'certificate.pem')}"`)
      .replace('/etc/nginx/tls/gateway-key.pem', `"${join(tls, 'key.pem')}"`),
  );
  writeFileSync(whole, wholeNginx(folder, site));
  execFileSync(findNginx() ?? 'nginx', ['-t', '-p', folder, '-c', whole], { stdio: 'pipe' });
  execFileSync(
    findCaddy() ?? 'caddy',
    ['adapt', '--config', join(deploy, 'caddy/Caddyfile'), '--adapter', 'caddyfile', '--validate'],
    { stdio: 'pipe', env: { PATH: process.env.PATH ?? '', HOME: folder } },
  );
}
