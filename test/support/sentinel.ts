import { writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { findFreePort } from './listening.ts';
import { createVictim, prepareRedis, type Victim } from './processes.ts';

/** Three servers, one of them the primary, and three sentinels, which make another one the primary when it dies. */
export interface RedisCluster extends AsyncDisposable {
  readonly url: string;
  readonly servers: readonly Server[];
  /** The server that most sentinels name, once it is the primary of the others. */
  readonly primary: () => Promise<Server>;
  /** Makes a server that came back a replica of the server that most sentinels name. */
  readonly follow: (server: Server) => Promise<void>;
  /** The ids of all messages in the log, as the primary has them. */
  readonly messageIds: () => Promise<readonly string[]>;
}

type Server = Awaited<ReturnType<typeof prepareRedis>>;

const name = 'labgraph';
/** Like docs/operations.md, with a shorter `down-after-milliseconds`, for more kills in the same time. */
const downAfterMs = '1000';
const failoverMs = '2000';

/** @param folder for the files of all servers */
export async function startRedisCluster(folder: string): Promise<RedisCluster> {
  const servers = await Promise.all([0, 1, 2].map((index) => prepareServer(join(folder, `redis-${index}`))));
  await Promise.all(servers.map((server) => server.start()));
  const [first] = servers;
  if (first === undefined) throw new Error('There are no servers.');
  for (const server of servers) {
    if (server !== first) await command(server.url, 'REPLICAOF', '127.0.0.1', portOf(first));
  }
  const sentinels = await Promise.all(
    [0, 1, 2].map((index) => prepareSentinel(folder, index, portOf(first))),
  );
  await Promise.all(sentinels.map((sentinel) => sentinel.start()));
  const primary = () => findPrimary(sentinels, servers);
  await primary();
  const hosts = sentinels.map(({ url }) => url.slice('redis://'.length)).join(',');
  return {
    url: `redis+sentinel://${hosts}/${name}`,
    servers,
    primary,
    follow: async (server) => {
      const port = await namedPort(sentinels);
      if (port !== null && port !== portOf(server)) await command(server.url, 'REPLICAOF', '127.0.0.1', port);
    },
    messageIds: async () => {
      const ids = await command((await primary()).url, 'HKEYS', '{labgraph}:ids');
      return Array.isArray(ids) ? ids.map(String) : [];
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...sentinels, ...servers].map((victim) => victim.end('SIGKILL')));
    },
  };
}

async function prepareServer(folder: string): Promise<Server> {
  await mkdir(folder);
  return await prepareRedis(folder, ['--min-replicas-to-write', '1', '--repl-diskless-sync-delay', '0']);
}

async function prepareSentinel(
  folder: string,
  index: number,
  primaryPort: string,
): Promise<Victim & { readonly url: string }> {
  const port = await findFreePort();
  const file = join(folder, `sentinel-${index}.conf`);
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor ${name} 127.0.0.1 ${primaryPort} 2`,
    `sentinel down-after-milliseconds ${name} ${downAfterMs}`,
    `sentinel failover-timeout ${name} ${failoverMs}`,
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  const victim = createVictim({
    name: `sentinel ${index}`,
    file: process.env.REDIS_SERVER ?? 'redis-server',
    args: [file, '--sentinel'],
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
    isReady: (line) => line.includes('+monitor master'),
  });
  return { ...victim, url: `redis://127.0.0.1:${port}` };
}

async function findPrimary(
  sentinels: readonly { readonly url: string }[],
  servers: readonly Server[],
): Promise<Server> {
  for (;;) {
    const port = await namedPort(sentinels);
    const server = servers.find((one) => port === portOf(one));
    if (server !== undefined && (await isPrimary(server.url, servers.length - 1))) return server;
    await wait(50);
  }
}

/** The port that most sentinels name: the one that led a failover may name the old primary until the next one. */
async function namedPort(sentinels: readonly { readonly url: string }[]): Promise<string | null> {
  const ask = ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name];
  const answers = await Promise.all(sentinels.map(({ url }) => command(url, ...ask).catch(() => null)));
  const ports = answers.map((answer) => (Array.isArray(answer) ? String(answer[1]) : null));
  return ports.find((port, index) => ports.indexOf(port) < index) ?? null;
}

async function isPrimary(url: string, replicas: number): Promise<boolean> {
  const text = String(await command(url, 'INFO', 'replication').catch(() => ''));
  return text.includes('role:master') && (text.match(/state=online/g) ?? []).length === replicas;
}

async function command(url: string, ...args: readonly string[]): Promise<unknown> {
  const client = createClient({ url, socket: { reconnectStrategy: false, connectTimeout: 1000 } });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await client.sendCommand([...args]);
  } finally {
    if (client.isOpen) client.destroy();
  }
}

function portOf({ url }: { readonly url: string }): string {
  return new URL(url).port;
}
