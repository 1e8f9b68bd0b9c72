import { randomUUID } from 'node:crypto';
import { parseInstant } from '../parse/dates.ts';
import { clockSkewSeconds, maxTtlSeconds } from './claims.ts';
import type { Revoked, TokenLives } from './token-lives.ts';

const prefix = 'revoked ';
/** How often what other gateways have revoked is looked for, in milliseconds. */
const lookEveryMs = 500;
/** By then every token that was made before has ended by itself. */
const keptMs = (maxTtlSeconds + clockSkewSeconds) * 1000;

/** Where revocations are kept: small texts under names, durable, the same for all gateways over one log. */
export interface Marks {
  readonly readMarks: (prefix: string) => Promise<ReadonlyMap<string, string>>;
  /** Resolves when it is durable. */
  readonly writeMark: (name: string, value: string) => Promise<void>;
  readonly dropMark: (name: string) => Promise<void>;
}

export interface Revocations {
  /**
   * Takes tokens back: here at once, at other gateways over the same log within a second. Resolves when it is durable.
   * @returns when: tokens made later are not concerned
   * @throws GatewayError EVENT_LOG_UNAVAILABLE when it cannot be kept; then nothing was revoked
   */
  readonly revoke: (what: Omit<Revoked, 'at'>) => Promise<Date>;
  readonly close: () => void;
}

/**
 * Learns what is revoked already, then follows what other gateways revoke. While the store is away, what is known
 * counts: nobody can revoke more then.
 * @throws GatewayError EVENT_LOG_UNAVAILABLE
 */
export async function openRevocations(marks: Marks, lives: TokenLives): Promise<Revocations> {
  const known = new Set<string>();
  const look = async () => {
    const kept = await marks.readMarks(prefix);
    const endedBefore = new Date(Date.now() - keptMs);
    const ended: string[] = [];
    for (const [name, text] of kept) {
      const revoked = read(text);
      if (revoked === null || revoked.at < endedBefore) ended.push(name);
      else if (!known.has(name)) lives.revoke(revoked);
      known.add(name);
    }
    for (const name of known) if (!kept.has(name)) known.delete(name);
    lives.forget(endedBefore);
    // One that cannot be dropped now is harmless, and dropped by a later look.
    await Promise.allSettled(ended.map(marks.dropMark));
  };
  await look();
  const stopLooking = repeat(look);

  return {
    revoke: async (what) => {
      const revoked = { ...what, at: new Date() };
      // A name of its own for each: gateways that revoke at once overwrite nothing of each other.
      await marks.writeMark(`${prefix}${randomUUID()}`, JSON.stringify(revoked));
      lives.revoke(revoked);
      return revoked.at;
    },
    close: stopLooking,
  };
}

/** One look at a time; a store that cannot be asked is asked again by the next. */
function repeat(look: () => Promise<void>): () => void {
  let isLooking = false;
  const timer = setInterval(async () => {
    if (isLooking) return;
    isLooking = true;
    await look().catch(() => undefined);
    isLooking = false;
  }, lookEveryMs).unref();
  return () => clearInterval(timer);
}

/** Null for what no gateway of this kind wrote. */
function read(text: string): Revoked | null {
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
