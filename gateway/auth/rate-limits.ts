import { hash } from 'node:crypto';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { GatewayError } from '../errors.ts';
import type { Caller } from './rights.ts';

const windowSeconds = 60;
/** Servers of the team speak for many users over few connections. */
const teamFactor = 20;
/** A connection may end at any time: clients try again after this. */
const connectionRetryMs = 5000;

/** Runs a script in a store that several gateways share, as node-redis does. */
export type RunShared = (
  script: string,
  call: { readonly keys: readonly string[]; readonly arguments: readonly string[] },
) => Promise<unknown>;

export interface RateLimitOptions {
  /** Points of one caller in a minute; 0 = no limit. */
  readonly pointsPerMinute: number;
  /** Sockets and streams of one viewer at once, however many browsers; a gateway key has 20 times as many. */
  readonly connections: number;
  /** Operations at once over one socket of a viewer; a gateway key has 20 times as many. */
  readonly operationsPerSocket: number;
  /** The store in which several gateways count together; null = this gateway counts alone. */
  readonly runShared: RunShared | null;
}

/** Points that an operation has paid in advance. */
export interface Charge {
  /** Sets the actual cost so far: charges the difference, or gives it back. */
  readonly settle: (points: number) => void;
}

/**
 * The rate limits of a caller. A point is a request, a call to the service, 1,000 executed fields or 64 KiB of a cached
 * answer: points measure the load that a caller causes, and not the form of its queries. One user is one caller, whatever their number of tokens,
 * and so is one gateway key: a server that runs wild leaves the others their share.
 */
export interface RateLimits {
  /** @throws GatewayError RATE_LIMITED with the time until there are points again */
  readonly pay: (caller: Caller, points: number) => Promise<Charge>;
  /** Charges points for finished work, even if the caller has none left. */
  readonly charge: (caller: Caller, points: number) => void;
  /**
   * Counts a socket or stream until the function it returns is called; a second call does nothing.
   * @throws GatewayError RATE_LIMITED
   */
  readonly connect: (caller: Caller) => () => void;
  /** @throws GatewayError RATE_LIMITED when a socket has more operations than this under way */
  readonly checkOperations: (caller: Caller, underWay: number) => void;
}

export function createRateLimits(options: RateLimitOptions): RateLimits {
  const open = new Map<string, number>();
  return {
    ...createPoints(options),
    connect: (caller) => {
      const key = keyOf(caller);
      const limit = shareOf(caller, options.connections);
      const now = open.get(key) ?? 0;
      if (now >= limit) throw tooMany(`The caller has ${limit} sockets and streams open.`, connectionRetryMs);
      open.set(key, now + 1);
      return once(() => {
        const left = (open.get(key) ?? 1) - 1;
        if (left === 0) open.delete(key);
        else open.set(key, left);
      });
    },
    checkOperations: (caller, underWay) => {
      const limit = shareOf(caller, options.operationsPerSocket);
      if (underWay > limit) throw tooMany(`The socket has ${limit} operations under way.`, connectionRetryMs);
    },
  };
}

const free: Charge = { settle: () => {} };

function createPoints(options: RateLimitOptions): Pick<RateLimits, 'pay' | 'charge'> {
  const { pointsPerMinute } = options;
  if (pointsPerMinute === 0) return { pay: async () => free, charge: () => {} };
  const limiter = createLimiter(options);
  const charge = (caller: Caller, points: number) => {
    if (points > 0) ignore(limiter.penalty(keyOf(caller), points));
  };
  const pay: RateLimits['pay'] = async (caller, points) => {
    const key = keyOf(caller);
    const { msBeforeNext } = await limiter.consume(key, points).catch((reason: unknown) => {
      throw reason instanceof RateLimiterRes ? tooFast(pointsPerMinute, reason.msBeforeNext) : reason;
    });
    const endsAt = performance.now() + msBeforeNext;
    let paid = points;
    return {
      settle: (cost) => {
        const missing = cost - paid;
        paid = cost;
        // What was paid in a minute that is over cannot be spent in the next one.
        if (missing < 0 && performance.now() < endsAt) ignore(limiter.reward(key, -missing));
        charge(caller, missing);
      },
    };
  };
  return { pay, charge };
}

/** While the shared store is unavailable, each gateway counts alone: a caller then has all its points at each of them. */
function createLimiter({ pointsPerMinute, runShared }: RateLimitOptions) {
  const settings = { keyPrefix: '{labgraph}:points', points: pointsPerMinute, duration: windowSeconds };
  const alone = new RateLimiterMemory(settings);
  if (runShared === null) return alone;
  const storeClient = { eval: runShared };
  return new RateLimiterRedis({ ...settings, storeClient, useRedisPackage: true, insuranceLimiter: alone });
}

/** For points that are settled after the answer: an error of the store has no receiver. */
function ignore(settled: Promise<unknown>): void {
  settled.catch(() => undefined);
}

/** A credential is the same caller from request to request (auth/authenticate.ts), and each pays twice. */
const keys = new WeakMap<Caller, string>();

/** The key of a caller: one user, or one gateway key. */
export function keyOf(caller: Caller): string {
  const key = keys.get(caller) ?? makeKey(caller);
  keys.set(caller, key);
  return key;
}

/** A hash of the user's id, because the key may be stored in Redis. */
function makeKey(caller: Caller): string {
  if (caller.kind === 'TEAM') return caller.keyName === undefined ? 'team' : `team:${caller.keyName}`;
  return hash('sha256', `labgraph:caller:${caller.userId}`, 'base64url');
}

/** A caller's limit, given a viewer's limit. */
export function shareOf({ kind }: Caller, ofViewer: number): number {
  return kind === 'TEAM' ? ofViewer * teamFactor : ofViewer;
}

function tooFast(pointsPerMinute: number, retryAfterMs: number): GatewayError {
  return tooMany(
    `The caller has used its ${pointsPerMinute} points of this minute (a request, a call to the service or 1,000 fields of an answer is one).`,
    retryAfterMs,
  );
}

function tooMany(message: string, retryAfterMs: number): GatewayError {
  return new GatewayError('RATE_LIMITED', message, { retryAfterMs });
}

function once(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) run();
    isDone = true;
  };
}
