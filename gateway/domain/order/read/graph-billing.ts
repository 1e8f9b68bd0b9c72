import { builder } from '../../../graph/builder.ts';
import { openEnum } from '../../../graph/open-enum.ts';
import { orderRef } from './graph.ts';
import type { Order } from './rest.ts';

export const billingType = openEnum('OrderBillingType', 'Who pays for an order.', {
  CLIENT_BILL: 'The team.',
  COMMERCIAL_INSURANCE: "The patient's insurance.",
  PATIENT_BILL_PASSTHROUGH: 'The patient, through the team.',
  PATIENT_BILL: 'The patient.',
});

const orderPhysicianRef = builder.objectRef<NonNullable<Order['physician']>>('OrderPhysician').implement({
  description: 'The physician who answers for an order.',
  fields: (t) => ({
    firstName: t.exposeString('firstName', { description: 'First name.' }),
    lastName: t.exposeString('lastName', { description: 'Last name.' }),
    npi: t.exposeString('npi', { description: 'National provider identifier: ten digits.' }),
  }),
});

builder.objectFields(orderRef, (t) => ({
  physician: t.expose('physician', {
    type: orderPhysicianRef,
    description: 'The physician who answers for it; null until one is known.',
  }),
  billingType: t.field({
    type: billingType.ref,
    description: 'Who pays; null when the way is not one of these.',
    resolve: (order) => billingType.known(order.billingType),
  }),
  billingTypeRaw: t.string({
    description: 'Who pays, as the service sent it.',
    resolve: (order) => order.billingType,
  }),
  priority: t.exposeBoolean('priority', { description: 'Whether the lab is asked to hurry.' }),
  icdCodes: t.stringList({
    nullable: false,
    description: 'Diagnosis codes (ICD-10) given with it.',
    resolve: (order) => [...order.icdCodes],
  }),
  hasMissingResults: t.exposeBoolean('hasMissingResults', {
    description: 'Whether results stay away that the lab test should have; null before results.',
  }),
  expectedResultBy: t.expose('expectedResultBy', {
    type: 'Date',
    description: 'The day results are expected.',
  }),
  worstCaseResultBy: t.expose('worstCaseResultBy', {
    type: 'Date',
    description: 'The day by which results should be there at the latest.',
  }),
}));
