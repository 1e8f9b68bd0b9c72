import type { AccessKind, OnAccess, Owner } from '../auth/rights.ts';
import { codeOf } from '../errors.ts';

/** The parts of a call that say whether it is about somebody, and about whom. */
interface OwnedCall {
  readonly operation: string;
  readonly about?: Owner;
  readonly owner?: unknown;
}

/** Reports the outcome of one call to the audit trail. A class, so that its methods are shared: each read has one. */
export class AuditedCall {
  readonly #onAccess: OnAccess | undefined;
  readonly #kind: AccessKind;
  readonly #about: string | null;

  constructor(onAccess: OnAccess | undefined, kind: AccessKind, about: string | null) {
    this.#onAccess = onAccess;
    this.#kind = kind;
    this.#about = about;
  }

  /** @param userId the owner in the answer; left out where only the call names one */
  report(outcome: string, userId: string | null = this.#about): void {
    this.#onAccess?.({ kind: this.#kind, userId, outcome });
  }

  /** @returns null, the answer of the call */
  reportMissing(): null {
    this.report('not-found');
    return null;
  }

  /** @returns the error, to be thrown on */
  reportFailure(error: unknown): unknown {
    this.report(codeOf(error));
    return error;
  }
}

/** For calls without an owner, such as the catalogue of lab tests. */
const notAudited = new AuditedCall(undefined, 'read nothing', null);

/** Called for each caller's read and not for each call to the service: a read that shares an answer is an access too. */
export function auditCall(
  onAccess: OnAccess | undefined,
  as: 'read' | 'write' | 'file',
  { operation, about, owner }: OwnedCall,
): AuditedCall {
  if (onAccess === undefined || (owner === 'anyone' && about === undefined)) return notAudited;
  return new AuditedCall(onAccess, `${as} ${operation}`, about?.userId ?? null);
}
