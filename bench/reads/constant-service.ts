import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { prepareNginx } from '../../test/support/processes.ts';
import { anyDigits, type ReadWorld, toOrderId, toUserId } from './world.ts';

/** nginx reads no longer word of its configuration; `$` begins a variable there. */
const mostCharacters = 3000;

/** A service that runs, and how many calls it has had. */
export interface CountedService {
  readonly url: string;
  readonly countCalls: () => Promise<number>;
  readonly pid: () => number | null;
  readonly end: () => Promise<void>;
}

export interface ConstantServiceOptions {
  readonly folder: string;
  readonly world: ReadWorld;
  /** How many users a page may be asked to have. */
  readonly userCount: number;
  /** It answers so much later, 0 for at once. */
  readonly delayMs: number;
}

/** A service that is never the bottleneck: nginx answers every read from a text in which it writes the digits of the id. */
export async function startConstantService(
  nginx: string,
  options: ConstantServiceOptions,
): Promise<CountedService> {
  const echo = options.delayMs === 0 ? null : findEcho(nginx);
  const { folder } = options;
  const configure = (port: number) => describeServer({ ...options, port, echo });
  const victim = await prepareNginx(nginx, { folder, configure });
  await victim.start();
  let own = 0;
  return {
    url: victim.url,
    pid: victim.pid,
    end: () => victim.end('SIGTERM'),
    countCalls: async () => {
      const text = await (await fetch(`${victim.url}/status`)).text();
      own += 1;
      // Connections accepted, connections handled, requests.
      return Number(/^ \d+ \d+ (\d+) $/m.exec(text)?.[1]) - own;
    },
  };
}

/** @throws Error where nginx has not the module that can wait; Debian's nginx-light has it */
function findEcho(nginx: string): string {
  const { stderr } = spawnSync(nginx, ['-V'], { encoding: 'utf8' });
  const folder = /--modules-path=(\S+)/.exec(stderr)?.[1] ?? '';
  const module = join(folder, 'ngx_http_echo_module.so');
  if (existsSync(module)) return module;
  throw new Error('This nginx has no echo module, with which the service would answer later.');
}

interface Server extends ConstantServiceOptions {
  readonly port: number;
  readonly echo: string | null;
}

/** Paths are those that the gateway and the peers ask for. A list by `order_ids` has an answer for one id. */
function describeServer({ folder, world, userCount, delayMs, port, echo }: Server): string {
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const texts = createTexts();
  const list = (size: number) => texts.write(world.ordersOfUser(toUserId(anyDigits), size));
  const turns = Array.from({ length: world.orderIds.length / world.userIds.length }, (_, turn) => turn);
  const orders = turns.map((turn) => [turn, texts.write(world.orderAlone(toOrderId(anyDigits, turn)) ?? '')]);
  const rows = turns.map((turn) => [turn, texts.write(world.ordersById([toOrderId(anyDigits, turn)]))]);
  const map = (name: string, by: string, cases: readonly (readonly unknown[])[]) =>
    `map ${by} ${name} { ${cases.map(([value, text]) => `${value} "${text}";`).join(' ')} }`;
  const sizes = [...turns.map((turn) => [turn + 1, list(turn + 1)]), ['default', list(turns.length)]];
  const maps = [map('$list', '$arg_size', sizes), map('$order', '$turn', orders), map('$row', '$turn', rows)];
  const one = texts.write(world.userAlone(toUserId(anyDigits)) ?? '');
  const some = texts.write(world.userList(0, userCount));
  // Only an inner address can follow the wait.
  const inner = echo === null ? '' : '/now';
  const orderId = '0000002(?<turn>[0-9])-0000-4000-8000-(?<digits>[0-9]{12})';
  return `${user}
worker_processes 1;
pid ${folder}/nginx.pid;
${echo === null ? '' : `load_module ${echo};`}
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 1000000000;
  default_type application/json;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  map $arg_limit $users { ${userCount} "${some}"; }
  ${maps.join('\n  ')}
  ${texts.describe()}
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /status { stub_status; }
    ${echo === null ? '' : `location / { echo_sleep ${delayMs / 1000}; echo_exec ${inner}$uri $args; }`}
    location = ${inner}/v2/user/ { if ($users) { return 200 $users; } return 404; }
    location ~ "^${inner}/v2/user/00000001-0000-4000-8000-(?<digits>[0-9]{12})$" {
      return 200 "${one}";
    }
    location = ${inner}/orders {
      if ($arg_user_id ~ "^00000001-0000-4000-8000-(?<digits>[0-9]{12})$") { return 200 $list; }
      if ($arg_order_ids ~ "^${orderId}$") { return 200 $row; }
      return 404;
    }
    location ~ "^${inner}/v3/order/${orderId}$" { return 200 $order; }
    ${echo === null ? '' : `location ${inner}/ { return 404; }`}
  }
}
`;
}

/** The value of a variable, within a text of nginx. */
function readVariable(variable: string): string {
  return `\${${variable}}`;
}

/** Texts as nginx knows them: constant pieces in variables, and the digits between them. */
function createTexts() {
  const pieces = new Map<string, string>();
  const name = (piece: string): string => {
    const known = pieces.get(piece) ?? `$piece${pieces.size}`;
    pieces.set(piece, known);
    return readVariable(known.slice(1));
  };
  const cut = new RegExp(`.{1,${mostCharacters}}`, 'gs');
  const write = (text: string): string =>
    text
      .split(anyDigits)
      .map((part) => (part.match(cut) ?? []).map(name).join(''))
      .join(readVariable('digits'));
  const describe = (): string =>
    [...pieces]
      .map(([piece, variable]) => {
        if (/[$'\\]/.test(piece)) throw new Error('nginx would read this text otherwise.');
        return `map $host ${variable} { default '${piece}'; }`;
      })
      .join('\n  ');
  return { write, describe };
}
