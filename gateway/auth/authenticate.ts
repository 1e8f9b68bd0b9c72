import { hash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { splitKeyEntry } from '../config/auth.ts';
import { GatewayError } from '../errors.ts';
import { currentRequest } from '../telemetry/request.ts';
import type { RateLimits } from './rate-limits.ts';
import type { Caller, UserCaller } from './rights.ts';
import { refused, type ViewerTokens } from './viewer-tokens.ts';

export interface Credentials {
  /** The `Authorization` value, or `connectionParams.authorization` of a socket. */
  readonly authorization: string | null;
  /** The browser's `Origin`, null for callers that send none. */
  readonly origin: string | null;
}

export type Authenticate = (credentials: Credentials) => Promise<Caller>;

export interface AuthenticateOptions {
  /** The name of a gateway key, null for anything else. */
  readonly findGatewayKey: (key: string) => string | null;
  readonly viewerTokens: Pick<ViewerTokens, 'verify'>;
  readonly isRevoked: (caller: UserCaller) => boolean;
}

/**
 * Makes the function that finds the caller of a request: `Bearer <gateway key>` is a server of the team, `Bearer <viewer
 * token>` one user. While its credential is cached, a caller is the same object from request to request.
 * The function throws GatewayError UNAUTHENTICATED for anything else.
 */
export function createAuthenticate({
  findGatewayKey,
  viewerTokens,
  isRevoked,
}: AuthenticateOptions): Authenticate {
  const verify = cacheVerified(async (credential) => {
    const keyName = findGatewayKey(credential);
    if (keyName !== null) return { kind: 'TEAM', keyName };
    try {
      return await viewerTokens.verify(credential);
    } catch (error) {
      throw isToken(credential) ? error : unknownCredential(error);
    }
  });
  return async ({ authorization, origin }) => {
    const credential = readBearer(authorization);
    if (credential === null) {
      throw new GatewayError(
        'UNAUTHENTICATED',
        'Send "Authorization: Bearer <gateway key or viewer token>" (over WebSocket: connectionParams.authorization).',
      );
    }
    const caller = await verify(credential);
    if (caller.kind !== 'USER') return caller;
    if (isRevoked(caller)) throw refused();
    if (caller.origins !== null && (origin === null || !caller.origins.includes(origin))) {
      throw new GatewayError('UNAUTHENTICATED', 'The viewer token is not valid from this origin.');
    }
    return caller;
  };
}

function readBearer(authorization: string | null): string | null {
  return /^Bearer +(\S+)\s*$/i.exec(authorization ?? '')?.[1] ?? null;
}

/**
 * Makes the function that finds the caller of a request to the management graph, by its management key. Gateway keys and
 * viewer tokens are not accepted. The function throws GatewayError UNAUTHENTICATED for anything else.
 */
export function createManagementAuthenticate(keys: readonly string[]): Authenticate {
  const findKey = createKeyFinder(keys);
  return async ({ authorization }) => {
    const credential = readBearer(authorization);
    const keyName = credential === null ? null : findKey(credential);
    if (keyName !== null) return { kind: 'MANAGEMENT', keyName };
    throw new GatewayError('UNAUTHENTICATED', 'Send "Authorization: Bearer <management key>".');
  };
}

/** Whether a credential has the form of a signed or encrypted token (JWS, JWE). */
function isToken(credential: string): boolean {
  return [3, 5].includes(credential.split('.').length);
}

/** For a wrong gateway key: without it, the sender of a mistyped key would search for a fault in its tokens. */
function unknownCredential(cause: unknown): GatewayError {
  const message = 'The bearer token is no gateway key and no viewer token.';
  return new GatewayError('UNAUTHENTICATED', message, { cause });
}

export interface RequestAuthentication {
  readonly authenticate: Authenticate;
  readonly rateLimits: RateLimits;
}

/**
 * Finds the caller of a request and charges one point, before the body is read: a malformed request costs as much as
 * any other.
 * @throws GatewayError UNAUTHENTICATED, RATE_LIMITED
 */
export async function authenticateRequest(
  { authenticate, rateLimits }: RequestAuthentication,
  credentials: Credentials,
): Promise<Caller> {
  const caller = await authenticate(credentials);
  const request = currentRequest();
  if (request !== undefined) request.caller = caller;
  await rateLimits.pay(caller, 1);
  return caller;
}

/** Callers by the request of node:http. */
const callers = new WeakMap<object, Caller>();

/** Stores the caller of a request that the direct path has authenticated, so that Yoga does not charge it again. */
export function storeCaller(request: object, caller: Caller): void {
  callers.set(request, caller);
}

/** The stored caller of the request behind a connection of Hono's; null where there is none. */
export function findCaller(connection: unknown): Caller | null {
  if (typeof connection !== 'object' || connection === null || !('incoming' in connection)) return null;
  const { incoming } = connection;
  return typeof incoming === 'object' && incoming !== null ? (callers.get(incoming) ?? null) : null;
}

/** How much of a key's hash is in its name: enough to distinguish a few keys. */
const nameLength = 8;

/**
 * Finds a presented key among the configured ones (plain text, or `sha256:<hex>` of it, with or without
 * `label=` before it). All keys are compared, each in constant time, so neither content nor position can be measured.
 * @returns the name of the key for logs: its label (or `key`) and the first digits of its SHA-256, which distinguish the old
 *   from the new one in a rotation; null for an unknown key
 */
export function createKeyFinder(entries: readonly string[]): (presented: string) => string | null {
  const keys = entries.map(readEntry);
  return (presented) => {
    const actual = digestOf(presented);
    let found: string | null = null;
    for (const { digest, name } of keys) if (timingSafeEqual(actual, digest)) found = name;
    return found;
  };
}

/** The name that `createKeyFinder` finds for a configured key. */
export function nameOfKey(entry: string): string {
  return readEntry(entry).name;
}

function readEntry(entry: string): { readonly digest: Buffer; readonly name: string } {
  const { label, key } = splitKeyEntry(entry);
  const digest = key.startsWith('sha256:') ? Buffer.from(key.slice('sha256:'.length), 'hex') : digestOf(key);
  return { digest, name: `${label ?? 'key'}-${digest.toString('hex').slice(0, nameLength)}` };
}

function digestOf(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/**
 * How long a verified credential is cached. A key that the provider withdraws works that much longer; revocation and
 * expiry are checked every time.
 */
const ttlMs = 60_000;
/** Far more than are in use at the same time. */
const maxCredentials = 10_000;
/**
 * The longest credential that is cached, in characters; the gateway's own have about 400. Longer ones are verified each
 * time.
 */
const maxLength = 2048;

interface Verified {
  readonly caller: Caller;
  /** In the time of `performance.now()`. */
  readonly until: number;
}

/**
 * Verifies credentials, each once a minute: a signature costs as much as the rest of a small query. Only valid ones are cached,
 * so invented ones cannot fill the cache.
 */
export function cacheVerified(
  verify: (credential: string) => Promise<Caller>,
): (credential: string) => Promise<Caller> | Caller {
  const cache = new VerifiedCredentials();
  const verifyAnew = async (credential: string): Promise<Caller> => {
    const caller = await verify(credential);
    cache.add(credential, caller);
    return caller;
  };
  return (credential) => cache.find(credential) ?? verifyAnew(credential);
}

/**
 * The callers of verified credentials, cached as plain text and deleted in the minute after theirs. It is a class so that its
 * timer holds nothing else: a closure beside `verify` would hold a closed gateway.
 */
class VerifiedCredentials {
  // With `max` it would allocate room for all of them at once.
  readonly #cache = new LRUCache<string, Verified>({ maxSize: maxCredentials, sizeCalculation: () => 1 });
  // One timer for all: with one for each, evicted ones would be held in memory as well.
  #isTimed = false;

  find(credential: string): Caller | null {
    const verified = this.#cache.get(credential);
    return verified !== undefined && isValid(verified) ? verified.caller : null;
  }

  add(credential: string, caller: Caller): void {
    if (credential.length > maxLength) return;
    this.#cache.set(credential, { caller, until: performance.now() + ttlMs });
    this.#purgeLater();
  }

  #purgeLater(): void {
    if (this.#isTimed) return;
    this.#isTimed = true;
    setTimeout(() => this.#purge(), ttlMs).unref();
  }

  #purge(): void {
    this.#isTimed = false;
    for (const [credential, verified] of this.#cache.entries())
      if (!isValid(verified)) this.#cache.delete(credential);
    if (this.#cache.size > 0) this.#purgeLater();
  }
}

function isValid({ caller, until }: Verified): boolean {
  if (performance.now() >= until) return false;
  return caller.kind !== 'USER' || Date.now() < caller.expiresAt.getTime();
}
