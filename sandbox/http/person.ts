import { z } from 'zod';
import { textUpTo } from './validation.ts';

let names: Intl.DisplayNames | null = null;

/** Accepts a two-letter code, and returns the full English name (specification: country). */
const country = z.string().transform((text, context) => {
  const code = text.toUpperCase();
  const isCode = /^[A-Z]{2}$/.test(code) && code !== 'ZZ' && new Intl.Locale(`und-${code}`).region === code;
  names ??= new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  const name = isCode ? names.of(code) : undefined;
  if (name !== undefined) return name;
  context.addIssue({ code: 'custom', message: 'country is not a two-letter code' });
  return z.NEVER;
});

// No accents, starts with a letter or digit, single spaces inside (public service: patient input rules).
const personName = z
  .string()
  .min(1)
  .max(50)
  .regex(/^[a-zA-Z0-9][a-zA-Z0-9\-.,']*(\s[a-zA-Z0-9\-.,']+)*$/);

const phone = z.string().regex(/^\+[1-9][\d ().-]{6,18}$/);
/** Numbers of the area code 555 are fictitious and refused (public service). */
const phoneOfPerson = z.string().regex(/^\+(?!1[ ().-]*555)[1-9][\d ().-]{6,18}$/);

/** The service documents no pattern, and a stricter one would refuse addresses that exist. */
const email = z.string().regex(/^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/);

const zip = z.string().regex(/^\d{5}(-\d{4})?$/);
const dayOfBirth = z.iso.date().refine((day) => Date.parse(day) <= Date.now(), 'dob is in the future');

function orNull<Text extends z.ZodType<string>>(text: Text) {
  return text.nullish().transform((value) => value ?? null);
}

const optionalText = orNull(z.string());

const regionCode = /^[A-Za-z]{2}$/;
const address = {
  first_line: z.string().min(1),
  second_line: optionalText,
  city: z.string().min(1),
  state: z.string().regex(regionCode),
};
const accessNotes = orNull(textUpTo(1000));

/** The shipping address of a kit; all but the second line is required (specification; public service). */
export const shippingDetails = z.object({
  ...address,
  receiver_name: z.string().min(1),
  zip,
  country,
  phone_number: phone,
});

/** The schema has no pattern for a home address (public service: UserAddress). */
const homeAddress = z.object({
  ...address,
  state: z.string().min(1),
  country: z.string().min(1),
  zip: z.string().min(1),
  access_notes: accessNotes,
});

/** The adult responsible for a patient under 18. The patterns for patients do not apply (public service: GuarantorDetails). */
const medicalProxy = z.object({
  first_name: z.string().min(1),
  last_name: z.string().min(1),
  address: homeAddress,
  phone_number: phone,
  email: z.string().nullish(),
  household_income: z.number().int().nullish(),
  household_size: z.number().int().nullish(),
});

/** In the United States and Canada a region has two letters (public service: patient input rules). */
const patientHome = homeAddress.refine(
  ({ country, state }) => !/^(?:US|CA)$/i.test(country) || regionCode.test(state),
  { path: ['state'], error: 'state is not a two-letter code' },
);

/** The whole record: a field that is left out is deleted (public service: UserInfoCreateRequest, an upsert). */
export const demographics = z.object({
  first_name: personName,
  last_name: personName,
  email,
  phone_number: phoneOfPerson,
  gender: z.string().min(1),
  dob: dayOfBirth,
  address: patientHome,
  medical_proxy: medicalProxy.nullable().default(null),
  race: optionalText,
  ethnicity: optionalText,
  sexual_orientation: optionalText,
  gender_identity: optionalText,
});

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
 * The person tested, as an order request describes them; shown later with `dob` as a timestamp. The household is
 * accepted and not shown (public service). A minor needs a medical proxy.
 */
export const patientDetails = z
  .object({
    first_name: personName,
    last_name: personName,
    dob: dayOfBirth,
    gender: z.enum(['female', 'male', 'other', 'unknown']),
    phone_number: phone,
    email,
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

/** The patient's home; `access_notes` lead a phlebotomist to the door (specification: appointment notes). */
export const patientAddress = z
  .object({
    ...address,
    country,
    access_notes: accessNotes,
    receiver_name: z.string().default(''),
    zip,
    phone_number: phone.nullish(),
  })
  .transform(({ phone_number, ...rest }) => ({ ...rest, ...(phone_number ? { phone_number } : {}) }));

/** The same without the check of the postal code (public service: import). */
export const importedAddress = z.object({
  ...address,
  country,
  access_notes: accessNotes,
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
