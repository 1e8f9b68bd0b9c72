import { z } from 'zod';
import type { Service } from '../../upstream/service.ts';
import { day, integer, text } from '../reading.ts';

export type Demographics = z.infer<typeof demographicsShape>;
export type MedicalProxy = NonNullable<Demographics['medicalProxy']>;

const addressShape = z
  .object({
    first_line: text,
    second_line: text,
    city: text,
    state: text,
    zip: text,
    country: text,
    access_notes: text,
  })
  .transform((raw) => ({
    receiverName: null,
    firstLine: raw.first_line,
    secondLine: raw.second_line,
    city: raw.city,
    state: raw.state,
    zip: raw.zip,
    country: raw.country,
    phoneNumber: null,
    accessNotes: raw.access_notes,
  }))
  .nullable()
  .catch(null);

/** Who answers for a person under 18, as demographics and orders show it. */
export const medicalProxyShape = z
  .object({
    first_name: text,
    last_name: text,
    phone_number: text,
    email: text,
    address: addressShape,
    household_income: integer,
    household_size: integer,
  })
  .transform((raw) => ({
    firstName: raw.first_name,
    lastName: raw.last_name,
    phoneNumber: raw.phone_number,
    email: raw.email,
    address: raw.address,
    householdIncome: raw.household_income,
    householdSize: raw.household_size,
  }))
  .nullable()
  .catch(null);

const demographicsShape = z
  .object({
    first_name: text,
    last_name: text,
    email: text,
    phone_number: text,
    gender: text,
    dob: day,
    address: addressShape,
    medical_proxy: medicalProxyShape,
    race: text,
    ethnicity: text,
    sexual_orientation: text,
    gender_identity: text,
  })
  .transform((raw) => ({
    firstName: raw.first_name,
    lastName: raw.last_name,
    email: raw.email,
    phoneNumber: raw.phone_number,
    gender: raw.gender,
    dob: raw.dob,
    address: raw.address,
    medicalProxy: raw.medical_proxy,
    race: raw.race,
    ethnicity: raw.ethnicity,
    sexualOrientation: raw.sexual_orientation,
    genderIdentity: raw.gender_identity,
  }));

/**
 * The user's demographics, or null where none are set (`GET /v2/user/{user_id}/info/latest`).
 * @param scope what they are read for: to show them, or only to tell why a portal launch was refused
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
    reader: (json) => demographicsShape.parse(json),
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
    body: {
      first_name: demographics.firstName,
      last_name: demographics.lastName,
      email: demographics.email,
      phone_number: demographics.phoneNumber,
      gender: demographics.gender,
      dob: demographics.dob,
      address: writeAddress(demographics.address),
      ...(demographics.medicalProxy && { medical_proxy: writeMedicalProxy(demographics.medicalProxy) }),
      ...leaveOutNulls({
        race: demographics.race,
        ethnicity: demographics.ethnicity,
        sexual_orientation: demographics.sexualOrientation,
        gender_identity: demographics.genderIdentity,
      }),
    },
    reader: (json) => demographicsShape.parse(json),
    scope: 'write:profile',
    about: { userId },
  });
}

function writeAddress(address: NewHomeAddress) {
  return {
    first_line: address.firstLine,
    city: address.city,
    state: address.state,
    zip: address.zip,
    country: address.country,
    ...leaveOutNulls({ second_line: address.secondLine, access_notes: address.accessNotes }),
  };
}

/** A medical proxy in the spelling of the service (public service: GuarantorDetails). */
export function writeMedicalProxy(proxy: NewMedicalProxy) {
  return {
    first_name: proxy.firstName,
    last_name: proxy.lastName,
    phone_number: proxy.phoneNumber,
    address: writeAddress(proxy.address),
    ...leaveOutNulls({
      email: proxy.email,
      household_income: proxy.householdIncome,
      household_size: proxy.householdSize,
    }),
  };
}

function leaveOutNulls(fields: Readonly<Record<string, string | number | null>>) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
