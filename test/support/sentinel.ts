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
  /** The server that all sentinels name, once it is the primary of the others and they see all of them up. */
  readonly primary: () => Promise<Server>;
  /** Resolves when most sentinels name another server than this one. */
  readonly replaced: (primary: Server) => Promise<void>;
  /** Makes a server that came back a replica of the server that most sentinels name. */
  readonly follow: (server: Server) => Promise<void>;
  /** The ids of all messages in the log, as the primary has them. */
  readonly messageIds: () => Promise<readonly string[]>;
  /** What servers and sentinels logged since a time in milliseconds, in order. */
  readonly logSince: (since: number) => readonly string[];
}

type Server = Awaited<ReturnType<typeof prepareRedis>>;

const name = 'labgraph';
/** Like docs/operations.md. */
const sentinelSettings = ['down-after-milliseconds', 'failover-timeout'].map(
  (setting) => `sentinel ${setting} ${name} 2000`,
);
/** A running sentinel takes these, its file does not. */
const sentinelPeriods = ['info-period', '1000', 'publish-period', '1000'];

/**
 * @param folder for the files of all servers
 * @param replicas that confirm each write
 */
export async function startRedisCluster(folder: string, replicas = 1): Promise<RedisCluster> {
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
  for (const { url } of sentinels) await command(url, 'SENTINEL', 'DEBUG', ...sentinelPeriods);
  const primary = () => findPrimary(sentinels, servers);
  await primary();
  const hosts = sentinels.map(({ url }) => url.slice('redis://'.length)).join(',');
  return {
    url: `redis+sentinel://${hosts}/${name}?replicas=${replicas}`,
    servers,
    primary,
    replaced: async (server) => {
      while ([null, portOf(server)].includes(await namedPort(sentinels))) await wait(50);
    },
    follow: async (server) => {
      const port = await namedPort(sentinels);
      if (port !== null && port !== portOf(server)) await command(server.url, 'REPLICAOF', '127.0.0.1', port);
    },
    messageIds: async () => {
      const ids = await command((await primary()).url, 'HKEYS', '{labgraph}:ids');
      return Array.isArray(ids) ? ids.map(String) : [];
    },
    logSince: (since) => {
      const lines = [...servers, ...sentinels].flatMap(datedLines);
      return lines
        .filter(({ at }) => at >= since)
        .toSorted((one, other) => one.at - other.at)
        .map(({ text }) => text);
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
    ...sentinelSettings,
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
    if (server !== undefined && (await isPrimary(server.url, servers.length - 1))) {
      const seen = sentinels.map(({ url }) =>
        seesAllUp(url, { port: portOf(server), sentinels: sentinels.length }),
      );
      if ((await Promise.all(seen)).every(Boolean)) return server;
    }
    await wait(50);
  }
}

/** Whether a sentinel names this primary, sees both replicas follow it and no failover, and knows the other sentinels. */
async function seesAllUp(
  url: string,
  { port, sentinels }: { readonly port: string; readonly sentinels: number },
) {
  try {
    const primary = toFields(await command(url, 'SENTINEL', 'MASTER', name));
    const replicas = await command(url, 'SENTINEL', 'REPLICAS', name);
    const state = String(await command(url, 'INFO', 'sentinel'));
    const followers = (Array.isArray(replicas) ? replicas : [])
      .map(toFields)
      .filter((fields) => fields.get('flags') === 'slave' && fields.get('master-link-status') === 'ok')
      .filter((fields) => fields.get('master-port') === port);
    return (
      primary.get('port') === port &&
      primary.get('flags') === 'master' &&
      primary.get('num-other-sentinels') === String(sentinels - 1) &&
      followers.length === 2 &&
      // After a pause of its process a sentinel only looks on for half a minute.
      state.includes('sentinel_tilt:0')
    );
  } catch {
    return false;
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

/** Names and values of an answer. */
function toFields(answer: unknown): ReadonlyMap<string, string> {
  return new Map(Object.entries(Object(answer)).map(([field, value]) => [field, String(value)]));
}

/** `7:X 24 Nov 2026 16:22:48.974 # +sdown ...` */
function datedLines({ name: part, url, output }: Victim & { readonly url: string }) {
  return output.flatMap((line) => {
    const [, date = '', text = ''] = /^\d+:\w (\d+ \w+ \d+ [\d:.]+) (.*)/.exec(line) ?? [];
    const at = Date.parse(date);
    if (Number.isNaN(at)) return [];
    return [{ at, text: `${new Date(at).toISOString()} ${part} :${new URL(url).port} ${text}` }];
  });
}

function portOf({ url }: { readonly url: string }): string {
  return new URL(url).port;
}
