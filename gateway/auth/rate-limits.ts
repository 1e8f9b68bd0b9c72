import { hash } from 'node:crypto';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { GatewayError } from '../errors.ts';
import type { Caller } from './rights.ts';

const windowSeconds = 60;
/** A gateway key has this many times the limits of a viewer: a server acts for many users over few connections. */
const teamFactor = 20;
/** The `retryAfter` of a refused connection. Another connection may end at any time. */
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
  /** Sets the actual cost so far: charges or refunds the difference. */
  readonly settle: (points: number) => void;
}

/**
 * The rate limits of a caller. A point is a request, a call to the service, 1,000 executed fields or 64 KiB of a cached
 * answer: points measure the load that a caller causes, and not the form of its queries. A user is one caller, whatever
 * the number of its tokens. A gateway key is one caller too, so a server out of control leaves the others their share.
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
        // Points that were paid in an earlier minute are not refunded into the next one.
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

/** Points are settled after the answer, so nobody can handle an error of the store. */
function ignore(settled: Promise<unknown>): void {
  settled.catch(() => undefined);
}

/** A caller is the same object from request to request (auth/authenticate.ts), and each request needs its key twice. */
const keys = new WeakMap<Caller, string>();

/** The key of a caller: one user, one gateway key or one management key. */
export function keyOf(caller: Caller): string {
  const key = keys.get(caller) ?? makeKey(caller);
  keys.set(caller, key);
  return key;
}

/** A hash of the user's id, because the key may be stored in Redis. */
function makeKey(caller: Caller): string {
  if (caller.kind === 'TEAM') return caller.keyName === undefined ? 'team' : `team:${caller.keyName}`;
  if (caller.kind === 'MANAGEMENT') return `management:${caller.keyName}`;
  return hash('sha256', `labgraph:caller:${caller.userId}`, 'base64url');
}

/** A caller's limit, given a viewer's limit. */
export function shareOf({ kind }: Caller, ofViewer: number): number {
  return kind === 'USER' ? ofViewer : ofViewer * teamFactor;
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
