import { builder } from '../../graph/builder.ts';
import { upstreamCallCost } from '../../graph/cost.ts';
import { openEnumFields } from '../../graph/open-enum.ts';
import { addressRef } from '../address/graph.ts';
import { userRef } from './graph.ts';
import { ethnicity, genderIdentity, race, sexualOrientation } from './graph-person-enums.ts';
import { type Demographics, getDemographics, type MedicalProxy } from './rest-demographics.ts';

export const medicalProxyRef = builder.objectRef<MedicalProxy>('MedicalProxy').implement({
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

interface SelfDescription {
  readonly race: string | null;
  readonly ethnicity: string | null;
  readonly sexualOrientation: string | null;
  readonly genderIdentity: string | null;
}

type PersonFields<Person extends SelfDescription> = Parameters<
  Parameters<ReturnType<typeof builder.objectRef<Person>>['implement']>[0]['fields'] & {}
>[0];

/** What people say of themselves, wherever a person is shown. */
export function selfDescriptionFields<Person extends SelfDescription>(t: PersonFields<Person>) {
  return {
    ...openEnumFields(t, race, {
      name: 'race',
      description: 'Race; null when it is not set or not one of these.',
      raw: 'Race as the service sent it.',
    }),
    ...openEnumFields(t, ethnicity, {
      name: 'ethnicity',
      description: 'Ethnicity; null when it is not set or not one of these.',
      raw: 'Ethnicity as the service sent it.',
    }),
    ...openEnumFields(t, sexualOrientation, {
      name: 'sexualOrientation',
      description: 'Sexual orientation; null when it is not set or not one of these.',
      raw: 'Sexual orientation as the service sent it.',
    }),
    ...openEnumFields(t, genderIdentity, {
      name: 'genderIdentity',
      description: 'Gender identity; null when it is not set or not one of these.',
      raw: 'Gender identity as the service sent it.',
    }),
  };
}

export const demographicsRef = builder.objectRef<Demographics>('Demographics').implement({
  description: 'Who a user is, as the portal and the labs need to know it.',
  fields: (t) => ({
    firstName: t.exposeString('firstName', { description: 'First name.' }),
    lastName: t.exposeString('lastName', { description: 'Last name.' }),
    email: t.exposeString('email', { description: 'E-mail address.' }),
    phoneNumber: t.exposeString('phoneNumber', { description: 'Phone number in international format.' }),
    gender: t.exposeString('gender', { description: 'Gender, as the service has it.' }),
    dob: t.expose('dob', { type: 'Date', description: 'Date of birth.' }),
    address: t.expose('address', { type: addressRef, description: 'Home address.' }),
    medicalProxy: t.expose('medicalProxy', {
      type: medicalProxyRef,
      description: 'Who answers for the person; for people under 18.',
    }),
    ...selfDescriptionFields(t),
  }),
});

builder.objectField(userRef, 'demographics', (t) =>
  t.field({
    complexity: upstreamCallCost,
    type: demographicsRef,
    description: 'Who the user is; null where none are set. Needs the scope read:profile.',
    resolve: (user, _args, context) => getDemographics(context.service, user.id),
  }),
);
