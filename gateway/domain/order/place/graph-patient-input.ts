import { withNulls } from '../../../graph/arguments.ts';
import { builder, type InputFields } from '../../../graph/builder.ts';
import { openEnum, openInputFields, requireOpen } from '../../../graph/open-enum.ts';
import { toDay } from '../../../parse/dates.ts';
import {
  addressInputFields,
  countryField,
  ethnicity,
  genderIdentity,
  medicalProxyInput,
  type openFields,
  openPair,
  race,
  readMedicalProxy,
  sexualOrientation,
} from '../../user/graph-demographics.ts';
import type { NewOrder, PatientPart } from './rest.ts';

const gender = openEnum('OrderPatientGender', 'Gender of a patient, as the lab needs it.', {
  FEMALE: 'The patient is female.',
  MALE: 'The patient is male.',
  OTHER: 'The patient has another gender.',
  UNKNOWN: 'The gender is not known.',
});

const patientInput = builder.inputType('OrderPatientInput', {
  description: 'The person who is tested.',
  fields: (t) => ({
    firstName: t.string({ required: true, description: 'First name, 1 to 50 characters.' }),
    lastName: t.string({ required: true, description: 'Last name, 1 to 50 characters.' }),
    dob: t.field({ type: 'Date', required: true, description: 'Date of birth.' }),
    ...openInputFields(t, gender, {
      name: 'gender',
      description: 'Gender; it must be given, here or as genderRaw.',
      raw: 'Gender as the service writes it, for a value that the enum lacks.',
    }),
    phoneNumber: t.string({
      required: true,
      description: 'Phone number in international format, such as +16025550100.',
    }),
    email: t.string({ required: true, description: 'E-mail address.' }),
    medicalProxy: t.field({
      type: medicalProxyInput,
      description: 'Who answers for the patient; needed for people under 18.',
    }),
    ...openInputFields(t, race, openPair('race', 'Race')),
    ...openInputFields(t, ethnicity, openPair('ethnicity', 'Ethnicity')),
    ...openInputFields(t, sexualOrientation, openPair('sexualOrientation', 'Sexual orientation')),
    ...openInputFields(t, genderIdentity, openPair('genderIdentity', 'Gender identity')),
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

const consentType = openEnum('OrderConsentType', 'What a patient agrees to.', {
  TERMS_OF_USE: 'The terms of use.',
  TELEHEALTH_INFORMED_CONSENT: 'Being treated at a distance.',
  MOBILE_TERMS_AND_CONDITIONS: 'The terms for mobile messages.',
  NOTICE_OF_PRIVACY_PRACTICES: 'The notice of privacy practices.',
  PRIVACY_POLICY: 'The privacy policy.',
  HIPAA_AUTHORIZATION: 'The disclosure of health data (HIPAA).',
});

export const consentInput = builder.inputType('OrderConsentInput', {
  description: 'Something that the patient has agreed to.',
  fields: (t) => ({
    ...openInputFields(t, consentType, {
      name: 'consentType',
      description: 'What was agreed to; it must be given, here or as consentTypeRaw.',
      raw: 'What was agreed to, as the service writes it, for a value that the enum lacks.',
    }),
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
    patientAddress: withNulls(patientAddress, 'receiverName', 'secondLine', 'phoneNumber', 'accessNotes'),
    physician: physician ? withNulls(physician, 'email', 'licensedStates') : null,
  };
}

function readPatient(input: PatientPartInput['patientDetails']): PatientPart['patientDetails'] {
  const {
    genderRaw: _gender,
    raceRaw: _race,
    ethnicityRaw: _ethnicity,
    sexualOrientationRaw: _sexualOrientation,
    genderIdentityRaw: _genderIdentity,
    ...patient
  } = input;
  const read = (name: 'gender' | (typeof openFields)[number]) =>
    requireOpen('input.patientDetails', input, name);
  return {
    ...patient,
    dob: toDay(patient.dob),
    gender: read('gender') ?? '',
    medicalProxy: patient.medicalProxy ? readMedicalProxy(patient.medicalProxy) : null,
    race: read('race'),
    ethnicity: read('ethnicity'),
    sexualOrientation: read('sexualOrientation'),
    genderIdentity: read('genderIdentity'),
    householdIncome: patient.householdIncome ?? null,
    householdSize: patient.householdSize ?? null,
  };
}

export function readConsents(
  consents: readonly (typeof consentInput.$inferInput)[] | null | undefined,
): NewOrder['consents'] {
  return (consents ?? []).map((consent, index) => {
    const consentType = requireOpen(`input.consents.${index}`, consent, 'consentType') ?? '';
    return {
      // The service writes its own types with hyphens.
      consentType: consent.consentType ? consentType.replaceAll('_', '-') : consentType,
      version: consent.version ?? null,
      timeOfConsent: consent.timeOfConsent ?? null,
    };
  });
}
