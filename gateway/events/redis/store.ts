import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { GatewayError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { IdempotencyRecords } from '../idempotency.ts';
import type { EventLog, OneTimeValues } from '../log.ts';
import { Seal } from '../seal.ts';
import { Waiters } from '../waiters.ts';
import { keyPrefix, redisText } from './codec.ts';
import { type ConnectionState, RedisConnection } from './connection.ts';
import { Durability } from './durability.ts';
import { RedisLog } from './log.ts';
import { BusTail, GatewayChannel, Positions } from './pubsub.ts';
import { RedisIdempotencyRecords, RedisOneTimeValues } from './records.ts';
import { ScriptRunner } from './script-runner.ts';
import { readScript } from './scripts.ts';
import { type RedisServer, toRedisServer } from './server.ts';

export interface RedisStore {
  readonly log: EventLog;
  readonly idempotencyRecords: IdempotencyRecords;
  readonly oneTimeValues: OneTimeValues;
  /** The key of cursors that is stored in the server, for a log without a key of its own; null where there is none. */
  readonly cursorKey: Buffer | null;
  /**
   * Runs a Lua script beside the log, for what several gateways count together.
   * Throws GatewayError EVENT_LOG_UNAVAILABLE while the server is away.
   */
  readonly runShared: (
    script: string,
    call: { readonly keys: readonly string[]; readonly arguments: readonly string[] },
  ) => Promise<unknown>;
}

export interface RedisOptions {
  /** 32 bytes each; the first seals, all open. Without keys bodies are stored in clear, and the cursor key in the server. */
  readonly keys: readonly Buffer[];
  /** Accepts a server that may lose what it acknowledged. */
  readonly allowWeak: boolean;
  readonly log: Log;
}

/**
 * The event log in Redis, for several gateways over one log. An acknowledged append is in the append-only file, fsynced,
 * and on a replica where there is one. While the server is gone everything is refused at once, and waiters keep waiting;
 * nothing has to be restarted when it is back.
 *
 * A server that comes back empty makes another log (`epoch`). With EVENT_LOG_KEY, from which the key of cursors is derived,
 * old cursors then end in RESYNC. Without it the key of cursors is stored in the server and lost with a FLUSH. Any running
 * gateway puts it back within half a second; only where none was running do old cursors end in BAD_CURSOR.
 * @throws GatewayError EVENT_LOG_UNAVAILABLE or EVENT_LOG_WEAK
 */
export async function openRedisStore(url: string, options: RedisOptions): Promise<RedisStore> {
  const server = toRedisServer(url);
  const connections = await connectAll(server, options.log);
  try {
    return await openStore(server, options, connections);
  } catch (error) {
    closeAll(connections);
    throw error;
  }
}

async function openStore(
  { name: address, replicas }: RedisServer,
  options: RedisOptions,
  connections: Connections,
): Promise<RedisStore> {
  const { reads, writes, bus } = connections;
  const { keys, allowWeak, log: logger } = options;
  await requireVersion(reads, address);
  const durability = new Durability(writes, {
    serverName: address,
    replicas,
    allowWeak,
    onUnconfirmed: () => void writes.follow(),
    onWeak: (reason) => logger.warn('events.store_weak', { store: 'redis', reason }),
  });
  await durability.open();
  const waiters = new Waiters();
  const positions = new Positions(waiters);
  const runner = new ScriptRunner({
    ...{ reads, writes, durability },
    knownPosition: () => positions.known,
    ownKey: keys.length === 0 ? randomBytes(32).toString('base64') : '',
    onOtherLog: (hasHistory) => {
      const event = hasHistory ? 'events.store_lost_its_end' : 'events.store_came_back_empty';
      logger.error(event, { store: 'redis', address });
      waiters.wake(null);
    },
  });
  const { end, cursorKey } = await runner.open();
  positions.start(end);
  const channel = await GatewayChannel.open({ reads, writes, positions });
  const tail = new BusTail({
    ...{ connection: bus, positions },
    readEnd: () => runner.end(),
    countReplicas: () => durability.countReplicas(),
  });
  const seal = new Seal(keys);
  // In the background. A failed migration runs again at the next start.
  if (keys.length > 0) rehashAll({ reads, runner, seal }).catch(() => undefined);
  const close = () => {
    tail.stop();
    closeAll(connections);
  };
  return {
    log: new RedisLog({ runner, reads, writes, durability, positions, channel, waiters, seal, close }),
    idempotencyRecords: new RedisIdempotencyRecords(runner, seal),
    oneTimeValues: new RedisOneTimeValues(runner, seal),
    cursorKey,
    // Over the connection for reads, because counts may be lost and must not wait for a replica.
    runShared: (script, { keys: names, arguments: args }) =>
      reads.send(['EVAL', script, String(names.length), ...names, ...args]),
  };
}

/** What the scripts use is in Redis 6.2, and in Valkey, which names the version of Redis that it is compatible with. */
const oldestVersion = 6.2;

async function requireVersion(connection: RedisConnection, address: string): Promise<void> {
  const text = redisText.parse(await connection.send(['INFO', 'server']));
  const [, version, majorAndMinor] = /^redis_version:((\d+\.\d+)\S*)/m.exec(text) ?? [];
  if (majorAndMinor === undefined || Number(majorAndMinor) >= oldestVersion) return;
  const message = `Redis at ${address} is ${version}. The gateway needs ${oldestVersion} or newer.`;
  throw new GatewayError('EVENT_LOG_UNAVAILABLE', message);
}

/** Reads do not wait behind writes that wait for a replica, and reading the bus blocks its connection. */
interface Connections {
  readonly reads: RedisConnection;
  readonly writes: RedisConnection;
  readonly bus: RedisConnection;
}

async function connectAll(server: RedisServer, log: Log): Promise<Connections> {
  const onState = ({ isUp, address, error }: ConnectionState) => {
    const place = { store: 'redis', address };
    if (isUp) log.info('events.store_back', place);
    else log.error('events.store_gone', { ...place, error });
  };
  const group = new Set<RedisConnection>();
  try {
    const writes = await RedisConnection.open({ server, group, onState });
    const reads = await RedisConnection.open({ server, group });
    return { writes, reads, bus: await RedisConnection.open({ server, group }) };
  } catch (error) {
    for (const connection of group) connection.close();
    throw error;
  }
}

function closeAll(connections: Connections): void {
  for (const connection of Object.values(connections)) connection.close();
}

const rehashScript = readScript('rehash');
const scannedShape = z.tuple([redisText, z.array(redisText)]);
/** Message ids read per step. */
const rehashChunk = '500';
/** A position and a SHA-256 in hexadecimal digits; keyed hashes are longer. */
const plain = /^(\d+) ([0-9a-f]{64})$/;

interface MigrationParts {
  readonly reads: RedisConnection;
  readonly runner: ScriptRunner;
  readonly seal: Seal;
}

/**
 * Replaces plain hashes of an earlier version by keyed ones, in steps. It can be stopped and restarted at any time, and
 * several gateways may run it at once.
 */
async function rehashAll({ reads, runner, seal }: MigrationParts): Promise<void> {
  let cursor = '0';
  do {
    const scan = ['HSCAN', `${keyPrefix}ids`, cursor, 'COUNT', rehashChunk];
    const [next, idsAndEntries] = scannedShape.parse(await reads.send(scan));
    const changes = idsAndEntries.flatMap((entry, index) => {
      const [, position, hash] = (index % 2 === 1 && plain.exec(entry)) || [];
      if (position === undefined || hash === undefined) return [];
      const keyed = seal.hash(Buffer.from(hash, 'hex')).toString('hex');
      return [idsAndEntries[index - 1] ?? '', entry, `${position} ${keyed}`];
    });
    if (changes.length > 0) await runner.write(rehashScript, changes);
    cursor = next;
  } while (cursor !== '0');
}
