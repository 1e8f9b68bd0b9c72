import type { Service } from '../../service/service.ts';
import { entries, id, list, record, required, text, texts } from '../parse.ts';

export type LabAccount = ReturnType<typeof readLabAccount>;

/** A kind of billing and the US states (two letters) it is allowed in. */
export interface AllowedBilling {
  readonly type: string;
  readonly states: readonly string[];
}

const readBilling = entries(texts);

export const readLabAccount = record((raw) => ({
  id: required(raw, 'id', id),
  labSlug: text(raw.lab),
  orgId: id(raw.org_id),
  status: text(raw.status),
  delegatedFlow: text(raw.delegated_flow),
  providerAccountId: text(raw.provider_account_id),
  accountName: text(raw.account_name),
  defaultClinicalNotes: text(raw.default_clinical_notes),
  businessUnits: texts(raw.business_units),
  allowedBilling: readBilling(raw.allowed_billing).map(
    ([type, states]): AllowedBilling => ({ type, states }),
  ),
}));

const readLabAccountList = list(readLabAccount);

/** The list may be left out where the team has no account of its own (public service). */
const readLabAccounts = record((raw) => readLabAccountList(raw.data));

/** The id in lower case, the status as it is sent; null = any. */
export interface LabAccountFilter {
  readonly id: string | null;
  readonly status: string | null;
}

/** The scope that a read of the catalogue needs: `write:orders` when it only finds out why an order was refused. */
export type CatalogueScope = 'read:catalogue' | 'write:orders';

/** The team's accounts with labs (`GET /v3/lab_test/lab_account`); the service does not page them. */
export async function listLabAccounts(
  service: Service,
  filter: LabAccountFilter,
  scope: CatalogueScope = 'read:catalogue',
): Promise<readonly LabAccount[]> {
  const accounts = await service.readOne({
    operation: 'lab-account.list',
    method: 'GET',
    path: '/v3/lab_test/lab_account',
    query: { lab_account_id: filter.id, status: filter.status },
    reader: readLabAccounts,
    cachedUntil: 'ttl',
    scope,
    owner: 'anyone',
  });
  return (accounts ?? []).filter((account) => isAsked(account, filter));
}

/** The filter is sent to the service too. A service that ignores it returns more accounts, which are left out here. */
function isAsked(account: LabAccount, filter: LabAccountFilter): boolean {
  if (filter.id !== null && account.id.toLowerCase() !== filter.id) return false;
  return filter.status === null || account.status?.toLowerCase() === filter.status.toLowerCase();
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
