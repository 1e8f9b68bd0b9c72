import { z } from 'zod';
import type { Service } from '../../upstream/service.ts';
import { id, list, optionalId, text } from '../reading.ts';

export type LabAccount = z.infer<typeof labAccountShape>;

/** A kind of billing and the US states (two letters) it is allowed in. */
export interface AllowedBilling {
  readonly type: string;
  readonly states: readonly string[];
}

const allowedBilling = z
  .record(z.string(), list(z.string()))
  .catch({})
  .transform((byType): readonly AllowedBilling[] =>
    Object.entries(byType).map(([type, states]) => ({ type, states })),
  );

const labAccountShape = z
  .object({
    id,
    lab: text,
    org_id: optionalId,
    status: text,
    delegated_flow: text,
    provider_account_id: text,
    account_name: text,
    default_clinical_notes: text,
    business_units: list(z.string()),
    allowed_billing: allowedBilling,
  })
  .transform((raw) => ({
    id: raw.id,
    labSlug: raw.lab,
    orgId: raw.org_id,
    status: raw.status,
    delegatedFlow: raw.delegated_flow,
    providerAccountId: raw.provider_account_id,
    accountName: raw.account_name,
    defaultClinicalNotes: raw.default_clinical_notes,
    businessUnits: raw.business_units,
    allowedBilling: raw.allowed_billing,
  }));

/** The list may be left out where the team has no account of its own (public service). */
const answerShape = z.object({ data: list(labAccountShape) });
const readLabAccounts = (json: unknown) => answerShape.parse(json).data;

/** Both in lower case; null = any. */
export interface LabAccountFilter {
  readonly id: string | null;
  readonly status: string | null;
}

/** The team's accounts with labs (`GET /v3/lab_test/lab_account`); the service does not page them. */
export async function listLabAccounts(
  service: Service,
  filter: LabAccountFilter,
): Promise<readonly LabAccount[]> {
  const accounts = await service.readOne({
    operation: 'lab-account.list',
    method: 'GET',
    path: '/v3/lab_test/lab_account',
    query: { lab_account_id: filter.id, status: filter.status },
    reader: readLabAccounts,
    keeping: 'for-a-time',
    scope: 'read:catalogue',
    owner: 'anyone',
  });
  return (accounts ?? []).filter((account) => isAsked(account, filter));
}

/** Asked of the service too; one that ignores a filter shows more than was asked for. */
function isAsked(account: LabAccount, filter: LabAccountFilter): boolean {
  if (filter.id !== null && account.id.toLowerCase() !== filter.id) return false;
  return filter.status === null || account.status?.toLowerCase() === filter.status;
}

/**
 * Whether orders on an account must name the client's own physicians (specification, Lab account): true for
 * `order_delegated` and `fully_delegated`, null for a flow that is not known.
 */
export function isSuppliedWithOwnPhysicians(delegatedFlow: string | null): boolean | null {
  switch (delegatedFlow?.toLowerCase()) {
    case 'order_delegated':
    case 'fully_delegated':
      return true;
    case 'result_delegated':
    case 'not_delegated':
      return false;
    default:
      return null;
  }
}
