import { builder } from '../../graph/builder.ts';
import { readOpen } from '../../graph/open-input.ts';
import { ethnicity, genderIdentity, race, sexualOrientation } from './graph-person-enums.ts';
import type { NewDemographics, NewMedicalProxy } from './rest-demographics.ts';

const homeAddressInput = builder.inputType('HomeAddressInput', {
  description: 'Where a person lives.',
  fields: (t) => ({
    firstLine: t.string({ required: true, description: 'Street and number.' }),
    secondLine: t.string({ description: 'Flat, floor or the like.' }),
    city: t.string({ required: true, description: 'Name of the city.' }),
    state: t.string({ required: true, description: 'Two-letter region code, such as AZ.' }),
    zip: t.string({ required: true, description: 'Postal code.' }),
    country: t.string({ required: true, description: 'Two-letter country code, such as US.' }),
    accessNotes: t.string({ description: 'How a visitor gets to the door; 1,000 characters at most.' }),
  }),
});

/** Who answers for a person, in demographics and in orders. */
export const medicalProxyInput = builder.inputType('MedicalProxyInput', {
  description: 'Who answers for a person under 18.',
  fields: (t) => ({
    firstName: t.string({ required: true, description: 'First name.' }),
    lastName: t.string({ required: true, description: 'Last name.' }),
    phoneNumber: t.string({ required: true, description: 'Phone number in international format.' }),
    email: t.string({ description: 'E-mail address.' }),
    address: t.field({ type: homeAddressInput, required: true, description: 'Home address.' }),
    householdIncome: t.int({ description: 'Income of the household.' }),
    householdSize: t.int({ description: 'How many people the household has.' }),
  }),
});

export const updateDemographicsInput = builder.inputType('UpdateDemographicsInput', {
  description: 'The whole demographics record of a user: what is left out is gone afterwards.',
  fields: (t) => ({
    userId: t.id({
      description: "Id of the user (uuid); a viewer token may leave it out: it is the token's own user.",
    }),
    firstName: t.string({ required: true, description: 'First name: 1 to 50 characters without accents.' }),
    lastName: t.string({ required: true, description: 'Last name: 1 to 50 characters without accents.' }),
    email: t.string({ required: true, description: 'E-mail address.' }),
    phoneNumber: t.string({
      required: true,
      description: 'Phone number in international format, such as +16025550100.',
    }),
    gender: t.string({
      required: true,
      description: 'Gender: female, male, other or unknown; the service takes any text here.',
    }),
    dob: t.field({ type: 'Date', required: true, description: 'Date of birth; not in the future.' }),
    address: t.field({ type: homeAddressInput, required: true, description: 'Home address.' }),
    medicalProxy: t.field({
      type: medicalProxyInput,
      description: 'Who answers for the person; needed for people under 18.',
    }),
    race: t.field({ type: race.ref, description: 'Race, as labs ask for it.' }),
    raceRaw: t.string({ description: 'Race in a word of the service that the enum does not have.' }),
    ethnicity: t.field({ type: ethnicity.ref, description: 'Ethnicity, as labs ask for it.' }),
    ethnicityRaw: t.string({
      description: 'Ethnicity in a word of the service that the enum does not have.',
    }),
    sexualOrientation: t.field({
      type: sexualOrientation.ref,
      description: 'Sexual orientation, as labs ask for it.',
    }),
    sexualOrientationRaw: t.string({
      description: 'Sexual orientation in a word of the service that the enum does not have.',
    }),
    genderIdentity: t.field({
      type: genderIdentity.ref,
      description: 'Gender identity, as labs ask for it.',
    }),
    genderIdentityRaw: t.string({
      description: 'Gender identity in a word of the service that the enum does not have.',
    }),
  }),
});

type Input = (typeof updateDemographicsInput)['$inferInput'];

/** What can be given as a known value or in a word of the service. */
export const openFields = ['race', 'ethnicity', 'sexualOrientation', 'genderIdentity'] as const;

/** The record an input stands for, as it is sent to the service. */
export function readDemographics(input: Input): NewDemographics {
  const { medicalProxy } = input;
  return {
    firstName: input.firstName,
    lastName: input.lastName,
    email: input.email,
    phoneNumber: input.phoneNumber,
    gender: input.gender,
    dob: input.dob.toISOString().slice(0, 10),
    address: readAddress(input.address),
    medicalProxy: medicalProxy ? readMedicalProxy(medicalProxy) : null,
    race: readOpen(input, 'race'),
    ethnicity: readOpen(input, 'ethnicity'),
    sexualOrientation: readOpen(input, 'sexualOrientation'),
    genderIdentity: readOpen(input, 'genderIdentity'),
  };
}

export function readMedicalProxy(proxy: (typeof medicalProxyInput)['$inferInput']): NewMedicalProxy {
  return {
    ...proxy,
    email: proxy.email ?? null,
    address: readAddress(proxy.address),
    householdIncome: proxy.householdIncome ?? null,
    householdSize: proxy.householdSize ?? null,
  };
}

function readAddress(address: Input['address']): NewDemographics['address'] {
  return {
    ...address,
    secondLine: address.secondLine ?? null,
    accessNotes: address.accessNotes ?? null,
  };
}
