import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepareNginx } from '../support/processes.ts';
import { findCaddy, findNginx } from '../support/tools.ts';

const deploy = fileURLToPath(new URL('../../deploy/', import.meta.url));
const tls = fileURLToPath(new URL('../support/tls/', import.meta.url));

/** nginx in front of gateways, with the configuration of `deploy/` but its certificate. */
export interface Proxy {
  readonly url: string;
  /** Reads its configuration again and cuts the streams of the one before, as after a certificate was renewed. */
  readonly reload: () => void;
  readonly end: () => Promise<void>;
}

interface Place {
  readonly folder: string;
  readonly port: number;
  readonly gateways: readonly string[];
}

const hostOf = (url: string) => new URL(url).host;
const nginxText = readFileSync(join(deploy, 'nginx/labgraph.conf'), 'utf8');

/** The configuration of a whole nginx. Old workers would otherwise keep their streams for as long as they like. */
const wholeNginx = (folder: string, site: string) => `
pid ${folder}/nginx.pid;
worker_processes 1;
worker_shutdown_timeout 200ms;
events { worker_connections 4096; }
http { access_log off; include ${site}; }
`;

export async function startNginx({ folder, port, gateways }: Place): Promise<Proxy> {
  const site = join(folder, 'site.conf');
  const servers = gateways.map((url) => `server ${hostOf(url)} max_fails=0;`).join('\n');
  const nginx = await prepareNginx(findNginx() ?? 'nginx', {
    ...{ folder, port },
    configure: () => {
      const text = nginxText
        .replace(/ {2}server 127\.0\.0\.1:4000.*/, servers)
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
    reload: () => void process.kill(nginx.pid() ?? 0, 'SIGHUP'),
    end: () => nginx.end('SIGTERM'),
  };
}

/** Lets nginx and Caddy check the files as they are, with a certificate that exists. @throws with what they complain of */
export function checkConfigurations(folder: string): void {
  const [site, whole] = [join(folder, 'whole-site.conf'), join(folder, 'whole.conf')];
  writeFileSync(
    site,
    nginxText
      .replace('/etc/nginx/tls/gateway.pem', join(tls, 'certificate.pem'))
      .replace('/etc/nginx/tls/gateway-key.pem', join(tls, 'key.pem')),
  );
  writeFileSync(whole, wholeNginx(folder, site));
  execFileSync(findNginx() ?? 'nginx', ['-t', '-p', folder, '-c', whole], { stdio: 'pipe' });
  execFileSync(
    findCaddy() ?? 'caddy',
    ['adapt', '--config', join(deploy, 'caddy/Caddyfile'), '--adapter', 'caddyfile', '--validate'],
    { stdio: 'pipe', env: { PATH: process.env.PATH ?? '', HOME: folder } },
  );
}
