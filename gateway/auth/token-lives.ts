import { toDelay } from '../cache/expiry.ts';
import type { Caller, UserCaller } from './caller.ts';

/** What is taken back: one token by its `jti`, all tokens of a user made until now, or both. */
export interface Revoked {
  readonly userId: string | null;
  readonly tokenId: string | null;
  readonly at: Date;
}

export interface TokenLives {
  /** Aborts when the caller's token ends or is revoked, with the reason as a sentence. Never for the team. */
  readonly endOf: (caller: Caller) => AbortSignal;
  readonly isRevoked: (caller: UserCaller) => boolean;
  /** Ends every token that this is about, those in use at once. Telling it again changes nothing. */
  readonly revoke: (revoked: Revoked) => void;
  /** Forgets what was revoked before this time: those tokens have ended by themselves. */
  readonly forget: (before: Date) => void;
}

interface Life {
  readonly caller: UserCaller;
  readonly end: AbortController;
}

const endless = new AbortController().signal;

/** The tokens in use by this process, and what has been taken back. One signal per token, however often it is used. */
export function createTokenLives(): TokenLives {
  const lives = new Map<string, Life>();
  const users = new Map<string, Date>();
  const tokens = new Map<string, Date>();

  const isRevoked = ({ userId, tokenId, issuedAt }: UserCaller) => {
    const revokedAt = users.get(userId);
    if (revokedAt !== undefined && issuedAt <= revokedAt) return true;
    return tokenId !== null && tokens.has(tokenId);
  };
  const begin = (key: string, caller: UserCaller): Life => {
    const life = { caller, end: new AbortController() };
    lives.set(key, life);
    const expire = () => {
      lives.delete(key);
      life.end.abort('Token expired');
    };
    setTimeout(expire, toDelay(caller.expiresAt.getTime() - Date.now())).unref();
    if (isRevoked(caller)) life.end.abort('Token revoked');
    return life;
  };

  return {
    isRevoked,
    endOf: (caller) => {
      if (caller.kind === 'TEAM') return endless;
      const key = keyOf(caller);
      return (lives.get(key) ?? begin(key, caller)).end.signal;
    },
    revoke: ({ userId, tokenId, at }) => {
      if (userId !== null) users.set(userId, latest(users.get(userId), at));
      if (tokenId !== null) tokens.set(tokenId, latest(tokens.get(tokenId), at));
      for (const { caller, end } of lives.values()) {
        if (isRevoked(caller)) end.abort('Token revoked');
      }
    },
    forget: (before) => {
      for (const known of [users, tokens]) {
        for (const [key, at] of known) if (at < before) known.delete(key);
      }
    },
  };
}

/** Equal only for tokens that end by the same time and the same revocations. */
function keyOf({ userId, tokenId, issuedAt, expiresAt }: UserCaller): string {
  return JSON.stringify([userId, tokenId, issuedAt, expiresAt]);
}

function latest(known: Date | undefined, at: Date): Date {
  return known === undefined || known < at ? at : known;
}
