import { readIntegerId, readOptionalUuid, readUuid, withNulls } from '../../../graph/arguments.ts';
import { builder } from '../../../graph/builder.ts';
import {
  idempotencyConflictRef,
  mutationResult,
  userErrorRef,
  usualRefusals,
} from '../../../graph/mutation-result.ts';
import { openInputFields, requireOpen } from '../../../graph/open-enum.ts';
import { needs } from '../../../graph/permissions.ts';
import { toDay } from '../../../parse/dates.ts';
import { collectionMethod } from '../../lab-test/graph.ts';
import { orderSetInput, readOrderSetInput } from '../../marker/graph-order-set.ts';
import { addressInputFields, countryField } from '../../user/graph-demographics.ts';
import { orderRef } from '../read/graph.ts';
import { billingType } from '../read/graph-parts.ts';
import type { OrderCreated, PhysicianRequired } from './actions.ts';
import { submitImport, submitOrder, submitTestkitOrder } from './actions.ts';
import { consentInput, patientPartFields, readConsents, readPatientPart } from './graph-patient-input.ts';
import type { NewOrder, NewTestkitOrder, OrderToImport } from './rest.ts';

const orderCreatedRef = builder.objectRef<OrderCreated>('OrderCreated').implement({
  description: 'The order was placed.',
  fields: (t) => ({
    order: t.expose('order', {
      type: orderRef,
      nullable: false,
      description: 'The order as the service answered it.',
    }),
    serviceStatus: t.exposeString('serviceStatus', {
      description: 'The result as the service names it, such as success.',
    }),
    serviceMessage: t.exposeString('serviceMessage', { description: "The service's own sentence about it." }),
    cursor: t.expose('cursor', {
      type: 'EventCursor',
      nullable: false,
      description: 'Send it to `orderUpdates` as `after` to see every change from here on.',
    }),
  }),
});

export const physicianRequiredRef = builder.objectRef<PhysicianRequired>('PhysicianRequired').implement({
  description:
    "The lab account is one on which the team's own physicians answer for orders, and none was named.",
  interfaces: [userErrorRef],
});

const createOrderResult = mutationResult('CreateOrderResult', 'The result of placing an order.', [
  orderCreatedRef,
  idempotencyConflictRef,
  physicianRequiredRef,
  ...usualRefusals,
]);

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
    ...openInputFields(t, collectionMethod, {
      name: 'collectionMethod',
      description: 'How the sample is taken; the way of the lab test when left out.',
      raw: 'How the sample is taken, as the service writes it, for a way that the enum lacks.',
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
    priority: t.boolean({ description: 'Whether the lab is asked to process it first.' }),
    ...openInputFields(t, billingType, {
      name: 'billingType',
      description: 'Who pays; the team when left out.',
      raw: 'Who pays, as the service writes it, for a value that the enum lacks.',
    }),
    icdCodes: t.stringList({ description: 'Diagnosis codes (ICD-10).' }),
    passthrough: t.string({ description: 'Any text of yours; given back on the order.' }),
    idempotencyKey: t.string({
      required: true,
      description: 'Your own key, new for each new order: repeating a call with it places no second order.',
    }),
  }),
});

const importOrderInput = builder.inputType('ImportOrderInput', {
  description: 'An order that was placed elsewhere and continues here.',
  fields: (t) => ({
    userId: t.id({ required: true, description: 'Id of the user it is for (uuid).' }),
    orderSet: t.field({ type: orderSetInput, required: true, description: 'What is tested.' }),
    ...openInputFields(t, collectionMethod, {
      name: 'collectionMethod',
      description: 'How the sample was taken; it must be given, here or as collectionMethodRaw.',
      raw: 'How the sample was taken, as the service writes it, for a way that the enum lacks.',
    }),
    ...patientPartFields(t),
    labAccountId: t.id({ description: 'Id of the lab account (uuid); it may still be pending.' }),
    ...openInputFields(t, billingType, {
      name: 'billingType',
      description: 'Who pays; it must be given, here or as billingTypeRaw.',
      raw: 'Who pays, as the service writes it, for a value that the enum lacks.',
    }),
    sampleId: t.string({
      required: true,
      description:
        'The number on the sample, which no other order has: repeating a call imports nothing twice.',
    }),
  }),
});

const shippingAddressInput = builder.inputType('ShippingAddressInput', {
  description: 'Where a kit is sent.',
  fields: (t) => ({
    receiverName: t.string({ required: true, description: 'Who receives the kit.' }),
    ...addressInputFields(t, { state: 'Region code, such as AZ.', zip: 'Postal code.' }),
    country: countryField(t),
    phoneNumber: t.string({
      required: true,
      description: 'Phone number in international format, such as +16025550100.',
    }),
  }),
});

const createTestkitOrderInput = builder.inputType('CreateTestkitOrderInput', {
  description: 'An order of a testkit that is registered later.',
  fields: (t) => ({
    userId: t.id({ required: true, description: 'Id of the user it is for (uuid).' }),
    labTestId: t.id({
      required: true,
      description: 'Id of the lab test (uuid); its method must be TESTKIT.',
    }),
    labAccountId: t.id({
      description: 'Id of the lab account it stands on (uuid); chosen by the service when left out.',
    }),
    shippingDetails: t.field({
      type: shippingAddressInput,
      required: true,
      description: 'Where the kit is sent.',
    }),
    idempotencyKey: t.string({
      required: true,
      description: 'Your own key, new for each new order: repeating a call with it never ships a second kit.',
    }),
    passthrough: t.string({ description: 'Any text of yours; given back on the order.' }),
  }),
});

function readNewOrder(input: typeof createOrderInput.$inferInput): NewOrder {
  return {
    userId: readUuid('input.userId', input.userId),
    orderSet: readOrderSetInput('input.orderSet', input.orderSet),
    collectionMethod: requireOpen('input', input, 'collectionMethod'),
    ...readPatientPart(input),
    labAccountId: readOptionalUuid('input.labAccountId', input.labAccountId),
    clinicalNotes: input.clinicalNotes ?? null,
    consents: readConsents(input.consents),
    aoeAnswers: (input.aoeAnswers ?? []).map(({ markerId, questionId, answer }, index) => ({
      markerId: readIntegerId(`input.aoeAnswers.${index}.markerId`, markerId),
      questionId: readIntegerId(`input.aoeAnswers.${index}.questionId`, questionId),
      answer,
    })),
    activateBy: input.activateBy ? toDay(input.activateBy) : null,
    updateReason: input.updateReason ?? null,
    priority: input.priority ?? null,
    billingType: requireOpen('input', input, 'billingType'),
    icdCodes: input.icdCodes ?? null,
    passthrough: input.passthrough ?? null,
  };
}

function readImport(input: typeof importOrderInput.$inferInput): OrderToImport {
  return {
    userId: readUuid('input.userId', input.userId),
    orderSet: readOrderSetInput('input.orderSet', input.orderSet),
    collectionMethod: requireOpen('input', input, 'collectionMethod') ?? '',
    ...readPatientPart(input),
    labAccountId: readOptionalUuid('input.labAccountId', input.labAccountId),
    billingType: requireOpen('input', input, 'billingType') ?? '',
    sampleId: input.sampleId.trim(),
  };
}

function readNewTestkit(input: typeof createTestkitOrderInput.$inferInput): NewTestkitOrder {
  const { userId, labTestId, labAccountId, shippingDetails, passthrough } = input;
  return {
    userId: readUuid('input.userId', userId),
    labTestId: readUuid('input.labTestId', labTestId),
    labAccountId: readOptionalUuid('input.labAccountId', labAccountId),
    shipping: withNulls(shippingDetails, 'secondLine'),
    passthrough: passthrough ?? null,
  };
}

builder.mutationFields((t) => ({
  createOrder: t.field({
    type: createOrderResult,
    extensions: needs('new-orders'),
    description: 'Places an order.',
    args: { input: t.arg({ type: createOrderInput, required: true, description: 'The order.' }) },
    resolve: (_root, { input }, context) => submitOrder(context, readNewOrder(input), input.idempotencyKey),
  }),
  importOrder: t.field({
    type: createOrderResult,
    extensions: needs('new-orders'),
    description: 'Imports an order whose sample was registered elsewhere. The patient gets no message.',
    args: { input: t.arg({ type: importOrderInput, required: true, description: 'The order.' }) },
    resolve: (_root, { input }, context) => submitImport(context, readImport(input)),
  }),
  createTestkitOrder: t.field({
    type: createOrderResult,
    extensions: needs('new-orders'),
    description: 'Orders a testkit that the patient registers later.',
    args: { input: t.arg({ type: createTestkitOrderInput, required: true, description: 'The order.' }) },
    resolve: (_root, { input }, context) =>
      submitTestkitOrder(context, readNewTestkit(input), input.idempotencyKey),
  }),
}));
