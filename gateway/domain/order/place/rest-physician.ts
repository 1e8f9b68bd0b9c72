import type { Service } from '../../../service/service.ts';
import { isSuppliedWithOwnPhysicians } from '../../lab-account/rest.ts';
import { readLabTest } from '../../lab-test/rest.ts';
import { id, pageReader, record, required, text } from '../../parse.ts';

const readAccounts = pageReader(
  'data',
  record((raw) => ({
    id: required(raw, 'id', id),
    lab: text(raw.lab),
    status: text(raw.status),
    delegated_flow: text(raw.delegated_flow),
  })),
);

export interface AccountQuestion {
  /** The account that was named; null leaves the choice to the service. */
  readonly labAccountId: string | null;
  /** A lab test of the order: it tells whose accounts the service chooses from. */
  readonly labTestId: string | null;
  /** Whether accounts that are not open yet will do, as they do for an import (specification, Endpoints). */
  readonly takesPending: boolean;
}

/**
 * Whether an order needs a physician of the client's own (`GET /v3/lab_test/lab_account`): the named account
 * is delegated, or, where the service chooses, every account of the lab that it could choose.
 * @throws GatewayError UPSTREAM_* when the accounts cannot be read
 */
export async function needsPhysician(service: Service, asked: AccountQuestion): Promise<boolean> {
  const { labAccountId } = asked;
  const lab = labAccountId === null ? await findLab(service, asked.labTestId) : null;
  const { rows } = await service.readPage({
    operation: 'lab-account.list',
    method: 'GET',
    path: '/v3/lab_test/lab_account',
    query: { lab_account_id: labAccountId },
    reader: readAccounts,
    scope: 'write:orders',
    owner: 'anyone',
  });
  const accounts = rows
    .filter((account) => account !== null)
    // A physician helps nobody onto an account that takes no orders.
    .filter(({ status }) => takesOrders(status, asked.takesPending))
    .filter((account) =>
      labAccountId === null ? lab === null || account.lab === lab : account.id.toLowerCase() === labAccountId,
    );
  return (
    accounts.length > 0 &&
    accounts.every((account) => isSuppliedWithOwnPhysicians(account.delegated_flow) === true)
  );
}

function takesOrders(status: string | null, takesPending: boolean): boolean {
  const state = status?.toLowerCase();
  return state === 'active' || (takesPending && state === 'pending');
}

/** The slug of the lab that does the test, or null where that is not known. */
async function findLab(service: Service, labTestId: string | null): Promise<string | null> {
  if (labTestId === null) return null;
  const labTest = await service.readOne({
    operation: 'lab-test.get',
    method: 'GET',
    path: `/v3/lab_tests/${encodeURIComponent(labTestId)}`,
    reader: readLabTest,
    scope: 'write:orders',
    owner: 'anyone',
  });
  return labTest?.lab?.slug ?? null;
}
