import { randomUUID } from 'node:crypto';
import { parseInstant } from '../parse/dates.ts';
import type { Caller, UserCaller } from './rights.ts';
import { clockSkewSeconds, maxTtlSeconds } from './viewer-tokens.ts';

const prefix = 'revoked ';
/** How often expired tokens are ended and the revocations of other gateways are read, in milliseconds. */
const readEveryMs = 500;
/** After this time a revocation has no effect: every token that was made before it has expired. */
const lifetimeMs = (maxTtlSeconds + clockSkewSeconds) * 1000;

/** Which tokens are revoked: one by its `jti`, all tokens of a user made until `at`, or both. */
export interface Revocation {
  readonly userId: string | null;
  readonly tokenId: string | null;
  readonly at: Date;
}

/** Where revocations are stored: small texts under names, durable, the same for all gateways over one log. */
export interface Marks {
  readonly readMarks: (prefix: string) => Promise<ReadonlyMap<string, string>>;
  /** Resolves when it is durable. */
  readonly writeMark: (name: string, value: string) => Promise<void>;
  readonly dropMark: (name: string) => Promise<void>;
}

interface ActiveToken {
  readonly caller: UserCaller;
  readonly end: AbortController;
}

const endless = new AbortController().signal;
const keyRemoved = 'Key removed';
/** For a caller that was authenticated just before its key was removed. */
const removed = AbortSignal.abort(keyRemoved);

/**
 * The gateway keys and the tokens in use by this process, and the revocations it knows. A credential has one signal, however
 * often it is used.
 */
export class ActiveCredentials {
  readonly #active = new Map<string, ActiveToken>();
  /** By name. */
  readonly #keys = new Map<string, AbortController>();
  #tokenKeys: readonly string[] = [];
  readonly #revokedUsers = new Map<string, Date>();
  readonly #revokedTokens = new Map<string, Date>();

  /**
   * Aborts, with the reason as a sentence, when the caller's token ends or is revoked, or when its gateway key or the key
   * that signed its token is removed. Never aborts for a management key.
   */
  endOf(caller: Caller): AbortSignal {
    if (caller.kind === 'TEAM' && caller.keyName !== undefined)
      return this.#keys.get(caller.keyName)?.signal ?? removed;
    if (caller.kind !== 'USER') return endless;
    const key = keyOf(caller);
    return (this.#active.get(key) ?? this.#activate(key, caller)).end.signal;
  }

  /** From now on these are the gateway keys, by name. Ends all others, also those in use. */
  useKeys(names: readonly string[]): void {
    for (const [name, end] of this.#keys) {
      if (names.includes(name)) continue;
      this.#keys.delete(name);
      end.abort(keyRemoved);
    }
    for (const name of names) if (!this.#keys.has(name)) this.#keys.set(name, new AbortController());
  }

  /** From now on, own tokens are valid only with these keys (`keyId`). Ends all tokens of other keys, also those in use. */
  useTokenKeys(ids: readonly string[]): void {
    this.#tokenKeys = ids;
    for (const [name, { caller, end }] of this.#active) {
      if (!this.#isOfRemovedKey(caller)) continue;
      this.#active.delete(name);
      end.abort(keyRemoved);
    }
  }

  #isOfRemovedKey({ keyId }: UserCaller): boolean {
    return keyId !== undefined && !this.#tokenKeys.includes(keyId);
  }

  /** Also true for a token whose key was removed. */
  isRevoked(caller: UserCaller): boolean {
    const { userId, tokenId, issuedAt } = caller;
    if (this.#isOfRemovedKey(caller)) return true;
    const revokedAt = this.#revokedUsers.get(userId);
    if (revokedAt !== undefined && issuedAt <= revokedAt) return true;
    return tokenId !== null && this.#revokedTokens.has(tokenId);
  }

  /** Ends every token that is revoked, also those in use. A repeated call changes nothing. */
  revoke({ userId, tokenId, at }: Revocation): void {
    if (userId !== null) this.#revokedUsers.set(userId, latest(this.#revokedUsers.get(userId), at));
    if (tokenId !== null) this.#revokedTokens.set(tokenId, latest(this.#revokedTokens.get(tokenId), at));
    for (const { caller, end } of this.#active.values()) {
      if (this.isRevoked(caller)) end.abort('Token revoked');
    }
  }

  /** Drops revocations from before this time: their tokens have expired. */
  dropBefore(time: Date): void {
    for (const revoked of [this.#revokedUsers, this.#revokedTokens]) {
      for (const [key, at] of revoked) if (at < time) revoked.delete(key);
    }
  }

  /** Ends tokens that have expired. A token's own timer does not count the time in which the machine slept. */
  endExpired(): void {
    const now = Date.now();
    for (const [key, token] of this.#active) {
      if (token.caller.expiresAt.getTime() <= now) this.#expire(key, token);
    }
  }

  #expire(key: string, { end }: ActiveToken): void {
    this.#active.delete(key);
    end.abort('Token expired');
  }

  #activate(key: string, caller: UserCaller): ActiveToken {
    const token = { caller, end: new AbortController() };
    this.#active.set(key, token);
    const expire = () => this.#expire(key, token);
    // At least 1 ms: Node warns of a negative delay. At most 15 minutes, the longest life of a token.
    setTimeout(expire, Math.max(1, caller.expiresAt.getTime() - Date.now())).unref();
    if (this.isRevoked(caller)) token.end.abort('Token revoked');
    return token;
  }
}

/** Equal only for tokens with the same expiry that are revoked together. */
function keyOf({ userId, tokenId, issuedAt, expiresAt, keyId }: UserCaller): string {
  return JSON.stringify([userId, tokenId, issuedAt, expiresAt, keyId]);
}

function latest(known: Date | undefined, at: Date): Date {
  return known === undefined || known < at ? at : known;
}

export interface Revocations {
  /**
   * Revokes tokens: here at once, at other gateways over the same log within a second. Resolves when it is durable.
   * @returns the time of the revocation; tokens made later are not revoked
   * @throws GatewayError EVENT_LOG_UNAVAILABLE when it cannot be stored; then nothing was revoked
   */
  readonly revoke: (what: Omit<Revocation, 'at'>) => Promise<Date>;
  readonly close: () => void;
}

/**
 * Reads the stored revocations, then follows those of other gateways. While the store is unavailable, the known ones
 * apply, and nobody can revoke more.
 * @throws GatewayError EVENT_LOG_UNAVAILABLE
 */
export async function openRevocations(marks: Marks, credentials: ActiveCredentials): Promise<Revocations> {
  const known = new Set<string>();
  const readAll = async () => {
    credentials.endExpired();
    const stored = await marks.readMarks(prefix);
    const expiredBefore = new Date(Date.now() - lifetimeMs);
    const expired: string[] = [];
    for (const [name, text] of stored) {
      const revocation = read(text);
      if (revocation === null || revocation.at < expiredBefore) expired.push(name);
      else if (!known.has(name)) credentials.revoke(revocation);
      known.add(name);
    }
    for (const name of known) if (!stored.has(name)) known.delete(name);
    credentials.dropBefore(expiredBefore);
    // A mark that cannot be dropped now is harmless. A later read drops it.
    await Promise.allSettled(expired.map((name) => marks.dropMark(name)));
  };
  await readAll();
  const stopReading = repeat(readAll);

  return {
    revoke: async (what) => {
      const revocation = { ...what, at: new Date() };
      // Each revocation has a name of its own, so that gateways that revoke at the same time do not overwrite each
      // other.
      await marks.writeMark(`${prefix}${randomUUID()}`, JSON.stringify(revocation));
      credentials.revoke(revocation);
      return revocation.at;
    },
    close: stopReading,
  };
}

/** One read at a time; after a failure the next read tries again. */
function repeat(run: () => Promise<void>): () => void {
  let isRunning = false;
  const timer = setInterval(async () => {
    if (isRunning) return;
    isRunning = true;
    await run().catch(() => undefined);
    isRunning = false;
  }, readEveryMs).unref();
  return () => clearInterval(timer);
}

/** Null for a text that is not a revocation. */
function read(text: string): Revocation | null {
  try {
    const { userId, tokenId, at } = JSON.parse(text);
    const time = parseInstant(String(at));
    if (time === null) return null;
    return { userId: readText(userId), tokenId: readText(tokenId), at: time };
  } catch {
    return null;
  }
}

function readText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
