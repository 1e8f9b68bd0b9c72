import { z } from 'zod';
import { medicalProxy } from './demographics.ts';
import { country } from './shipping-details.ts';
import { textUpTo } from './validation.ts';

const optionalText = z
  .string()
  .nullish()
  .transform((text) => text ?? null);
const optionalPhone = z
  .string()
  .regex(/^\+[1-9][\d ().-]{6,18}$/)
  .nullish();
const usZip = z.string().regex(/^\d{5}(-\d{4})?$/);
const name = z
  .string()
  .min(1)
  .max(50)
  // Letters without accents, digits and -.,' in words with one space between them (public service).
  .regex(/^[a-zA-Z0-9][a-zA-Z0-9\-.,']*(\s[a-zA-Z0-9\-.,']+)*$/);

const races = [
  'african_american_or_black',
  'asian',
  'indigenous_native_american_alaska_native',
  'other',
  'pacific_islander_or_hawaiian',
  'white_caucasian',
] as const;
const ethnicities = ['hispanic', 'non_hispanic', 'ashkenazi_jewish', 'other'] as const;
const orientations = [
  'lesbian_gay_or_homosexual',
  'heterosexual_or_straight',
  'bisexual',
  'dont_know',
  'other',
] as const;
const identities = [
  'male',
  'female',
  'female_to_male_ftm_transgender_male_trans_man',
  'male_to_female_mtf_transgender_female_trans_woman',
  'genderqueer',
  'other',
] as const;

function isMinor(day: string): boolean {
  const born = new Date(day);
  const ofAge = Date.UTC(born.getUTCFullYear() + 18, born.getUTCMonth(), born.getUTCDate());
  return born.getTime() <= Date.now() && ofAge > Date.now();
}

/**
 * The person tested, as an order request gives them; shown later with `dob` as a timestamp. The household is taken
 * and not shown (public service). A minor needs a medical proxy.
 */
export const patientDetails = z
  .object({
    first_name: name,
    last_name: name,
    dob: z.iso.date().refine((day) => Date.parse(day) <= Date.now(), { error: 'dob is in the future' }),
    gender: z.enum(['female', 'male', 'other', 'unknown']),
    phone_number: z.string().regex(/^\+[1-9][\d ().-]{6,18}$/),
    email: z.email(),
    medical_proxy: medicalProxy.nullable().default(null),
    race: z.enum(races).nullable().default(null),
    ethnicity: z.enum(ethnicities).nullable().default(null),
    sexual_orientation: z.enum(orientations).nullable().default(null),
    gender_identity: z.enum(identities).nullable().default(null),
    household_income: z.int().nullish(),
    household_size: z.int().nullish(),
  })
  .refine((details) => details.medical_proxy !== null || !isMinor(details.dob), {
    path: ['medical_proxy'],
    error: 'A minor needs a medical proxy',
  })
  .transform(({ household_income, household_size, ...details }) => ({
    ...details,
    dob: `${details.dob}T00:00:00+00:00`,
  }));

const address = {
  first_line: z.string().min(1),
  second_line: optionalText,
  city: z.string().min(1),
  state: z.string().regex(/^[A-Za-z]{2}$/),
  country,
  access_notes: textUpTo(1000)
    .nullish()
    .transform((text) => text ?? null),
};

/** Where the patient lives; `access_notes` lead a phlebotomist to the door (specification: appointment notes). */
export const patientAddress = z
  .object({
    ...address,
    receiver_name: z.string().default(''),
    zip: usZip,
    phone_number: optionalPhone,
  })
  .transform(({ phone_number, ...rest }) => ({ ...rest, ...(phone_number ? { phone_number } : {}) }));

/** The same without the check of the postal code (public service: import). */
export const importedAddress = z.object({
  ...address,
  receiver_name: z.string(),
  zip: z.string().min(1),
});

/** A physician of the client's own (specification: order-creation additions). */
export const physician = z
  .object({
    first_name: z.string().min(1),
    last_name: z.string().min(1),
    npi: z.string().regex(/^\d{10}$/),
    email: z.string().nullish(),
    licensed_states: z.array(z.string()).nullish(),
  })
  .transform(({ first_name, last_name, npi }) => ({ first_name, last_name, npi }));

/** Consents; the names are in camelCase inside a body in snake_case (public service). */
export const consents = z
  .array(
    z.object({
      consentType: z.enum([
        'terms-of-use',
        'telehealth-informed-consent',
        'mobile-terms-and-conditions',
        'notice-of-privacy-practices',
        'privacy-policy',
        'hipaa-authorization',
      ]),
      version: z.string().default('1.0'),
      timeOfConsent: z.iso.datetime({ offset: true }).optional(),
    }),
  )
  .default([]);
