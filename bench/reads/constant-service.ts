import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { prepareNginx } from '../../test/support/processes.ts';
import { type ReadWorld, toVisitorId } from './world.ts';

/** Stands in the files for the digits of a visitor, in whose place nginx writes those that are asked for. */
const anyDigits = '987654321098';

/** A service that is never the bottleneck: nginx answers every read with a file. */
export async function startConstantService(
  nginx: string,
  { folder, world, userCounts }: ConstantServiceOptions,
): Promise<{ readonly url: string; readonly end: () => Promise<void> }> {
  writeAnswers(join(folder, 'answers'), { world, userCounts });
  const victim = await prepareNginx(nginx, { folder, configure: (port) => describeServer(folder, port) });
  await victim.start();
  return { url: victim.url, end: () => victim.end('SIGTERM') };
}

interface Answers {
  readonly world: ReadWorld;
  /** How many users a page may be asked to have. */
  readonly userCounts: readonly number[];
}

interface ConstantServiceOptions extends Answers {
  readonly folder: string;
}

function writeAnswers(folder: string, { world, userCounts }: Answers): void {
  const write = (kind: string, name: string | number, text: string | null) =>
    writeFileSync(join(folder, kind, `${name}.json`), text ?? '');
  for (const kind of ['users', 'orders-of-user', 'order', 'order-by-id', 'visitor']) {
    mkdirSync(join(folder, kind), { recursive: true });
  }
  for (const count of userCounts) write('users', count, world.userList(0, count));
  const visitor = toVisitorId(Number(anyDigits));
  write('visitor', 'user', world.userAlone(visitor));
  write('visitor', 'orders', world.ordersOfUser(visitor));
  for (const userId of world.userIds) write('orders-of-user', userId, world.ordersOfUser(userId));
  for (const orderId of world.orderIds) {
    write('order', orderId, world.orderAlone(orderId));
    write('order-by-id', orderId, world.ordersById([orderId]));
  }
}

/**
 * Paths are those that the gateway and the peers ask for. A list by `order_ids` has an answer for one id: files
 * cannot stand for every set of them, and no workload asks for more at once.
 */
function describeServer(folder: string, port: number): string {
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  return `${user}
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 1000000000;
  open_file_cache max=20000 inactive=1h;
  open_file_cache_valid 1h;
  sendfile on;
  tcp_nopush on;
  default_type application/json;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  map $arg_user_id $digits { "~^00000003-0000-4000-8000-(?<of_list>[0-9]+)$" $of_list; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    root ${folder}/answers;
    location = /v2/user/ { try_files /users/$arg_limit.json =404; }
    location ~ "^/v2/user/00000003-0000-4000-8000-([0-9]+)$" {
      set $of_path $1;
      sub_filter ${anyDigits} $of_path;
      sub_filter_once off;
      sub_filter_types application/json;
      try_files /visitor/user.json =404;
    }
    location = /visitor-orders {
      internal;
      sub_filter ${anyDigits} $digits;
      sub_filter_once off;
      sub_filter_types application/json;
      try_files /visitor/orders.json =404;
    }
    location = /orders {
      if ($digits) { rewrite ^ /visitor-orders last; }
      try_files /orders-of-user/$arg_user_id.json /order-by-id/$arg_order_ids.json =404;
    }
    location ~ ^/v3/order/([0-9a-f-]+)$ { try_files /order/$1.json =404; }
  }
}
`;
}
