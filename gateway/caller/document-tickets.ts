import { createHash, randomBytes } from 'node:crypto';
import type { Caller } from './caller.ts';

const lifeMs = 60_000;
/** How many unused tickets are kept; beyond it the oldest end early. */
const maxTickets = 10_000;

/** A document that a ticket lets somebody fetch. */
export interface DocumentGrant {
  /** Who asked for the ticket: the document is fetched with this caller's rights, and no others. */
  readonly caller: Caller;
  readonly orderId: string;
  /** Whose order it was when the ticket was made. */
  readonly userId: string;
  readonly kind: DocumentKind;
}

export type DocumentKind = 'RESULT' | 'REQUISITION';

export interface DocumentTickets {
  readonly issue: (grant: DocumentGrant) => { readonly ticket: string; readonly expiresAt: Date };
  /** What the ticket is for, once; null ever after, when it has ended, and for anything that is no ticket. */
  readonly redeem: (ticket: string) => DocumentGrant | null;
}

/**
 * Tickets for one fetch of one document: 256 random bits, 60 s (never longer than the viewer token behind them),
 * single use. They live in this process only, and only as their hash, so nothing that is written down opens one.
 */
export function createDocumentTickets(now: () => number = Date.now): DocumentTickets {
  const kept = new Map<string, { readonly grant: DocumentGrant; readonly expiresAt: number }>();

  /** Tickets are kept in the order they were made; all but those of ending tokens end in that order too. */
  const makeRoom = () => {
    for (const [key, { expiresAt }] of kept) {
      if (expiresAt > now() && kept.size < maxTickets) return;
      kept.delete(key);
    }
  };

  return {
    issue: (grant) => {
      makeRoom();
      const ticket = randomBytes(32).toString('base64url');
      const tokenEnds = grant.caller.kind === 'USER' ? grant.caller.expiresAt.getTime() : Infinity;
      const expiresAt = Math.min(now() + lifeMs, tokenEnds);
      kept.set(hash(ticket), { grant, expiresAt });
      return { ticket, expiresAt: new Date(expiresAt) };
    },
    redeem: (ticket) => {
      const key = hash(ticket);
      const found = kept.get(key);
      kept.delete(key);
      return found !== undefined && found.expiresAt > now() ? found.grant : null;
    },
  };
}

function hash(ticket: string): string {
  return createHash('sha256').update(ticket).digest('base64url');
}
