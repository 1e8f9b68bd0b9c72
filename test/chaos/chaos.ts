import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { compileCache } from '../support/compile-cache.ts';
import { makeSecrets, prepareGateways } from '../support/fleet.ts';
import { startService } from '../support/order-service.ts';
import { createWorld, planWorld, type World } from '../support/order-world.ts';
import { type GatewayVictim, prepareRedis } from '../support/processes.ts';
import { type Listener, startAudience } from './audience.ts';
import { type Broker, openRabbit } from './broker.ts';
import { doHarm, type Harm } from './harm.ts';
import { openPubSub } from './pubsub.ts';
import { type Sent, sendAll } from './sender.ts';

export interface ChaosPlan {
  readonly store: 'sqlite' | 'redis';
  /** Whether the two gateways over Redis listen on one port. */
  readonly sharesPort: boolean;
  /** The broker through which every event comes; half of them come by webhook as well. */
  readonly broker?: 'rabbitmq' | 'pubsub' | undefined;
  /** Different messages to send, and kills to survive meanwhile. */
  readonly messages: number;
  readonly kills: number;
  readonly users: number;
  readonly ordersPerUser: number;
  /** The gateway's main module, where it is not our own. */
  readonly main?: string;
  /** More environment variables of the gateway. */
  readonly env?: Readonly<Record<string, string>>;
  /** Ends sending and harm before the plan is fulfilled: what came until then is counted. */
  readonly ending?: AbortSignal;
  /** Ends the run at the first violation. */
  readonly stopEarly: boolean;
  /** Called after each harm with what was killed and acknowledged so far. */
  readonly onHarm?: (kills: number, acknowledged: number) => void;
  /** How long nothing may arrive before what is missing counts as lost, in milliseconds. */
  readonly maxQuietMs: number;
}

/** The harm done and its effects. `lost` to `crashes` must be 0. */
export interface ChaosReport {
  readonly kills: number;
  readonly stops: number;
  readonly diskFull: number;
  readonly redisKills: number;
  readonly brokerKills: number;
  readonly gracefulEnds: number;
  readonly sent: number;
  readonly posts: number;
  readonly acknowledged: number;
  readonly subscribers: number;
  readonly resumed: number;
  readonly delivered: number;
  readonly lost: number;
  readonly repeated: number;
  readonly outOfOrder: number;
  readonly wrongUser: number;
  readonly resynced: number;
  readonly forgedAccepted: number;
  readonly crashes: number;
}

/**
 * Runs real gateways, a sender that retries and subscribers that resume, and harms them meanwhile: kill -9,
 * SIGSTOP, SIGTERM, a full disk, a killed Redis. Then counts what arrived against what was acknowledged.
 */
export async function runChaos(plan: ChaosPlan): Promise<ChaosReport> {
  const folder = mkdtempSync(join(tmpdir(), 'labgraph-chaos-'));
  const world = createWorld(planWorld(plan));
  const service = await startService(world);
  const secrets = makeSecrets();
  const redis = plan.store === 'redis' ? await prepareRedis(folder) : null;
  await using broker = await openBroker(plan, folder);
  const gateways = await prepareGateways({
    main: plan.main,
    // A process that is killed writes no cache of compiled modules.
    env: { NODE_COMPILE_CACHE: compileCache, ...plan.env, ...broker?.env },
    folder,
    teamId: world.teamId,
    secrets,
    service: service.url,
    redis: redis?.url,
    sharesPort: plan.sharesPort,
  });
  const leaving = new AbortController();
  const harm: Harm = { kills: 0, stops: 0, diskFull: 0, redisKills: 0, brokerKills: 0, gracefulEnds: 0 };
  try {
    await redis?.start();
    await Promise.all(gateways.map((gateway) => gateway.start()));
    const address = takeTurns(gateways.map(({ url }) => url));
    const listeners = startAudience({ world, address, ...secrets });
    await Promise.all(listeners.map(({ subscriber }) => subscriber.opened));
    const numbers = new Set<number>();
    const sending = {
      world,
      secret: secrets.webhookSecret,
      address,
      concurrency: 32,
      broker: broker && {
        publish: (body: string) => broker.publish(body, address()),
        isDelivered: broker.server === null ? () => true : isDeliveredTo(listeners),
      },
      signal: leaving.signal,
    };
    const sendWhile = (isNeeded: (count: number) => boolean) => sendAll({ ...sending, isNeeded }, numbers);
    const send = (messages: number) => sendWhile((count) => count < messages);
    // Nobody is harmed before the team's stream has a cursor to come back with.
    const warmUp = await send(world.orders.length);
    const isOver = () => plan.stopEarly && isViolated(count(listeners, numbers, { withLoss: false }));
    const settleAll = () => settle(listeners, { numbers, maxQuietMs: plan.maxQuietMs, isOver });
    await settleAll();

    const isEnding = () => plan.ending?.aborted === true;
    const isHarming = () => harm.kills < plan.kills && !isOver() && !isEnding();
    const already = numbers.size;
    const isDue = () => numbers.size - already >= (harm.kills / plan.kills) * plan.messages;
    const onHarm = () => plan.onHarm?.(harm.kills, numbers.size);
    const sentMeanwhile = sendWhile((count) => isHarming() || (count < plan.messages && !isEnding()));
    await doHarm({ gateways, redis, broker: broker?.server ?? null, harm, isHarming, isDue, onHarm });
    if (isOver()) leaving.abort();
    const main = await sentMeanwhile;
    const bursts = await sendBursts({ world, send, settle: settleAll, signal: leaving.signal });
    await Promise.all(listeners.map(({ subscriber }) => subscriber.stop()));
    return describe({ listeners, numbers, harm, gateways, sent: [warmUp, main, ...bursts] });
  } finally {
    leaving.abort();
    await Promise.all(gateways.map((gateway) => gateway.end('SIGKILL')));
    await redis?.end('SIGKILL');
    service.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function openBroker(plan: ChaosPlan, folder: string): Promise<Broker | null> {
  if (plan.broker === undefined) return null;
  return plan.broker === 'rabbitmq' ? await openRabbit(folder) : await openPubSub();
}

/** Whether the team's stream has shown the message of this number. */
function isDeliveredTo(listeners: readonly Listener[]): (number: number) => boolean {
  const team = listeners.find(({ orders }) => orders === null);
  return (number) => team?.subscriber.messages.has(number) === true;
}

function takeTurns(urls: readonly string[]): () => string {
  let turn = 0;
  return () => {
    turn += 1;
    return urls[turn % urls.length] ?? '';
  };
}

interface Bursting {
  readonly world: World;
  readonly send: (messages: number) => Promise<Sent>;
  readonly settle: () => Promise<boolean>;
  readonly signal: AbortSignal;
}

const bursts = 6;
const burstsPerOrder = 10;

/**
 * After the last fault: many changes at once, then none. A subscriber that misses the last of them
 * sleeps on, because nothing else comes to wake it.
 */
async function sendBursts({ world, send, settle: settleAll, signal }: Bursting): Promise<readonly Sent[]> {
  const sent: Sent[] = [];
  while (sent.length < bursts && !signal.aborted && (await settleAll())) {
    sent.push(await send(world.orders.length * burstsPerOrder));
  }
  await settleAll();
  return sent;
}

interface Settling {
  readonly numbers: ReadonlySet<number>;
  readonly maxQuietMs: number;
  readonly isOver: () => boolean;
}

/** Waits until everything has arrived, or until nothing more has for a while: false. */
async function settle(
  listeners: readonly Listener[],
  { numbers, maxQuietMs, isOver }: Settling,
): Promise<boolean> {
  let [items, since] = [-1, Date.now()];
  while (count(listeners, numbers, { withLoss: true }).lost > 0) {
    const now = listeners.reduce((sum, { subscriber }) => sum + subscriber.delivered.items, 0);
    if (isOver() || Date.now() - since > maxQuietMs) return false;
    if (now !== items) [items, since] = [now, Date.now()];
    await wait(20);
  }
  return true;
}

interface Counted {
  readonly lost: number;
  readonly repeated: number;
  readonly outOfOrder: number;
  readonly wrongUser: number;
  readonly resynced: number;
}

function count(
  listeners: readonly Listener[],
  numbers: ReadonlySet<number>,
  { withLoss }: { readonly withLoss: boolean },
): Counted {
  const sum = (of: (listener: Listener) => number) =>
    listeners.reduce((total, listener) => total + of(listener), 0);
  return {
    lost: withLoss ? sum((listener) => countLost(listener, numbers)) : 0,
    repeated: sum(({ subscriber }) => subscriber.violations.repeated),
    outOfOrder: sum(({ subscriber }) => subscriber.violations.outOfOrder),
    wrongUser: sum(({ subscriber }) => subscriber.violations.wrongUser),
    resynced: sum(({ subscriber }) => subscriber.violations.resynced),
  };
}

function countLost({ subscriber, orders }: Listener, numbers: ReadonlySet<number>): number {
  if (orders === null) return [...numbers].filter((number) => !subscriber.messages.has(number)).length;
  const missing = orders.map(
    ({ id, expected }) => expected.filter((version) => !subscriber.knows(id, version)).length,
  );
  return missing.reduce((total, lost) => total + lost, 0);
}

function isViolated(counted: Counted): boolean {
  return Object.values(counted).some((number) => number > 0);
}

interface Description {
  readonly listeners: readonly Listener[];
  readonly numbers: ReadonlySet<number>;
  readonly harm: Harm;
  readonly gateways: readonly GatewayVictim[];
  readonly sent: readonly Sent[];
}

function describe({ listeners, numbers, harm, gateways, sent }: Description): ChaosReport {
  const sum = (key: keyof Sent) => sent.reduce((total, part) => total + part[key], 0);
  const sumOf = (key: 'items' | 'streams') =>
    listeners.reduce((total, { subscriber }) => total + subscriber.delivered[key], 0);
  return {
    ...harm,
    sent: sum('messages'),
    posts: sum('posts'),
    acknowledged: sum('acknowledged'),
    subscribers: listeners.length,
    resumed: sumOf('streams') - listeners.length,
    delivered: sumOf('items'),
    ...count(listeners, numbers, { withLoss: true }),
    forgedAccepted: sum('forgedAccepted'),
    crashes: gateways.reduce((total, gateway) => total + gateway.crashes(), 0),
  };
}

/** The counts that must all be 0. */
export const faultKeys = [
  'lost',
  'repeated',
  'outOfOrder',
  'wrongUser',
  'resynced',
  'forgedAccepted',
  'crashes',
] as const satisfies readonly (keyof ChaosReport)[];
