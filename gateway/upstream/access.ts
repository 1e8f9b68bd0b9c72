import { isGatewayError } from '../errors.ts';
import type { Subject } from './service.ts';

/** That somebody's data was asked for, and what came of it: what the audit trail keeps. Never a value. */
export interface Access {
  /** How and what, such as `read order.get`, `write appointment.book`, `file result.pdf`, `stream order.updates`. */
  readonly kind: string;
  /** Whose; null where nobody knows, as of an order that does not exist. */
  readonly userId: string | null;
  /** `ok`, `refused` (not the caller's, or without the scope), `not-found`, else the code of the error. */
  readonly outcome: string;
}

export type OnAccess = (access: Access) => void;

/** What concerns somebody and is done or shown without asking the service: from the event log, or a kept answer. */
export interface Kept {
  readonly as: 'read' | 'write' | 'stream';
  /** Named like a call to the service. */
  readonly operation: string;
  readonly about: Subject;
}

/** One call, as far as it must be accounted for. */
export interface Account {
  /** @param userId whose it turned out to be; left out where only the call says it */
  readonly tell: (outcome: string, userId?: string | null) => void;
  /** @returns null, which is what the caller gets */
  readonly tellMissing: () => null;
  /** Tells of what it throws. */
  readonly around: <Answer>(run: () => Promise<Answer>) => Promise<Answer>;
}

/** What tells whether a call is of anybody, and of whom. */
interface Accountable {
  readonly operation: string;
  readonly about?: Subject;
  readonly owner?: unknown;
}

/** For what is of nobody, such as the catalogue of lab tests. */
const noAccount: Account = { tell: () => {}, tellMissing: () => null, around: (run) => run() };

/**
 * Opens the account of each call. It is kept where callers ask, and not where answers come from: a read that shares
 * the answer of another is an access like any other.
 */
export function createAccounts(onAccess: OnAccess | undefined): (as: string, call: Accountable) => Account {
  return (as, { operation, about, owner }) => {
    if (onAccess === undefined || (owner === 'anyone' && about === undefined)) return noAccount;
    return openAccount(onAccess, `${as} ${operation}`, about?.userId ?? null);
  };
}

function openAccount(onAccess: OnAccess, kind: string, about: string | null): Account {
  const tell: Account['tell'] = (outcome, userId = about) => onAccess({ kind, userId, outcome });
  return {
    tell,
    tellMissing: () => {
      tell('not-found');
      return null;
    },
    around: async (run) => {
      try {
        return await run();
      } catch (error) {
        tell(isGatewayError(error) ? error.code : 'INTERNAL');
        throw error;
      }
    },
  };
}
