import { type NewMedicalProxy, writeMedicalProxy } from '../../user/rest-demographics.ts';

/** What requests about orders say, and how the service spells it. */

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

/** The body of `POST /v3/order`. */
export function toOrderBody(order: NewOrder, passthrough: string): object {
  return compact({
    user_id: order.userId,
    order_set: toOrderSet(order.orderSet),
    collection_method: order.collectionMethod,
    ...toPatientPart(order),
    lab_account_id: order.labAccountId,
    clinical_notes: order.clinicalNotes,
    consents: toConsents(order.consents),
    aoe_answers: order.aoeAnswers.length > 0 ? order.aoeAnswers.map(toAnswer) : null,
    activate_by: order.activateBy,
    update_reason: order.updateReason,
    priority: order.priority,
    billing_type: order.billingType,
    icd_codes: order.icdCodes,
    passthrough,
  });
}

/** The body of `POST /v3/order/import`. */
export function toImportBody(order: OrderToImport): object {
  return compact({
    user_id: order.userId,
    order_set: toOrderSet(order.orderSet),
    collection_method: order.collectionMethod,
    ...toPatientPart(order),
    lab_account_id: order.labAccountId,
    billing_type: order.billingType,
    sample_id: order.sampleId,
  });
}

/** The body of `POST /v3/order/testkit/register`. */
export function toRegistrationBody(registration: Registration): object {
  return compact({
    user_id: registration.userId,
    sample_id: registration.sampleId,
    ...toPatientPart(registration),
    consents: toConsents(registration.consents),
  });
}

function toOrderSet({ labTestIds, addOn }: OrderSetRequest) {
  return compact({
    lab_test_ids: orNothing(labTestIds),
    add_on:
      addOn &&
      compact({ marker_ids: orNothing(addOn.markerIds), provider_ids: orNothing(addOn.providerIds) }),
  });
}

function toPatientPart({ patientDetails, patientAddress, physician }: PatientPart) {
  return {
    patient_details: compact({
      first_name: patientDetails.firstName,
      last_name: patientDetails.lastName,
      dob: patientDetails.dob,
      gender: patientDetails.gender,
      phone_number: patientDetails.phoneNumber,
      email: patientDetails.email,
      medical_proxy: patientDetails.medicalProxy && writeMedicalProxy(patientDetails.medicalProxy),
      race: patientDetails.race,
      ethnicity: patientDetails.ethnicity,
      sexual_orientation: patientDetails.sexualOrientation,
      gender_identity: patientDetails.genderIdentity,
      household_income: patientDetails.householdIncome,
      household_size: patientDetails.householdSize,
    }),
    patient_address: compact({
      receiver_name: patientAddress.receiverName,
      first_line: patientAddress.firstLine,
      second_line: patientAddress.secondLine,
      city: patientAddress.city,
      state: patientAddress.state,
      zip: patientAddress.zip,
      country: patientAddress.country,
      phone_number: patientAddress.phoneNumber,
      access_notes: patientAddress.accessNotes,
    }),
    physician: physician && toPhysician(physician),
  };
}

function toPhysician({ firstName, lastName, npi, email, licensedStates }: PhysicianRequest) {
  return compact({ first_name: firstName, last_name: lastName, npi, email, licensed_states: licensedStates });
}

/** Their names stay in camelCase: the service wants them so, inside a body in snake_case. */
function toConsents(consents: readonly ConsentRequest[]): readonly object[] | null {
  return orNothing(
    consents.map(({ consentType, version, timeOfConsent }) =>
      compact({ consentType, version, timeOfConsent: timeOfConsent?.toISOString() }),
    ),
  );
}

function toAnswer({ markerId, questionId, answer }: NewOrder['aoeAnswers'][number]) {
  return { marker_id: markerId, question_id: questionId, answer };
}

function orNothing<Item>(items: readonly Item[]): readonly Item[] | null {
  return items.length > 0 ? items : null;
}

/** What is null was not given, and is not sent. */
function compact(fields: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  );
}
