import type { Service } from '../../service/service.ts';
import { readAddress } from '../address/rest.ts';
import { day, integer, optional, record, text, where } from '../parse.ts';
import { toRequestBody } from '../request-body.ts';

export type Demographics = ReturnType<typeof readDemographics>;
export type MedicalProxy = NonNullable<Demographics['medicalProxy']>;

/** Who answers for a person under 18, as demographics and orders show it. */
export const readMedicalProxy = optional(
  record((raw) => ({
    firstName: text(raw.first_name),
    lastName: text(raw.last_name),
    phoneNumber: text(raw.phone_number),
    email: text(raw.email),
    address: readAddress(raw.address),
    householdIncome: integer(raw.household_income),
    householdSize: integer(raw.household_size),
  })),
);

const readDemographics = record((raw) => ({
  firstName: text(raw.first_name),
  lastName: text(raw.last_name),
  email: text(raw.email),
  phoneNumber: text(raw.phone_number),
  gender: text(raw.gender),
  dob: day(raw.dob),
  address: readAddress(raw.address),
  medicalProxy: readMedicalProxy(raw.medical_proxy),
  race: text(raw.race),
  ethnicity: text(raw.ethnicity),
  sexualOrientation: text(raw.sexual_orientation),
  genderIdentity: text(raw.gender_identity),
}));

/** The record as it was set: a person without any name was never sent. */
const readWritten = where(
  readDemographics,
  ({ firstName, lastName }) => firstName !== null || lastName !== null,
);

/**
 * The user's demographics, or null where none are set (`GET /v2/user/{user_id}/info/latest`).
 * @param scope what they are read for: to show them, or only to find out why a portal launch was refused
 */
export function getDemographics(
  service: Service,
  userId: string,
  scope: 'read:profile' | 'launch:portal' = 'read:profile',
): Promise<Demographics | null> {
  return service.readOne({
    operation: 'user.demographics',
    method: 'GET',
    path: `/v2/user/${encodeURIComponent(userId)}/info/latest`,
    reader: readDemographics,
    scope,
    owner: () => ({ userId }),
    about: { userId },
  });
}

/** Where a person lives. */
export interface NewHomeAddress {
  readonly firstLine: string;
  readonly secondLine: string | null;
  readonly city: string;
  /** Two letters. */
  readonly state: string;
  readonly zip: string;
  /** A two-letter code or an English name. */
  readonly country: string;
  readonly accessNotes: string | null;
}

/** Who answers for a person under 18. */
export interface NewMedicalProxy {
  readonly firstName: string;
  readonly lastName: string;
  readonly phoneNumber: string;
  readonly email: string | null;
  readonly address: NewHomeAddress;
  readonly householdIncome: number | null;
  readonly householdSize: number | null;
}

/** The whole record; null = not set. */
export interface NewDemographics {
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
  readonly phoneNumber: string;
  readonly gender: string;
  /** `YYYY-MM-DD`. */
  readonly dob: string;
  readonly address: NewHomeAddress;
  readonly medicalProxy: NewMedicalProxy | null;
  readonly race: string | null;
  readonly ethnicity: string | null;
  readonly sexualOrientation: string | null;
  readonly genderIdentity: string | null;
}

/**
 * Sets the whole record and gives back what the service then has; null when there is no such user
 * (`PATCH /v2/user/{user_id}/info`, a full upsert: what is left out is gone).
 */
export function updateDemographics(
  service: Service,
  userId: string,
  demographics: NewDemographics,
): Promise<Demographics | null> {
  return service.write({
    operation: 'user.update-demographics',
    method: 'PATCH',
    path: `/v2/user/${encodeURIComponent(userId)}/info`,
    body: toRequestBody(demographics),
    reader: readWritten,
    owner: 'anyone',
    scope: 'write:profile',
    about: { userId },
  });
}
