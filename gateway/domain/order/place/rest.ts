import { GatewayError, isGatewayError } from '../../../errors.ts';
import type { Service } from '../../../service/service.ts';
import { isSuppliedWithOwnPhysicians } from '../../lab-account/rest.ts';
import { readLabTest } from '../../lab-test/rest.ts';
import { id, pageReader, record, required, text } from '../../parse.ts';
import { type OrderAnswer, ownerOfOrder, readOrderAnswer, writePassthrough } from '../read/rest-order.ts';
import {
  type NewOrder,
  type NewTestkitOrder,
  type OrderToImport,
  type Registration,
  toImportBody,
  toOrderBody,
  toRegistrationBody,
  toTestkitBody,
} from './rest-request.ts';

/** The answer as sent is what gets stored for repetitions, once it is known to be readable. */
const answerAsSent = {
  method: 'POST',
  reader: (json: unknown): unknown => {
    readOrderAnswer(json);
    return json;
  },
  owner: (json: unknown) => ownerOfOrder(readOrderAnswer(json).order),
  scope: 'write:orders',
} as const;

/**
 * Orders an unregistered testkit (`POST /v3/order/testkit`); resolves to the service's answer as sent. Sent once: the
 * service has no idempotency here, so a second POST would ship a second kit.
 * @param reference names the attempt, see `writePassthrough`
 */
export function createTestkitOrder(
  service: Service,
  order: NewTestkitOrder,
  reference: string,
): Promise<unknown> {
  return service.write({
    ...answerAsSent,
    operation: 'order.create-testkit',
    path: '/v3/order/testkit',
    body: toTestkitBody(order, writePassthrough(reference, order.passthrough)),
    about: { userId: order.userId },
  });
}

/**
 * Places an order (`POST /v3/order`); resolves to the service's answer as sent. The attempt's reference is also the
 * service's idempotency key. Only successes are to be replayed, or a passing fault would stay for a day.
 * @throws GatewayError IDEMPOTENCY_UNSETTLED while the service is still at work on the same key
 */
export async function createOrder(service: Service, order: NewOrder, reference: string): Promise<unknown> {
  try {
    return await service.write({
      ...answerAsSent,
      operation: 'order.create',
      path: '/v3/order',
      headers: { 'x-idempotency-key': reference, 'x-idempotency-error': 'no-cache' },
      body: toOrderBody(order, writePassthrough(reference, order.passthrough)),
      about: { userId: order.userId },
    });
  } catch (error) {
    if (!isGatewayError(error, 'UPSTREAM_REJECTED') || error.status !== 409) throw error;
    throw new GatewayError(
      'IDEMPOTENCY_UNSETTLED',
      'The service is still at work on an order with this idempotencyKey. Repeat the same call later.',
      { retryAfterMs: 5000, mayBeDone: true },
    );
  }
}

/** Imports an order (`POST /v3/order/import`); resolves to the service's answer as sent. */
export function importOrder(service: Service, order: OrderToImport): Promise<unknown> {
  return service.write({
    ...answerAsSent,
    operation: 'order.import',
    path: '/v3/order/import',
    body: toImportBody(order),
    about: { userId: order.userId },
  });
}

/** Registers a kit (`POST /v3/order/testkit/register`); null when there is no such kit or user. */
export function registerTestkit(service: Service, registration: Registration): Promise<OrderAnswer | null> {
  return service.write({
    operation: 'order.register-testkit',
    method: 'POST',
    path: '/v3/order/testkit/register',
    body: toRegistrationBody(registration),
    reader: readOrderAnswer,
    owner: ({ order }) => ownerOfOrder(order),
    scope: 'write:orders',
    about: { userId: registration.userId },
  });
}

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
  /** A lab test of the order: the service chooses from the accounts of its lab. */
  readonly labTestId: string | null;
  /** Whether accounts that are not open yet will do, as they do for an import (specification, Endpoints). */
  readonly takesPending: boolean;
}

/**
 * Whether an order needs a physician of the client's own (`GET /v3/lab_test/lab_account`): the named account
 * is delegated, or, where the service chooses, every account of the lab that it could choose.
 * @throws GatewayError UPSTREAM_* when the accounts cannot be read
 */
export async function needsPhysician(service: Service, question: AccountQuestion): Promise<boolean> {
  const { labAccountId, labTestId, takesPending } = question;
  const lab = labAccountId === null && labTestId !== null ? await findLab(service, labTestId) : null;
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
    // A physician is of no use on an account that takes no orders.
    .filter(({ status }) => takesOrders(status, takesPending))
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

/** The slug of the lab that does the test; null where the service does not say. */
async function findLab(service: Service, labTestId: string): Promise<string | null> {
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
