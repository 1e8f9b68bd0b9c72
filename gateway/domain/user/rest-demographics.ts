import type { Service } from '../../service/service.ts';
import { type Address, readAddress } from '../address/rest.ts';
import { day, integer, optional, record, text, where } from '../parse.ts';
import { toRequestBody } from '../request-body.ts';

export type Person = ReturnType<typeof readPerson>;
export type Demographics = ReturnType<typeof readDemographics>;
export type MedicalProxy = NonNullable<Demographics['medicalProxy']>;
export type Household = Readonly<Pick<MedicalProxy, 'householdIncome' | 'householdSize'>>;
/** How people describe themselves, in the service's spelling; null = not set. */
export type SelfDescription = Readonly<
  Pick<Demographics, 'race' | 'ethnicity' | 'sexualOrientation' | 'genderIdentity'>
>;

/** The medical proxy of a person under 18. */
const readMedicalProxy = optional(
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

/** A person, in demographics and in orders. */
export const readPerson = record((raw) => ({
  firstName: text(raw.first_name),
  lastName: text(raw.last_name),
  email: text(raw.email),
  phoneNumber: text(raw.phone_number),
  gender: text(raw.gender),
  dob: day(raw.dob),
  medicalProxy: readMedicalProxy(raw.medical_proxy),
  race: text(raw.race),
  ethnicity: text(raw.ethnicity),
  sexualOrientation: text(raw.sexual_orientation),
  genderIdentity: text(raw.gender_identity),
}));

const readDemographics = record((raw) => ({ ...readPerson(raw), address: readAddress(raw.address) }));

/** Null for a record with no value in it: nothing is set. */
function readSet(json: unknown): Demographics | null {
  const demographics = readDemographics(json);
  return Object.values(demographics).every((value) => value === null) ? null : demographics;
}

/** The record as it was set: a person without any name was never sent. */
const readWritten = where(
  readDemographics,
  ({ firstName, lastName }) => firstName !== null || lastName !== null,
);

/**
 * The user's demographics, or null where none are set (`GET /v2/user/{user_id}/info/latest`).
 * @param scope the purpose: to show them, or only to find out why a portal launch was refused
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
    reader: readSet,
    scope,
    owner: () => ({ userId }),
    about: { userId },
  });
}

/** Fields of a type that the service shows, all required and not null, as the service needs them in a request. */
export type Given<Shown, Name extends keyof Shown> = { readonly [Key in Name]: NonNullable<Shown[Key]> };

/** Where a person lives. `country` is a two-letter code. */
export type NewHomeAddress = Given<Address, 'firstLine' | 'city' | 'state' | 'zip' | 'country'> &
  Readonly<Pick<Address, 'secondLine' | 'accessNotes'>>;

/** The medical proxy of a person under 18. */
export type NewMedicalProxy = Given<MedicalProxy, 'firstName' | 'lastName' | 'phoneNumber'> &
  Readonly<Pick<MedicalProxy, 'email'>> &
  Household & { readonly address: NewHomeAddress };

/** The whole record; null = not set. */
export type NewDemographics = Given<
  Demographics,
  'firstName' | 'lastName' | 'email' | 'phoneNumber' | 'gender' | 'dob'
> &
  SelfDescription & { readonly address: NewHomeAddress; readonly medicalProxy: NewMedicalProxy | null };

/**
 * Sets the whole record and returns the record as stored; null when there is no such user
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
