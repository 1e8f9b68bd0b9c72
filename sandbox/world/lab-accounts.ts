import { seededUuid } from './ids.ts';

/** A team's account with a lab, as far as ordering asks for it (public service: ClientFacingLabAccount). */
export interface LabAccount {
  readonly id: string;
  readonly labSlug: string;
  readonly status: 'active' | 'pending' | 'suspended' | 'ready_to_launch';
  readonly delegatedFlow: 'not_delegated' | 'order_delegated' | 'result_delegated' | 'fully_delegated';
  readonly defaultClinicalNotes: string | null;
}

/** The team's lab accounts: one that anyone orders on, one with the client's own physicians, one to come. */
export function labAccountsOf(seed: number): readonly LabAccount[] {
  const rows = [
    ['example-diagnostics', 'active', 'not_delegated', null],
    ['example-diagnostics', 'active', 'order_delegated', 'Samples of this account travel cooled.'],
    ['specimen-labs', 'pending', 'not_delegated', null],
  ] as const;
  return rows.map(([labSlug, status, delegatedFlow, defaultClinicalNotes], ordinal) => ({
    id: seededUuid(seed, 'lab-account', ordinal),
    labSlug,
    status,
    delegatedFlow,
    defaultClinicalNotes,
  }));
}
