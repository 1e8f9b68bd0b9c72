import { z } from 'zod';
import { within } from '../within.ts';
import { createRedisClient } from './client.ts';
import { redisText } from './codec.ts';

/** How long a sentinel may take, in milliseconds. */
const sentinelMs = 1500;

/** Where the event log is: one server, or the primary that sentinels name. */
export interface RedisServer {
  /** Hosts and ports, for messages: the rest of an address may be secret. */
  readonly name: string;
  /** The replicas that confirm each write, whether or not the server has any. 0: one replica, where there is one. */
  readonly replicas: number;
  /** The address of the server to connect to now, as `redis://` or `rediss://`. */
  readonly locate: () => Promise<string>;
}

const sentinelUrl = /^(rediss?)\+sentinel:\/\/(?:(.*)@)?([^@/?]+)\/([^/?]+)(?:\?(.*))?$/;
const addressShape = z.tuple([redisText, redisText]);

/** @param url `redis://`, `rediss://`, `redis+sentinel://` or `rediss+sentinel://`, as configured (docs/configuration.md) */
export function toRedisServer(url: string): RedisServer {
  const [, scheme = '', credentials, hosts = '', primary = '', query = ''] = sentinelUrl.exec(url) ?? [];
  if (scheme === '') return { name: nameOf(url), replicas: 0, locate: async () => url };
  const settings = new URLSearchParams(query);
  const sentinels = hosts.split(',').map((host) => (/:\d+$/.test(host) ? host : `${host}:26379`));
  const login = credentials === undefined ? '' : `${credentials}@`;
  return {
    name: `${sentinels.join(',')}/${primary}`,
    replicas: Number(settings.get('replicas') ?? 1),
    locate: async () => {
      const [host, port] = await askSentinels(
        sentinels.map((sentinel) => `${scheme}://${sentinel}`),
        primary,
      );
      return `${scheme}://${login}${host.includes(':') ? `[${host}]` : host}:${port}/${settings.get('db') ?? 0}`;
    },
  };
}

/** Host and port of a server, for messages. */
export function nameOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port || '6379'}`;
}

/** The primary that most sentinels name: one that was cut off from the others names the old one. */
async function askSentinels(urls: readonly string[], primary: string): Promise<[string, string]> {
  const answers = await Promise.allSettled(urls.map((url) => askSentinel(url, primary)));
  const named = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const votes = ([host, port]: readonly string[]) =>
    named.filter((other) => other[0] === host && other[1] === port).length;
  const [most] = named.toSorted((one, other) => votes(other) - votes(one));
  if (most === undefined) throw new Error(`No sentinel names a primary ${primary}.`);
  return most;
}

async function askSentinel(url: string, primary: string): Promise<[string, string]> {
  const client = createRedisClient(url, sentinelMs);
  client.on('error', () => undefined);
  const ask = async () => {
    await client.connect();
    return await client.sendCommand(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', primary]);
  };
  try {
    return addressShape.parse(await within(sentinelMs, ask()));
  } finally {
    if (client.isOpen) client.destroy();
  }
}
