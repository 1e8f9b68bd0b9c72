import { readIds, readIntegerId, readOptionalUuid, readUuid, readUuids } from '../../../graph/arguments.ts';
import { builder } from '../../../graph/builder.ts';
import { collectionMethod } from '../../lab-test/graph.ts';
import { billingType } from '../read/graph-billing.ts';
import { submitRegistration } from '../register/actions.ts';
import { submitImport, submitOrder } from './actions-create-order.ts';
import {
  consentInput,
  patientPartFields,
  readConsents,
  readPatientPart,
  toDay,
} from './graph-patient-input.ts';
import { createOrderResult, registerTestkitResult } from './graph-result.ts';
import type { NewOrder, OrderSetRequest, OrderToImport, Registration } from './rest-request.ts';

const addOnInput = builder.inputType('OrderAddOnInput', {
  description: 'Markers on top of the lab tests, named by either kind of id.',
  fields: (t) => ({
    markerIds: t.idList({ description: 'Ids of markers, 100 at most.' }),
    providerIds: t.stringList({ description: "The lab's own codes of markers, 100 at most." }),
  }),
});

const orderSetInput = builder.inputType('OrderSetInput', {
  description: 'What is to be tested: lab tests, markers, or both, of one lab and one collection method.',
  fields: (t) => ({
    labTestIds: t.idList({ description: 'Ids of lab tests (uuid), 100 at most.' }),
    addOn: t.field({ type: addOnInput, description: 'Markers on top; needs collectionMethod.' }),
  }),
});

const aoeAnswerInput = builder.inputType('AoeAnswerInput', {
  description: 'The answer to a question that a marker asks when it is ordered.',
  fields: (t) => ({
    markerId: t.id({ required: true, description: 'Id of the marker that asks.' }),
    questionId: t.id({ required: true, description: 'Id of the question.' }),
    answer: t.string({ required: true, description: 'The answer, or the code of a choice.' }),
  }),
});

const updateReason = builder.enumType('OrderUpdateReason', {
  description: 'Why an order is placed anew.',
  values: { INCORRECT_LAB: { description: 'The first one went to the wrong lab.' } } as const,
});

const createOrderInput = builder.inputType('CreateOrderInput', {
  description: 'An order of lab tests and markers for a patient.',
  fields: (t) => ({
    userId: t.id({ required: true, description: 'Id of the user it is for (uuid).' }),
    orderSet: t.field({ type: orderSetInput, required: true, description: 'What is to be tested.' }),
    collectionMethod: t.field({
      type: collectionMethod.ref,
      description: 'How the sample is taken; the way of the lab test when left out.',
    }),
    ...patientPartFields(t),
    labAccountId: t.id({
      description: 'Id of the lab account it stands on (uuid); chosen by the service when left out.',
    }),
    clinicalNotes: t.string({ description: 'Comments for the lab, 1,000 characters at most.' }),
    consents: t.field({ type: [consentInput], description: 'What the patient has agreed to.' }),
    aoeAnswers: t.field({ type: [aoeAnswerInput], description: 'Answers to the questions of the markers.' }),
    activateBy: t.field({ type: 'Date', description: 'The day it becomes active; at once when left out.' }),
    updateReason: t.field({ type: updateReason, description: 'Why it replaces an earlier order.' }),
    priority: t.boolean({ description: 'Whether the lab is asked to hurry.' }),
    billingType: t.field({ type: billingType.ref, description: 'Who pays; the team when left out.' }),
    icdCodes: t.stringList({ description: 'Diagnosis codes (ICD-10).' }),
    passthrough: t.string({ description: 'Any text of yours; given back on the order.' }),
    idempotencyKey: t.string({
      required: true,
      description: 'Your own key, new for each new order: repeating a call with it places no second order.',
    }),
  }),
});

const importOrderInput = builder.inputType('ImportOrderInput', {
  description: 'An order that was placed elsewhere and goes on here.',
  fields: (t) => ({
    userId: t.id({ required: true, description: 'Id of the user it is for (uuid).' }),
    orderSet: t.field({ type: orderSetInput, required: true, description: 'What is tested.' }),
    collectionMethod: t.field({
      type: collectionMethod.ref,
      required: true,
      description: 'How the sample was taken.',
    }),
    ...patientPartFields(t),
    labAccountId: t.id({ description: 'Id of the lab account (uuid); it may still be pending.' }),
    billingType: t.field({ type: billingType.ref, required: true, description: 'Who pays.' }),
    sampleId: t.string({
      required: true,
      description:
        'The number on the sample, which no other order has: repeating a call imports nothing twice.',
    }),
  }),
});

const registerTestkitInput = builder.inputType('RegisterTestkitInput', {
  description: 'Who uses a testkit.',
  fields: (t) => ({
    sampleId: t.string({ required: true, description: 'The number printed on the kit.' }),
    userId: t.id({
      description: 'Id of the user who takes the kit over (uuid); left out, it stays with its user.',
    }),
    ...patientPartFields(t),
    consents: t.field({ type: [consentInput], description: 'What the patient has agreed to.' }),
  }),
});

function readOrderSet(input: typeof orderSetInput.$inferInput): OrderSetRequest {
  const { addOn } = input;
  return {
    labTestIds: readUuids('input.orderSet.labTestIds', input.labTestIds) ?? [],
    addOn: addOn
      ? {
          markerIds: readIds('input.orderSet.addOn.markerIds', addOn.markerIds).map((id) =>
            readIntegerId('input.orderSet.addOn.markerIds', id),
          ),
          providerIds: readIds('input.orderSet.addOn.providerIds', addOn.providerIds),
        }
      : null,
  };
}

function readNewOrder(input: typeof createOrderInput.$inferInput): NewOrder {
  return {
    userId: readUuid('input.userId', input.userId),
    orderSet: readOrderSet(input.orderSet),
    collectionMethod: input.collectionMethod?.toLowerCase() ?? null,
    ...readPatientPart(input),
    labAccountId: readOptionalUuid('input.labAccountId', input.labAccountId),
    clinicalNotes: input.clinicalNotes ?? null,
    consents: readConsents(input.consents),
    aoeAnswers: (input.aoeAnswers ?? []).map(({ markerId, questionId, answer }) => ({
      markerId: readIntegerId('input.aoeAnswers.markerId', markerId),
      questionId: readIntegerId('input.aoeAnswers.questionId', questionId),
      answer,
    })),
    activateBy: input.activateBy ? toDay(input.activateBy) : null,
    updateReason: input.updateReason ?? null,
    priority: input.priority ?? null,
    billingType: input.billingType?.toLowerCase() ?? null,
    icdCodes: input.icdCodes ?? null,
    passthrough: input.passthrough ?? null,
  };
}

function readImport(input: typeof importOrderInput.$inferInput): OrderToImport {
  return {
    userId: readUuid('input.userId', input.userId),
    orderSet: readOrderSet(input.orderSet),
    collectionMethod: input.collectionMethod.toLowerCase(),
    ...readPatientPart(input),
    labAccountId: readOptionalUuid('input.labAccountId', input.labAccountId),
    billingType: input.billingType.toLowerCase(),
    sampleId: input.sampleId.trim(),
  };
}

function readRegistration(input: typeof registerTestkitInput.$inferInput): Registration {
  return {
    userId: readOptionalUuid('input.userId', input.userId),
    sampleId: input.sampleId.trim(),
    ...readPatientPart(input),
    consents: readConsents(input.consents),
  };
}

builder.mutationFields((t) => ({
  createOrder: t.field({
    type: createOrderResult,
    nullable: false,
    description: 'Places an order. Viewer tokens need the scope write:orders.',
    args: { input: t.arg({ type: createOrderInput, required: true, description: 'The order.' }) },
    resolve: (_root, { input }, context) => submitOrder(context, readNewOrder(input), input.idempotencyKey),
  }),
  importOrder: t.field({
    type: createOrderResult,
    nullable: false,
    description:
      'Takes over an order whose sample was registered elsewhere; the patient is not written to. Viewer tokens need the scope write:orders.',
    args: { input: t.arg({ type: importOrderInput, required: true, description: 'The order.' }) },
    resolve: (_root, { input }, context) => submitImport(context, readImport(input)),
  }),
  registerTestkit: t.field({
    type: registerTestkitResult,
    nullable: false,
    description:
      'Registers a testkit by the number on it; another user may take it over, and the order moves there. Viewer tokens need the scopes read:orders and write:orders and register only their own kits.',
    args: { input: t.arg({ type: registerTestkitInput, required: true, description: 'Who uses the kit.' }) },
    resolve: (_root, { input }, context) => submitRegistration(context, readRegistration(input)),
  }),
}));
