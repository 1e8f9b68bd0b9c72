import { builder } from '../../../graph/builder.ts';
import { medicalProxyRef, selfDescriptionFields } from '../../user/graph-demographics.ts';
import type { Order } from './rest.ts';

export const patientDetailsRef = builder
  .objectRef<NonNullable<Order['patient']>>('PatientDetails')
  .implement({
    description: 'The patient of an order.',
    fields: (t) => ({
      firstName: t.exposeString('firstName', { description: 'First name.' }),
      lastName: t.exposeString('lastName', { description: 'Last name.' }),
      dob: t.expose('dob', { type: 'Date', description: 'Date of birth.' }),
      gender: t.exposeString('gender', { description: 'Gender, as the service has it.' }),
      phoneNumber: t.exposeString('phoneNumber', { description: 'Phone number in international format.' }),
      email: t.exposeString('email', { description: 'E-mail address.' }),
      medicalProxy: t.expose('medicalProxy', {
        type: medicalProxyRef,
        description: 'Who answers for the patient; for people under 18.',
      }),
      ...selfDescriptionFields(t),
    }),
  });
