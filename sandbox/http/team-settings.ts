import { z } from 'zod';
import type { TeamSettings } from '../management/state.ts';
import { Refusal } from './refusal.ts';

const logoUrl = z.url().max(2083);

const brand = z.object({
  company_name: z.string(),
  company_website: z.string().default(''),
  support_email: z.email().default('help@example.com'),
  support_contact: z.string().nullable().default(''),
  company_address: z.string().default(''),
  brand_color: z.string().default(''),
});

/** The settings of a new team, for both environments. */
export const newSettings = {
  lab_tests_patient_sms_communication_enabled: z.boolean().default(true),
  lab_tests_patient_email_communication_enabled: z.boolean().default(true),
  critical_result_notification_email: z.email().nullable().default(null),
  brand_information: brand.nullable().default(null),
  logo_url: logoUrl.nullable().default(null),
  reject_duplicate_connection: z.boolean().default(false),
  sdk_per_device_activity_timeseries: z.boolean().default(false),
  partial_webhooks_enabled: z.boolean().nullable().default(false),
  minor_ordering_enabled: z.boolean().nullable().default(false),
};

const flag = z.boolean().nullish();
/** A change of the settings of one environment. */
export const settingsPatch = z.object({
  lab_tests_patient_sms_communication_enabled: flag,
  lab_tests_patient_email_communication_enabled: flag,
  reject_duplicate_connection: flag,
  sdk_per_device_activity_timeseries: flag,
  partial_webhooks_enabled: flag,
  minor_ordering_enabled: flag,
  // Taken but shown nowhere (public service).
  patient_experience: flag,
  critical_result_notification_email: z.email().nullish(),
  brand_information: z
    .object({
      company_name: z.string().nullish(),
      company_website: z.string().nullish(),
      support_email: z.email().nullish(),
      support_contact: z.string().nullish(),
      company_address: z.string().nullish(),
      brand_color: z.string().nullish(),
    })
    .nullish(),
  logo_url: logoUrl.nullish(),
});

/** @throws Refusal 422 for a brand without a logo (public service) */
export function requireLogo(settings: TeamSettings, loc: readonly string[]): void {
  if (!settings.brand_information?.company_name || settings.logo_url !== null) return;
  const fault = { type: 'missing', loc: ['body', ...loc, 'logo_url'], msg: 'Field required', input: null };
  throw new Refusal(422, { detail: [fault] });
}

/** The given values: what is null or left out stays as it is. */
function given<Value>(value: Value | null | undefined, before: Value): Value {
  return value ?? before;
}

/** Null clears an address or a picture, and leaves a switch as it is. */
export function patchSettings(before: TeamSettings, patch: z.output<typeof settingsPatch>): TeamSettings {
  const { critical_result_notification_email: email, logo_url: logo, brand_information: newBrand } = patch;
  const oldBrand = before.brand_information ?? brand.parse({ company_name: '' });
  const patchedBrand = newBrand && {
    company_name: given(newBrand.company_name, oldBrand.company_name),
    company_website: given(newBrand.company_website, oldBrand.company_website),
    support_email: given(newBrand.support_email, oldBrand.support_email),
    support_contact: given(newBrand.support_contact, oldBrand.support_contact),
    company_address: given(newBrand.company_address, oldBrand.company_address),
    brand_color: given(newBrand.brand_color, oldBrand.brand_color),
  };
  const flags = [
    'lab_tests_patient_sms_communication_enabled',
    'lab_tests_patient_email_communication_enabled',
    'reject_duplicate_connection',
    'sdk_per_device_activity_timeseries',
    'partial_webhooks_enabled',
    'minor_ordering_enabled',
  ] as const;
  return {
    ...before,
    ...Object.fromEntries(flags.map((key) => [key, given(patch[key], before[key])])),
    critical_result_notification_email:
      email === undefined ? before.critical_result_notification_email : email,
    logo_url: logo === undefined ? before.logo_url : logo,
    brand_information: patchedBrand === undefined ? before.brand_information : patchedBrand,
  };
}
