import { withNulls } from '../../graph/arguments.ts';
import { builder, type Fields, type InputFields } from '../../graph/builder.ts';
import { upstreamCallCost } from '../../graph/cost.ts';
import { openEnum, openEnumFields, openInputFields, readOpen } from '../../graph/open-enum.ts';
import { needs } from '../../graph/permissions.ts';
import { toDay } from '../../parse/dates.ts';
import { addressRef } from '../address/graph.ts';
import { withCountryCode } from '../address/rest.ts';
import { userRef } from './graph.ts';
import {
  type Demographics,
  getDemographics,
  type MedicalProxy,
  type NewDemographics,
  type NewMedicalProxy,
  type Person,
  type SelfDescription,
} from './rest-demographics.ts';

/** How people describe themselves: open sets of the service, for demographics and for patients of orders. */
export const race = openEnum('Race', 'Race, as a lab asks for it.', {
  AFRICAN_AMERICAN_OR_BLACK: 'The person is African American or Black.',
  ASIAN: 'The person is Asian.',
  INDIGENOUS_NATIVE_AMERICAN_ALASKA_NATIVE: 'The person is Indigenous, Native American or Alaska Native.',
  OTHER: 'Something that none of these words fits.',
  PACIFIC_ISLANDER_OR_HAWAIIAN: 'The person is a Pacific Islander or Hawaiian.',
  WHITE_CAUCASIAN: 'The person is White or Caucasian.',
});

export const ethnicity = openEnum('Ethnicity', 'Ethnicity, as a lab asks for it.', {
  HISPANIC: 'The person is Hispanic.',
  NON_HISPANIC: 'The person is not Hispanic.',
  ASHKENAZI_JEWISH: 'The person is Ashkenazi Jewish.',
  OTHER: 'Something that none of these words fits.',
});

export const sexualOrientation = openEnum('SexualOrientation', 'Sexual orientation, as a lab asks for it.', {
  LESBIAN_GAY_OR_HOMOSEXUAL: 'The person is lesbian, gay or homosexual.',
  HETEROSEXUAL_OR_STRAIGHT: 'The person is heterosexual or straight.',
  BISEXUAL: 'The person is bisexual.',
  DONT_KNOW: 'The person does not know.',
  OTHER: 'Something that none of these words fits.',
});

export const genderIdentity = openEnum('GenderIdentity', 'Gender identity, as a lab asks for it.', {
  MALE: 'The person is male.',
  FEMALE: 'The person is female.',
  FEMALE_TO_MALE_FTM_TRANSGENDER_MALE_TRANS_MAN: 'The person is a transgender man (female to male).',
  MALE_TO_FEMALE_MTF_TRANSGENDER_FEMALE_TRANS_WOMAN: 'The person is a transgender woman (male to female).',
  GENDERQUEER: 'The person is genderqueer.',
  OTHER: 'Something that none of these words fits.',
});

const medicalProxyRef = builder.objectRef<MedicalProxy>('MedicalProxy').implement({
  description: 'Who answers for a person under 18.',
  fields: (t) => ({
    firstName: t.exposeString('firstName', { description: 'First name.' }),
    lastName: t.exposeString('lastName', { description: 'Last name.' }),
    phoneNumber: t.exposeString('phoneNumber', { description: 'Phone number in international format.' }),
    email: t.exposeString('email', { description: 'E-mail address.' }),
    address: t.expose('address', { type: addressRef, description: 'Home address.' }),
    householdIncome: t.exposeInt('householdIncome', {
      description: 'Income of the household, in the unit the team sent it in.',
    }),
    householdSize: t.exposeInt('householdSize', { description: 'How many people the household has.' }),
  }),
});

/** The fields of every type that shows a person. */
export function personFields(t: Fields<Person>, word: string) {
  const pair = <Name extends keyof SelfDescription>(name: Name, title: string) => ({
    name,
    description: `${title}; null when it is not set or not one of these.`,
    raw: `${title} as the service sent it.`,
  });
  return {
    firstName: t.exposeString('firstName', { description: 'First name.' }),
    lastName: t.exposeString('lastName', { description: 'Last name.' }),
    email: t.exposeString('email', { description: 'E-mail address.' }),
    phoneNumber: t.exposeString('phoneNumber', { description: 'Phone number in international format.' }),
    gender: t.exposeString('gender', { description: 'Gender, as the service has it.' }),
    dob: t.expose('dob', { type: 'Date', description: 'Date of birth.' }),
    medicalProxy: t.expose('medicalProxy', {
      type: medicalProxyRef,
      description: `Who answers for ${word}; for people under 18.`,
    }),
    ...openEnumFields(t, race, pair('race', 'Race')),
    ...openEnumFields(t, ethnicity, pair('ethnicity', 'Ethnicity')),
    ...openEnumFields(t, sexualOrientation, pair('sexualOrientation', 'Sexual orientation')),
    ...openEnumFields(t, genderIdentity, pair('genderIdentity', 'Gender identity')),
  };
}

export const demographicsRef = builder.objectRef<Demographics>('Demographics').implement({
  description: 'Who a user is, as the portal and the labs need to know it.',
  fields: (t) => ({
    ...personFields(t, 'the person'),
    address: t.expose('address', { type: addressRef, description: 'Home address.' }),
  }),
});

builder.objectField(userRef, 'demographics', (t) =>
  t.field({
    complexity: upstreamCallCost,
    type: demographicsRef,
    extensions: needs('read:profile'),
    description: 'Who the user is; null where none are set.',
    resolve: (user, _args, context) => getDemographics(context.service, user.id),
  }),
);

interface AddressDescriptions {
  readonly state: string;
  readonly zip: string;
}

/** The fields that every address of an input has. */
export function addressInputFields(t: InputFields, { state, zip }: AddressDescriptions) {
  return {
    firstLine: t.string({ required: true, description: 'Street and number.' }),
    secondLine: t.string({ description: 'Flat, floor or the like.' }),
    city: t.string({ required: true, description: 'Name of the city.' }),
    state: t.string({ required: true, description: state }),
    zip: t.string({ required: true, description: zip }),
  };
}

export function countryField(t: InputFields) {
  return t.string({ required: true, description: 'Two-letter country code, such as US.' });
}

const homeAddressInput = builder.inputType('HomeAddressInput', {
  description: 'Where a person lives.',
  fields: (t) => ({
    ...addressInputFields(t, { state: 'Region code, such as AZ.', zip: 'Postal code.' }),
    country: countryField(t),
    accessNotes: t.string({ description: 'How a visitor gets to the door; 1,000 characters at most.' }),
  }),
});

/** A medical proxy, in demographics and in orders. */
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

/** How a part of a person is given, in demographics and in orders. */
export function openPair<Name extends string>(name: Name, title: string) {
  return {
    name,
    description: `${title}, as labs ask for it.`,
    raw: `${title} as the service writes it, for a value that the enum lacks.`,
  };
}

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
    ...openInputFields(t, race, openPair('race', 'Race')),
    ...openInputFields(t, ethnicity, openPair('ethnicity', 'Ethnicity')),
    ...openInputFields(t, sexualOrientation, openPair('sexualOrientation', 'Sexual orientation')),
    ...openInputFields(t, genderIdentity, openPair('genderIdentity', 'Gender identity')),
  }),
});

type Input = (typeof updateDemographicsInput)['$inferInput'];

/** The fields that take a known value or any text of the service. */
export const openFields = ['race', 'ethnicity', 'sexualOrientation', 'genderIdentity'] as const;

/** The record of an input, as it is sent to the service. */
export function readDemographics(input: Input): NewDemographics {
  const { medicalProxy } = input;
  return {
    firstName: input.firstName,
    lastName: input.lastName,
    email: input.email,
    phoneNumber: input.phoneNumber,
    gender: input.gender,
    dob: toDay(input.dob),
    address: readAddress(input.address),
    medicalProxy: medicalProxy ? readMedicalProxy(medicalProxy) : null,
    race: readOpen(input, 'race'),
    ethnicity: readOpen(input, 'ethnicity'),
    sexualOrientation: readOpen(input, 'sexualOrientation'),
    genderIdentity: readOpen(input, 'genderIdentity'),
  };
}

export function readMedicalProxy(proxy: (typeof medicalProxyInput)['$inferInput']): NewMedicalProxy {
  const address = readAddress(proxy.address);
  return withNulls({ ...proxy, address }, 'email', 'householdIncome', 'householdSize');
}

function readAddress(address: Input['address']): NewDemographics['address'] {
  return withNulls(withCountryCode(address), 'secondLine', 'accessNotes');
}
