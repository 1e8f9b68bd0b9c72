import { withNulls } from '../../../graph/arguments.ts';
import { builder, type InputFields } from '../../../graph/builder.ts';
import { toDay } from '../../../parse/dates.ts';
import { withCountryCode } from '../../address/rest.ts';
import {
  addressInputFields,
  countryField,
  ethnicity,
  genderIdentity,
  medicalProxyInput,
  race,
  readMedicalProxy,
  sexualOrientation,
} from '../../user/graph-demographics.ts';
import type { NewOrder, PatientPart } from './rest.ts';

const gender = builder.enumType('OrderPatientGender', {
  description: 'Gender of a patient, as the lab needs it.',
  values: {
    FEMALE: { description: 'The patient is female.' },
    MALE: { description: 'The patient is male.' },
    OTHER: { description: 'The patient has another gender.' },
    UNKNOWN: { description: 'The gender is not known.' },
  } as const,
});

const patientInput = builder.inputType('OrderPatientInput', {
  description: 'The person who is tested.',
  fields: (t) => ({
    firstName: t.string({ required: true, description: 'First name, 1 to 50 characters.' }),
    lastName: t.string({ required: true, description: 'Last name, 1 to 50 characters.' }),
    dob: t.field({ type: 'Date', required: true, description: 'Date of birth.' }),
    gender: t.field({ type: gender, required: true, description: 'Gender.' }),
    phoneNumber: t.string({
      required: true,
      description: 'Phone number in international format, such as +16025550100.',
    }),
    email: t.string({ required: true, description: 'E-mail address.' }),
    medicalProxy: t.field({
      type: medicalProxyInput,
      description: 'Who answers for the patient; needed for people under 18.',
    }),
    race: t.field({ type: race.ref, description: 'Race, as the lab asks for it.' }),
    ethnicity: t.field({ type: ethnicity.ref, description: 'Ethnicity, as the lab asks for it.' }),
    sexualOrientation: t.field({
      type: sexualOrientation.ref,
      description: 'Sexual orientation, as the lab asks for it.',
    }),
    genderIdentity: t.field({
      type: genderIdentity.ref,
      description: 'Gender identity, as the lab asks for it.',
    }),
    householdIncome: t.int({ description: 'Income of the household.' }),
    householdSize: t.int({ description: 'How many people the household has.' }),
  }),
});

const addressInput = builder.inputType('OrderAddressInput', {
  description: 'Where the patient lives.',
  fields: (t) => ({
    receiverName: t.string({ description: 'Who receives what is sent there; needed for an import.' }),
    ...addressInputFields(t, { state: 'Region code, such as AZ.', zip: 'Postal code.' }),
    country: countryField(t),
    phoneNumber: t.string({ description: 'Phone number in international format.' }),
    accessNotes: t.string({
      description:
        'How a visitor gets to the door, 1,000 characters at most. The phlebotomist gets it with every booking.',
    }),
  }),
});

const physicianInput = builder.inputType('OrderPhysicianInput', {
  description: "A physician of the team's own who answers for the order.",
  fields: (t) => ({
    firstName: t.string({ required: true, description: 'First name.' }),
    lastName: t.string({ required: true, description: 'Last name.' }),
    npi: t.string({ required: true, description: 'National provider identifier: ten digits.' }),
    email: t.string({ description: 'E-mail address.' }),
    licensedStates: t.stringList({ description: 'Codes of the states the physician is licensed in.' }),
  }),
});

const consentType = builder.enumType('OrderConsentType', {
  description: 'What a patient agrees to.',
  values: {
    TERMS_OF_USE: { description: 'The terms of use.' },
    TELEHEALTH_INFORMED_CONSENT: { description: 'Being treated at a distance.' },
    MOBILE_TERMS_AND_CONDITIONS: { description: 'The terms for mobile messages.' },
    NOTICE_OF_PRIVACY_PRACTICES: { description: 'The notice of privacy practices.' },
    PRIVACY_POLICY: { description: 'The privacy policy.' },
    HIPAA_AUTHORIZATION: { description: 'The disclosure of health data (HIPAA).' },
  } as const,
});

export const consentInput = builder.inputType('OrderConsentInput', {
  description: 'Something that the patient has agreed to.',
  fields: (t) => ({
    consentType: t.field({ type: consentType, required: true, description: 'What was agreed to.' }),
    version: t.string({ description: 'Version of its text; 1.0 when left out.' }),
    timeOfConsent: t.field({ type: 'DateTime', description: 'When it was agreed to.' }),
  }),
});

/** The fields about the patient that all ways to an order have. */
export function patientPartFields(t: InputFields) {
  return {
    patientDetails: t.field({ type: patientInput, required: true, description: 'The person who is tested.' }),
    patientAddress: t.field({ type: addressInput, required: true, description: 'Where the patient lives.' }),
    physician: t.field({
      type: physicianInput,
      description: "A physician of the team's own; needed on delegated lab accounts.",
    }),
  };
}

interface PatientPartInput {
  readonly patientDetails: typeof patientInput.$inferInput;
  readonly patientAddress: typeof addressInput.$inferInput;
  readonly physician?: typeof physicianInput.$inferInput | null | undefined;
}

export function readPatientPart({
  patientDetails,
  patientAddress,
  physician,
}: PatientPartInput): PatientPart {
  return {
    patientDetails: readPatient(patientDetails),
    patientAddress: withNulls(
      withCountryCode(patientAddress),
      'receiverName',
      'secondLine',
      'phoneNumber',
      'accessNotes',
    ),
    physician: physician ? withNulls(physician, 'email', 'licensedStates') : null,
  };
}

function readPatient(patient: PatientPartInput['patientDetails']): PatientPart['patientDetails'] {
  return {
    ...patient,
    dob: toDay(patient.dob),
    gender: patient.gender.toLowerCase(),
    medicalProxy: patient.medicalProxy ? readMedicalProxy(patient.medicalProxy) : null,
    race: patient.race?.toLowerCase() ?? null,
    ethnicity: patient.ethnicity?.toLowerCase() ?? null,
    sexualOrientation: patient.sexualOrientation?.toLowerCase() ?? null,
    genderIdentity: patient.genderIdentity?.toLowerCase() ?? null,
    householdIncome: patient.householdIncome ?? null,
    householdSize: patient.householdSize ?? null,
  };
}

export function readConsents(
  consents: readonly (typeof consentInput.$inferInput)[] | null | undefined,
): NewOrder['consents'] {
  return (consents ?? []).map((consent) => ({
    consentType: consent.consentType.toLowerCase().replaceAll('_', '-'),
    version: consent.version ?? null,
    timeOfConsent: consent.timeOfConsent ?? null,
  }));
}
