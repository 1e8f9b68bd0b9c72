import { toRequestBody } from '../../request-body.ts';
import type { NewMedicalProxy } from '../../user/rest-demographics.ts';

/** The person tested. `dob` is a day, `YYYY-MM-DD`. */
interface PatientRequest {
  readonly firstName: string;
  readonly lastName: string;
  readonly dob: string;
  readonly gender: string;
  readonly phoneNumber: string;
  readonly email: string;
  /** Who answers for a patient under 18. */
  readonly medicalProxy: NewMedicalProxy | null;
  readonly race: string | null;
  readonly ethnicity: string | null;
  readonly sexualOrientation: string | null;
  readonly genderIdentity: string | null;
  readonly householdIncome: number | null;
  readonly householdSize: number | null;
}

interface AddressRequest {
  readonly receiverName: string | null;
  readonly firstLine: string;
  readonly secondLine: string | null;
  readonly city: string;
  readonly state: string;
  readonly zip: string;
  readonly country: string;
  readonly phoneNumber: string | null;
  readonly accessNotes: string | null;
}

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

/** What a patient brings along, whichever way the order comes to be. */
export interface PatientPart {
  readonly patientDetails: PatientRequest;
  readonly patientAddress: AddressRequest;
  readonly physician: PhysicianRequest | null;
}

/** What is to be tested. */
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

export interface OrderToImport extends PatientPart {
  readonly userId: string;
  readonly orderSet: OrderSetRequest;
  readonly collectionMethod: string;
  readonly labAccountId: string | null;
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
  readonly shipping: {
    readonly receiverName: string;
    readonly firstLine: string;
    readonly secondLine: string | null;
    readonly city: string;
    readonly state: string;
    readonly zip: string;
    readonly country: string;
    readonly phoneNumber: string;
  };
  readonly passthrough: string | null;
}

/** The body of `POST /v3/order`. */
export function toOrderBody({ consents, ...order }: NewOrder, passthrough: string): object {
  const { orderSet, aoeAnswers } = order;
  const fields = { ...order, orderSet: toOrderSet(orderSet), aoeAnswers: orNull(aoeAnswers), passthrough };
  return { ...toRequestBody(fields), ...toConsents(consents) };
}

/** The body of `POST /v3/order/import`. */
export function toImportBody(order: OrderToImport): object {
  return toRequestBody({ ...order, orderSet: toOrderSet(order.orderSet) });
}

/** The body of `POST /v3/order/testkit`. */
export function toTestkitBody({ shipping, ...order }: NewTestkitOrder, passthrough: string): object {
  return toRequestBody({ ...order, shippingDetails: shipping, passthrough });
}

/** The body of `POST /v3/order/testkit/register`. */
export function toRegistrationBody({ consents, ...registration }: Registration): object {
  return { ...toRequestBody(registration), ...toConsents(consents) };
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
