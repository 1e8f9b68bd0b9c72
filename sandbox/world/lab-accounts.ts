import { seededUuid } from './ids.ts';

/** One of the team's accounts with a lab (public service: ClientFacingLabAccount). */
export interface LabAccount {
  readonly id: string;
  readonly lab: string;
  readonly org_id: string | null;
  readonly status: 'active' | 'pending' | 'suspended' | 'ready_to_launch';
  readonly delegated_flow: 'order_delegated' | 'result_delegated' | 'fully_delegated' | 'not_delegated';
  readonly provider_account_id: string;
  readonly account_name: string | null;
  readonly default_clinical_notes: string | null;
  readonly business_units: readonly string[] | null;
  readonly allowed_billing: Readonly<Record<string, readonly string[]>>;
  readonly team_id_allowlist: readonly string[];
}

const plans = [
  {
    lab: 'example-diagnostics',
    status: 'active',
    delegated_flow: 'not_delegated',
    provider_account_id: '00012345',
    account_name: 'Example Diagnostics, main',
    default_clinical_notes: null,
    business_units: null,
    allowed_billing: { client_bill: ['AZ', 'CO', 'MA', 'TX'] },
  },
  {
    lab: 'specimen-labs',
    status: 'active',
    delegated_flow: 'order_delegated',
    provider_account_id: 'SP-778',
    account_name: 'Specimen Labs, own physicians',
    default_clinical_notes: 'Call the office with critical results.',
    business_units: ['West'],
    allowed_billing: { client_bill: ['AZ', 'TX'], patient_bill: ['AZ'] },
  },
  {
    lab: 'example-diagnostics',
    status: 'pending',
    delegated_flow: 'fully_delegated',
    provider_account_id: '00067890',
    account_name: null,
    default_clinical_notes: null,
    business_units: [],
    allowed_billing: {},
  },
] as const;

/** The team's lab accounts; fixed for one seed. */
export function createLabAccounts(seed: number): readonly LabAccount[] {
  return plans.map((plan, ordinal) => ({
    ...plan,
    id: seededUuid(seed, 'lab-account', ordinal),
    org_id: seededUuid(seed, 'org', 0),
    team_id_allowlist: [seededUuid(seed, 'team', 0)],
  }));
}
