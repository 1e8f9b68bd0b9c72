import type { Service } from '../../../service/service.ts';
import { type Address, withCountryCode } from '../../address/rest.ts';
import { isSuppliedWithOwnPhysicians, listLabAccounts } from '../../lab-account/rest.ts';
import { getLabTest, listLabs } from '../../lab-test/rest.ts';
import { listOrderSetMarkers } from '../../marker/rest.ts';
import { toRequestBody } from '../../request-body.ts';
import type { Given, Household, NewDemographics, NewHomeAddress } from '../../user/rest-demographics.ts';
import { type OrderAnswer, ownerOfOrder, readOrderAnswer, writePassthrough } from '../read/rest-order.ts';
import { writeUnderKey } from './rest-idempotency.ts';

type AddressRequest = NewHomeAddress & Readonly<Pick<Address, 'receiverName' | 'phoneNumber'>>;

interface PhysicianRequest {
  readonly firstName: string;
  readonly lastName: string;
  readonly npi: string;
  readonly email: string | null;
  readonly licensedStates: readonly string[] | null;
}

interface ConsentRequest {
  /** Such as `hipaa-authorization`. */
  readonly consentType: string;
  readonly version: string | null;
  readonly timeOfConsent: Date | null;
}

/** The patient's part of every order, import and registration. */
export interface PatientPart {
  readonly patientDetails: Omit<NewDemographics, 'address'> & Household;
  readonly patientAddress: AddressRequest;
  readonly physician: PhysicianRequest | null;
}

/** The lab tests and markers of an order. */
export interface OrderSetRequest {
  readonly labTestIds: readonly string[];
  readonly addOn: {
    readonly markerIds: readonly number[];
    readonly providerIds: readonly string[];
  } | null;
}

export interface NewOrder extends PatientPart {
  readonly userId: string;
  readonly orderSet: OrderSetRequest;
  readonly collectionMethod: string | null;
  readonly labAccountId: string | null;
  readonly clinicalNotes: string | null;
  readonly consents: readonly ConsentRequest[];
  readonly aoeAnswers: readonly {
    readonly markerId: number;
    readonly questionId: number;
    readonly answer: string;
  }[];
  /** A day, `YYYY-MM-DD`. */
  readonly activateBy: string | null;
  readonly updateReason: string | null;
  readonly priority: boolean | null;
  readonly billingType: string | null;
  readonly icdCodes: readonly string[] | null;
  readonly passthrough: string | null;
}

export interface OrderToImport extends PatientPart, Pick<NewOrder, 'userId' | 'orderSet' | 'labAccountId'> {
  readonly collectionMethod: string;
  readonly billingType: string;
  readonly sampleId: string;
}

export interface Registration extends PatientPart {
  /** Who takes the kit over; null leaves it with the user it was ordered for. */
  readonly userId: string | null;
  readonly sampleId: string;
  readonly consents: readonly ConsentRequest[];
}

/** An order of a testkit that is registered later. */
export interface NewTestkitOrder {
  readonly userId: string;
  readonly labTestId: string;
  /** Null leaves the choice to the service. */
  readonly labAccountId: string | null;
  readonly shipping: Omit<NewHomeAddress, 'accessNotes'> & Given<Address, 'receiverName' | 'phoneNumber'>;
  readonly passthrough: string | null;
}

/** The body of `POST /v3/order`. */
function toOrderBody({ consents, ...order }: NewOrder, passthrough: string): object {
  const { orderSet, aoeAnswers } = order;
  const fields = { ...order, orderSet: toOrderSet(orderSet), aoeAnswers: orNull(aoeAnswers), passthrough };
  return { ...toRequestBody(withCode(fields)), ...toConsents(consents) };
}

function toImportBody(order: OrderToImport): object {
  return toRequestBody(withCode({ ...order, orderSet: toOrderSet(order.orderSet) }));
}

function toTestkitBody({ shipping, ...order }: NewTestkitOrder, passthrough: string): object {
  return toRequestBody({ ...order, shippingDetails: withCountryCode(shipping), passthrough });
}

/** The body of `POST /v3/order/testkit/register`. */
function toRegistrationBody({ consents, ...registration }: Registration): object {
  return { ...toRequestBody(withCode(registration)), ...toConsents(consents) };
}

/** Only in the body: a repeated call is recognised by its input as it was given. */
function withCode<Part extends Pick<PatientPart, 'patientAddress'>>(part: Part): Part {
  return { ...part, patientAddress: withCountryCode(part.patientAddress) };
}

function toOrderSet({ labTestIds, addOn }: OrderSetRequest) {
  return {
    labTestIds: orNull(labTestIds),
    addOn: addOn && { markerIds: orNull(addOn.markerIds), providerIds: orNull(addOn.providerIds) },
  };
}

/** The service wants the names of a consent in camelCase, inside a body in snake_case. */
function toConsents(consents: readonly ConsentRequest[]) {
  if (consents.length === 0) return {};
  return {
    consents: consents.map(({ consentType, version, timeOfConsent }) => ({
      consentType,
      version: version ?? undefined,
      timeOfConsent: timeOfConsent?.toISOString(),
    })),
  };
}

function orNull<Item>(items: readonly Item[]): readonly Item[] | null {
  return items.length > 0 ? items : null;
}

/** The answer is stored as sent, for repetitions, once it is known to be readable. */
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
 * service's idempotency key.
 * @throws GatewayError IDEMPOTENCY_UNSETTLED while the service still works on the same key
 */
export function createOrder(service: Service, order: NewOrder, reference: string): Promise<unknown> {
  return writeUnderKey(service, reference, {
    ...answerAsSent,
    operation: 'order.create',
    path: '/v3/order',
    body: toOrderBody(order, writePassthrough(reference, order.passthrough)),
    about: { userId: order.userId },
  });
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

export interface AccountQuestion {
  /** The account that was named; null leaves the choice to the service. */
  readonly labAccountId: string | null;
  /** Finds the slug of the order's lab, from whose accounts the service chooses; null if the lab is not known. */
  readonly findLab: () => Promise<string | null>;
  /** Whether accounts that are not open yet will do, as they do for an import (specification, Endpoints). */
  readonly takesPending: boolean;
}

/**
 * Whether an order needs a physician of the client's own (`GET /v3/lab_test/lab_account`): the named account
 * is delegated, or, where the service chooses, every account of the lab that it could choose.
 * @throws GatewayError UPSTREAM_* when the accounts cannot be read
 */
export async function needsPhysician(service: Service, question: AccountQuestion): Promise<boolean> {
  const { labAccountId, findLab, takesPending } = question;
  const lab = labAccountId === null ? await findLab().catch(() => null) : null;
  const accounts = await listLabAccounts(service, { id: labAccountId, status: null }, 'write:orders');
  // Accounts that take no orders do not count: a physician would not help.
  const open = accounts
    .filter(({ status }) => takesOrders(status, takesPending))
    .filter(({ labSlug }) => lab === null || labSlug === null || labSlug === lab);
  return (
    open.length > 0 && open.every(({ delegatedFlow }) => isSuppliedWithOwnPhysicians(delegatedFlow) === true)
  );
}

function takesOrders(status: string | null, takesPending: boolean): boolean {
  const state = status?.toLowerCase();
  return state === 'active' || (takesPending && state === 'pending');
}

/** The slug of the lab of the first lab test or marker; null if the service does not say. */
export async function findLabOf(
  service: Service,
  { labTestIds: [labTestId], addOn }: OrderSetRequest,
): Promise<string | null> {
  const scope = 'write:orders';
  if (labTestId !== undefined) return (await getLabTest(service, labTestId, { scope }))?.lab?.slug ?? null;
  if (addOn === null) return null;
  const { markerIds, providerIds } = addOn;
  const set = { labTestIds: [], addOn: markerIds.length > 0 ? { markerIds } : { providerIds } };
  const [{ rows }, labs] = await Promise.all([
    listOrderSetMarkers(service, set, { page: 1, size: 1 }, scope),
    listLabs(service, scope),
  ]);
  return labs.find(({ id }) => id === String(rows[0]?.labId))?.slug ?? null;
}
