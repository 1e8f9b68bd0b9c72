import { randomBytes } from 'node:crypto';
import type { Log } from '../../log.ts';
import type { IdempotencyRecords } from '../idempotency-records.ts';
import type { EventLog } from '../log.ts';
import type { OneTimeValues } from '../one-time-values.ts';
import { createSeal } from '../seal.ts';
import { createWaiters } from '../waiters.ts';
import { connect, nameOf } from './connection.ts';
import { rehashAll } from './hash-migration.ts';
import { createRedisIdempotencyRecords } from './idempotency-records.ts';
import { openWord } from './invalidations.ts';
import { createRedisLog } from './log.ts';
import { createRedisOneTimeValues } from './one-time-values.ts';
import { createHints } from './positions.ts';
import { startHearing } from './pubsub.ts';
import { createReplicas } from './replicas.ts';
import { createCalls } from './script-runner.ts';
import { requireSettings } from './settings.ts';

export interface RedisStore {
  readonly log: EventLog;
  readonly idempotencyRecords: IdempotencyRecords;
  readonly oneTimeValues: OneTimeValues;
  /** The key of cursors kept in the server, for a log without a key of its own. */
  /** The one kept in the server; null where there was never need of one. */
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
  /** 32 bytes each; the first seals, all open. None: bodies in clear, and the cursor key in the server. */
  readonly keys: readonly Buffer[];
  /** Accepts a server that may lose what it acknowledged. */
  readonly allowWeak: boolean;
  readonly log: Log;
}

/**
 * The event log in Redis, for several gateways over one log. What an append resolves with is in the append-only
 * file, fsynced, and on a replica where there is one. While the server is gone everything is refused at once and
 * whoever waits goes on waiting; nothing has to be restarted when it is back.
 *
 * A server that comes back empty makes another log (`epoch`): old cursors end in RESYNC with EVENT_LOG_KEY, which
 * their key is derived from. Without it their key is kept in the server, lost with a FLUSH, and put back within half a
 * second by any gateway that knows it; only where none was running do old cursors end in BAD_CURSOR.
 *
 * Measured with sealed bodies of 4 kB, server and callers on two cores that others kept busy (load 11): an append
 * alone takes 1.3 ms at p50 and 27 ms at p99; of 50 at once each takes 60 ms at p50 and 200 ms at p99 (740 a second).
 * @throws GatewayError EVENT_LOG_UNAVAILABLE or EVENT_LOG_WEAK
 */
export async function openRedisStore(url: string, options: RedisOptions): Promise<RedisStore> {
  const connections = await connectAll(url, options.log);
  const { reads, writes, bus } = connections;
  const closeAll = () => {
    for (const connection of Object.values(connections)) connection.close();
  };
  try {
    const requireStrong = await requireSettings(writes, {
      serverName: nameOf(url),
      allowWeak: options.allowWeak,
      onWeak: (reason) => options.log.warn('events.store_weak', { store: 'redis', reason }),
    });
    const replicas = createReplicas(writes, requireStrong);
    await replicas.look();
    const waiters = createWaiters();
    const noteOtherLog = () => {
      options.log.error('events.store_came_back_empty', { store: 'redis', address: nameOf(url) });
      waiters.wake(null);
    };
    const ownKey = options.keys.length === 0 ? randomBytes(32).toString('base64') : '';
    const calls = createCalls({ reads, writes, replicas, ownKey, onOtherLog: noteOtherLog });
    const { end, cursorKey } = await calls.open();
    const readEnd = async () => (await calls.open()).end;
    const hints = createHints(waiters, end);
    const word = await openWord({ reads, writes, hints });
    const stopHearing = startHearing({ bus, hints, readEnd, lookAtReplicas: replicas.look });
    const seal = createSeal(options.keys);
    // In the background. A failed migration runs again at the next start.
    if (options.keys.length > 0) rehashAll({ reads, calls, seal }).catch(() => undefined);
    const close = () => {
      stopHearing();
      closeAll();
    };
    const log = createRedisLog({
      calls,
      reads,
      writes,
      replicas,
      hints,
      word,
      waiters,
      seal,
      readEnd,
      close,
    });
    // Not behind writes that wait for a replica: what is counted may be lost.
    const runShared: RedisStore['runShared'] = (script, { keys, arguments: args }) =>
      reads.send(['EVAL', script, String(keys.length), ...keys, ...args]);
    return {
      log,
      idempotencyRecords: createRedisIdempotencyRecords(calls.write, seal),
      oneTimeValues: createRedisOneTimeValues(calls.write, seal),
      cursorKey,
      runShared,
    };
  } catch (error) {
    closeAll();
    throw error;
  }
}

/** Reads stand in no line behind writes that wait for a replica, and reading the bus blocks its connection. */
async function connectAll(url: string, log: Log) {
  const place = { store: 'redis', address: nameOf(url) };
  const onState = (isUp: boolean, error: unknown) => {
    if (isUp) log.info('events.store_back', place);
    else log.error('events.store_gone', { ...place, error });
  };
  const writes = await connect({ url, onState });
  try {
    const reads = await connect({ url });
    const bus = await connect({ url }).catch((error: unknown) => {
      reads.close();
      throw error;
    });
    return { writes, reads, bus };
  } catch (error) {
    writes.close();
    throw error;
  }
}
