import { z } from 'zod';
import { textUpTo } from './validation.ts';

// No accents, starts with a letter or digit, single spaces inside (public service: patient input rules).
const personName = z
  .string()
  .min(1)
  .max(50)
  .regex(/^[a-zA-Z0-9][a-zA-Z0-9\-.,']*(\s[a-zA-Z0-9\-.,']+)*$/);

/** Numbers of the area code 555 belong to nobody and are refused (public service). */
const phoneNumber = z.string().regex(/^\+(?!1[ ().-]*555)[1-9][\d ().-]{6,18}$/);

const optionalText = z
  .string()
  .nullish()
  .transform((text) => text ?? null);

const address = z.object({
  first_line: z.string().min(1),
  second_line: optionalText,
  country: z.string().min(1),
  zip: z.string().min(1),
  city: z.string().min(1),
  state: z.string().regex(/^[A-Za-z]{2}$/),
  access_notes: textUpTo(1000)
    .nullish()
    .transform((text) => text ?? null),
});

const dayOfBirth = z.iso.date().refine((day) => Date.parse(day) <= Date.now(), 'dob is in the future');

/** Who answers for a person under 18 (public service: GuarantorDetails). */
export const medicalProxy = z.object({
  first_name: personName,
  last_name: personName,
  address,
  phone_number: phoneNumber,
  email: z.email().nullish(),
  household_income: z.number().int().nullish(),
  household_size: z.number().int().nullish(),
});

/** The whole record: what is left out is gone afterwards (public service: UserInfoCreateRequest, an upsert). */
export const demographics = z.object({
  first_name: personName,
  last_name: personName,
  email: z.email(),
  phone_number: phoneNumber,
  gender: z.string().min(1),
  dob: dayOfBirth,
  address,
  medical_proxy: medicalProxy.nullable().default(null),
  race: optionalText,
  ethnicity: optionalText,
  sexual_orientation: optionalText,
  gender_identity: optionalText,
});
