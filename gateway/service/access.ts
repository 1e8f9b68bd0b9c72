import type { AccessKind, OnAccess, Owner } from '../auth/rights.ts';
import { isGatewayError } from '../errors.ts';

/** What tells whether a call is of anybody, and of whom. */
interface Accountable {
  readonly operation: string;
  readonly about?: Owner;
  readonly owner?: unknown;
}

/** One call, as far as it must be accounted for. A class, so that its methods are shared: each read has one. */
export class Account {
  readonly #onAccess: OnAccess | undefined;
  readonly #kind: AccessKind;
  readonly #about: string | null;

  constructor(onAccess: OnAccess | undefined, kind: AccessKind, about: string | null) {
    this.#onAccess = onAccess;
    this.#kind = kind;
    this.#about = about;
  }

  /** @param userId whose it turned out to be; left out where only the call says it */
  tell(outcome: string, userId: string | null = this.#about): void {
    this.#onAccess?.({ kind: this.#kind, userId, outcome });
  }

  /** @returns null, which is what the caller gets */
  tellMissing(): null {
    this.tell('not-found');
    return null;
  }

  /** @returns what was thrown, to be thrown on */
  tellFailed(error: unknown): unknown {
    this.tell(isGatewayError(error) ? error.code : 'INTERNAL');
    return error;
  }
}

/** For what is of nobody, such as the catalogue of lab tests. */
const noAccount = new Account(undefined, 'read nothing', null);

/**
 * Opens the account of a call. It is kept where callers ask, and not where answers come from: a read that shares
 * the answer of another is an access like any other.
 */
export function openAccount(
  onAccess: OnAccess | undefined,
  as: 'read' | 'write' | 'file',
  { operation, about, owner }: Accountable,
): Account {
  if (onAccess === undefined || (owner === 'anyone' && about === undefined)) return noAccount;
  return new Account(onAccess, `${as} ${operation}`, about?.userId ?? null);
}
