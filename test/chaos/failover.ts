import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { createStream, follow } from '../../gateway/events/follow.ts';
import type { EventLog } from '../../gateway/events/log.ts';
import { openRedisStore } from '../../gateway/events/redis/store.ts';
import { createLog } from '../../gateway/log.ts';
import { newMessage } from '../support/messages.ts';
import { type RedisCluster, startRedisCluster } from '../support/sentinel.ts';

export interface FailoverReport {
  readonly kills: number;
  /** Times the primary was stopped (SIGSTOP) until another one was there: it goes on with what it was sent, as in a split brain. */
  readonly stops: number;
  readonly sent: number;
  readonly acknowledged: number;
  /** Appends that were refused and came again. */
  readonly refused: number;
  /** Readers' items that told of a gap. */
  readonly resynced: number;
  /** Acknowledged messages that the new primary lacks. */
  readonly lost: number;
  /** Kills that lost any of them, and those after which not every reader was told. The latter must be 0. */
  readonly cuts: number;
  readonly cutsUntold: number;
  /** Acknowledged messages that a reader did not get, although nothing told it of a gap. Must be 0. */
  readonly missedUntold: number;
  /** From a kill to the first acknowledgement of a message that was sent after it, in milliseconds. */
  readonly slowestMs: number;
  readonly medianMs: number;
}

export interface FailoverOptions {
  readonly kills: number;
  /** The replicas that confirm each write. */
  readonly replicas: number;
  readonly onKill: (kill: Kill) => void;
}

interface Kill {
  /** The kills so far, with this one. */
  readonly done: number;
  /** From the kill until most sentinels named another primary. */
  readonly replacedMs: number;
  readonly acknowledgedMs: number;
  /** The gaps that readers got since the first kill. */
  readonly resynced: number;
  /** What servers and sentinels logged since the kill. */
  readonly log: readonly string[];
}

interface Reader {
  readonly seen: Set<string>;
  resynced: number;
  readonly stop: () => Promise<void>;
}

const appenders = 8;
/** The sentinels convert a server that comes back by themselves only after some seconds: every tenth time. */
const leftAlone = 10;
const stopEvery = 5;
/** Longer than the sentinels take to see that a server is down: some replicas go on only after the failover. */
const maxLagMs = 3000;

/** Kills the primary again and again, with a replica stopped around each kill, while two stores append and four readers follow. */
export async function runFailovers({ kills, replicas, onKill }: FailoverOptions): Promise<FailoverReport> {
  const folder = mkdtempSync(join(tmpdir(), 'labgraph-failover-'));
  await using cluster = await startRedisCluster(folder, replicas);
  const options = { keys: [], allowWeak: false, log: createLog({ level: 'silent' }) };
  const logs = await Promise.all([0, 1].map(async () => (await openRedisStore(cluster.url, options)).log));
  const readers = [...logs, ...logs].map(startReader);
  const sending = startSending(logs);
  const times: number[] = [];
  const lost = new Set<string>();
  const counts = { cuts: 0, cutsUntold: 0 };
  const stops = Math.floor(kills / (stopEvery - 1));
  for (let done = 1; done <= kills + stops; done += 1) {
    const before = readers.map(({ resynced }) => resynced);
    const kill = await killPrimary(cluster, {
      sending,
      isLeftAlone: done % leftAlone === 0,
      isStop: done % stopEvery === 0,
      needsAll: replicas === cluster.servers.length - 1,
    });
    times.push(kill.acknowledgedMs);
    onKill({ done, resynced: countResynced(readers), ...kill });
    const known = [...sending.acknowledged];
    const stored = new Set(await cluster.messageIds());
    const missing = known.filter((id) => !stored.has(id) && !lost.has(id));
    for (const id of missing) lost.add(id);
    if (missing.length === 0) continue;
    counts.cuts += 1;
    if (!(await areTold(readers, before))) counts.cutsUntold += 1;
  }
  await sending.stop();
  await settle(readers, sending.acknowledged);
  await Promise.all(readers.map((reader) => reader.stop()));
  await Promise.all(logs.map((log) => log.close()));
  rmSync(folder, { recursive: true, force: true });
  const acknowledged = [...sending.acknowledged];
  const untold = readers.filter(({ resynced }) => resynced === 0);
  return {
    kills,
    stops,
    sent: sending.counts.sent,
    acknowledged: acknowledged.length,
    refused: sending.counts.refused,
    resynced: countResynced(readers),
    lost: lost.size,
    ...counts,
    missedUntold: untold.reduce(
      (sum, { seen }) => sum + acknowledged.filter((id) => !seen.has(id)).length,
      0,
    ),
    slowestMs: Math.round(Math.max(...times)),
    medianMs: Math.round(times.toSorted((one, two) => one - two)[Math.floor(times.length / 2)] ?? 0),
  };
}

type Sending = ReturnType<typeof startSending>;

/** Like the real sender: each message again until it is acknowledged, by either store. */
function startSending(logs: readonly EventLog[]) {
  const acknowledged = new Set<string>();
  const counts = { sent: 0, refused: 0 };
  const listeners = new Set<(since: number) => void>();
  let isStopped = false;
  const send = async (id: string) => {
    for (let turn = counts.sent; ; turn += 1) {
      const since = performance.now();
      try {
        await logs[turn % logs.length]?.append(newMessage(id));
        acknowledged.add(id);
        for (const listener of listeners) listener(since);
        return;
      } catch {
        counts.refused += 1;
        await wait(50);
      }
    }
  };
  const work = Array.from({ length: appenders }, async (_, lane) => {
    for (let turn = 0; !isStopped; turn += 1) {
      counts.sent += 1;
      await send(`message-${lane}-${turn}`);
      await wait(10);
    }
  });
  return {
    acknowledged,
    counts,
    /** Resolves with the first acknowledgement of an append that begins from now on. */
    next: () => {
      const [now, { promise, resolve }] = [performance.now(), Promise.withResolvers<void>()];
      const listener = (since: number) => {
        if (since < now) return;
        listeners.delete(listener);
        resolve();
      };
      listeners.add(listener);
      return promise;
    },
    stop: async () => {
      isStopped = true;
      await Promise.all(work);
    },
  };
}

interface Killing {
  readonly sending: Sending;
  readonly isLeftAlone: boolean;
  readonly isStop: boolean;
  /** Whether nothing is acknowledged before the killed server is back. */
  readonly needsAll: boolean;
}

async function killPrimary(
  cluster: RedisCluster,
  { sending, isLeftAlone, isStop, needsAll }: Killing,
): Promise<Omit<Kill, 'done' | 'resynced'>> {
  const primary = await cluster.primary();
  await wait(200 + Math.random() * 300);
  const replicas = cluster.servers.filter((server) => server !== primary);
  const lagging = replicas[Math.floor(Math.random() * replicas.length)]?.pid() ?? 0;
  process.kill(lagging, 'SIGSTOP');
  await wait(Math.random() * 300);
  if (isStop) process.kill(primary.pid() ?? 0, 'SIGSTOP');
  else await primary.end('SIGKILL');
  const [killedAt, since] = [performance.now(), Date.now()];
  const acknowledged = sending.next();
  const replaced = cluster.replaced(primary).then(() => performance.now() - killedAt);
  const lag = wait(Math.random() * maxLagMs).then(() => process.kill(lagging, 'SIGCONT'));
  const bringBack = async () => {
    if (isStop) process.kill(primary.pid() ?? 0, 'SIGCONT');
    else await primary.start();
    if (!isLeftAlone) await cluster.follow(primary);
  };
  const replacedMs = await replaced;
  if (needsAll) await bringBack();
  await acknowledged;
  const acknowledgedMs = performance.now() - killedAt;
  await lag;
  if (!needsAll) await bringBack();
  return { replacedMs, acknowledgedMs, log: cluster.logSince(since) };
}

/** Follows the log from its beginning. */
function startReader(log: EventLog): Reader {
  const ending = new AbortController();
  const { signal } = ending;
  const reader = { seen: new Set<string>(), resynced: 0 };
  const done = (async () => {
    for await (const item of createStream(signal, (over) => follow(log, {}, { after: 0, signal: over }))) {
      if (item.kind === 'gap') reader.resynced += 1;
      else reader.seen.add(item.event.messageId);
    }
  })();
  return Object.assign(reader, {
    stop: async () => {
      ending.abort();
      await done.catch(() => undefined);
    },
  });
}

function countResynced(readers: readonly Reader[]): number {
  return readers.reduce((sum, { resynced }) => sum + resynced, 0);
}

/** Whether every reader is told of a gap, at the latest ten seconds from now. */
async function areTold(readers: readonly Reader[], before: readonly number[]): Promise<boolean> {
  const isTold = () => readers.every(({ resynced }, index) => resynced > (before[index] ?? 0));
  for (const until = Date.now() + 10_000; Date.now() < until && !isTold(); ) await wait(50);
  return isTold();
}

/** Until each reader that was told of nothing has everything, or nothing more has come for five seconds. */
async function settle(readers: readonly Reader[], acknowledged: ReadonlySet<string>): Promise<void> {
  const isMissing = () =>
    readers.some(({ seen, resynced }) => resynced === 0 && !acknowledged.isSubsetOf(seen));
  let [count, since] = [-1, Date.now()];
  while (isMissing() && Date.now() - since < 5000) {
    const now = readers.reduce((sum, { seen }) => sum + seen.size, 0);
    if (now !== count) [count, since] = [now, Date.now()];
    await wait(50);
  }
}
