import { readUuid } from '../../graph/arguments.ts';
import { builder } from '../../graph/builder.ts';
import { type GraphContext, type LoaderKind, loadEach } from '../../graph/context.ts';
import { upstreamCallCost } from '../../graph/cost.ts';
import {
  featureNotEnabledRef,
  mutationResult,
  notFoundRef,
  userErrorRef,
} from '../../graph/mutation-result.ts';
import { needsScope } from '../../graph/needs-scope.ts';
import { openEnum, openEnumFields } from '../../graph/open-enum.ts';
import { addressRef } from '../address/graph.ts';
import { loadOrder } from '../order/read/actions.ts';
import { interpretation, orderRef } from '../order/read/graph.ts';
import type { CurrentOrder, Order } from '../order/read/rest-order.ts';
import { type DocumentNotReady, type DocumentTicket, requestDocumentTicket } from './actions.ts';
import { biomarkerResultRef, sampleDateFields, sourceMarkerRef } from './graph-biomarkers.ts';
import {
  getResultMetadata,
  getResults,
  type MissingResult,
  type OrderResults,
  type PerformingLaboratory,
  type ResultMetadata,
  type ResultSample,
} from './rest.ts';

const missingReason = openEnum('MissingResultReason', 'Why a result is missing, as far as it is known.', {
  QUANTITY_NOT_SUFFICIENT_FAILURE: 'There was too little of the sample.',
  COLLECTION_PROCESS_FAILURE: 'Something went wrong when the sample was taken.',
  DROP_OFF_FAILURE: 'Something went wrong on the way to the lab.',
  INTERNAL_LAB_FAILURE: 'Something went wrong in the lab.',
  ORDER_ENTRY_FAILURE: 'The order reached the lab wrongly.',
  NON_FAILURE: 'Nothing went wrong: the result is not given.',
  UNKNOWN_FAILURE: 'The lab does not say why.',
  PATIENT_CONDITION_FAILURE: "The patient's condition made the sample unusable.",
  MISSING_RESULT_CALC_FAILURE: 'It is calculated from a result that is missing.',
  MISSING_DEMO_AOE_CALC_FAILURE:
    'It is calculated from an answer or a detail of the patient that is missing.',
  INSUFFICIENT_VOLUME: 'The volume of the sample was too small.',
});

/** Results by order: the service has no call for several, so each is one call, made once per operation. */
const resultsOfOrder: LoaderKind<CurrentOrder, OrderResults | null> = {
  keyOf: (order) => order.id,
  batch: (service, orders) => loadEach(orders, (order) => getResults(service, order)),
};

/** The results of an order, or null before there are any. */
async function loadResults(context: GraphContext, { id }: Order): Promise<OrderResults | null> {
  const order = await loadOrder(context, id);
  return order && (await context.loaders.of(resultsOfOrder).load(order));
}

async function readMetadata(context: GraphContext, { id }: Order): Promise<ResultMetadata | null> {
  const order = await loadOrder(context, id);
  return order && (await getResultMetadata(context.service, order));
}

const metadataRef = builder.objectRef<ResultMetadata>('ResultMetadata').implement({
  description: 'What a lab says about the results of an order as a whole.',
  fields: (t) => ({
    statusRaw: t.exposeString('status', {
      description: 'How complete the results are, as the service sent it, such as final or partial.',
    }),
    ...openEnumFields(t, interpretation, {
      name: 'interpretation',
      description: 'What the results mean as a whole; null when the value is not one of these.',
      raw: 'The interpretation as the service sent it.',
    }),
    patientName: t.exposeString('patientName', {
      extensions: needsScope('read:profile'),
      description: 'Name of the patient, as the lab has it. Needs the scope read:profile.',
    }),
    age: t.exposeString('age', {
      extensions: needsScope('read:profile'),
      description: 'Age of the patient in years, as the lab has it. Needs the scope read:profile.',
    }),
    birthDateRaw: t.exposeString('birthDate', {
      extensions: needsScope('read:profile'),
      description:
        'Birth date of the patient as the lab wrote it, in any format. Needs the scope read:profile.',
    }),
    provider: t.exposeString('provider', { description: 'The physician who ordered the test.' }),
    laboratory: t.exposeString('laboratory', { description: 'The lab that reported the results.' }),
    cliaNumber: t.exposeString('cliaNumber', { description: "The lab's CLIA number." }),
    specimenNumber: t.exposeString('specimenNumber', { description: "The lab's number of the sample." }),
    ...sampleDateFields(t),
  }),
});

const missingResultRef = builder.objectRef<MissingResult>('MissingResult').implement({
  description: 'A result that the order should have brought and did not.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What was to be measured.' }),
    slug: t.exposeString('slug', { description: 'Its stable identifier.' }),
    ...openEnumFields(t, missingReason, {
      name: 'reason',
      description: 'Why it is missing, as the service infers it; null when the reason is not one of these.',
      raw: 'The reason as the service sent it.',
    }),
    note: t.exposeString('note', { description: 'What the lab noted about it.' }),
    loincCode: t.exposeString('loincCode', { description: 'Its LOINC code.' }),
    loincSlug: t.exposeString('loincSlug', { description: 'Identifier of its LOINC entry.' }),
    providerId: t.exposeString('providerId', { description: "The lab's own code of it." }),
    sourceMarkers: t.expose('sourceMarkers', {
      type: [sourceMarkerRef],
      nullable: false,
      description: 'The ordered markers it belongs to.',
    }),
  }),
});

const performingLaboratoryRef = builder.objectRef<PerformingLaboratory>('PerformingLaboratory').implement({
  description: 'A laboratory that worked on a sample.',
  fields: (t) => ({
    code: t.exposeString('code', {
      nullable: false,
      description: 'Its code, as the service sent it.',
    }),
    name: t.exposeString('name', { description: 'Its name.' }),
    phoneNumber: t.exposeString('phoneNumber', { description: 'Its phone number.' }),
    medicalDirector: t.exposeString('medicalDirector', {
      description: 'The physician who is responsible for its work.',
    }),
    address: t.expose('address', { type: addressRef, description: 'Its address.' }),
  }),
});

const sampleRef = builder.objectRef<ResultSample>('ResultSample').implement({
  description: 'A sample that results come from.',
  fields: (t) => ({
    sampleId: t.exposeString('sampleId', { description: 'The number on the sample.' }),
    controlNumber: t.exposeString('controlNumber', { description: "The lab's control number." }),
    ...sampleDateFields(t),
    laboratories: t.stringList({
      nullable: false,
      description: 'Names of the laboratories that worked on it.',
      resolve: (sample) => sample.laboratories.flatMap(({ name }) => name ?? []),
    }),
    performingLaboratories: t.expose('laboratories', {
      type: [performingLaboratoryRef],
      nullable: false,
      description: 'The laboratories that worked on it, with their addresses and medical directors.',
    }),
    fasting: t.exposeBoolean('fasting', { description: 'Whether the patient was fasting.' }),
    notes: t.exposeString('notes', { description: 'Clinical notes on it.' }),
    information: t.exposeString('information', {
      description: 'Clinical information that was sent with the sample.',
    }),
    totalVolume: t.exposeString('totalVolume', {
      description: 'The volume of the sample, with its unit, as the lab wrote it.',
    }),
  }),
});

const orderResultsRef = builder.objectRef<OrderResults>('OrderResults').implement({
  description: 'What an order brought: final, or the part that is there so far.',
  fields: (t) => ({
    metadata: t.expose('metadata', {
      type: metadataRef,
      description: 'What the lab says about the results as a whole.',
    }),
    biomarkers: t.expose('results', {
      type: [biomarkerResultRef],
      nullable: false,
      description: 'The results, in the order of the lab.',
    }),
    missing: t.expose('missing', {
      type: [missingResultRef],
      nullable: false,
      description: 'Results that will not come, each with its reason.',
    }),
    samples: t.expose('samples', {
      type: [sampleRef],
      nullable: false,
      description: 'The samples the results come from.',
    }),
  }),
});

builder.objectFields(orderRef, (t) => ({
  results: t.field({
    complexity: upstreamCallCost,
    type: orderResultsRef,
    description:
      'Its results, also partial ones; null before there are any. Viewer tokens need the scope read:results.',
    resolve: (order, _args, context) => loadResults(context, order),
  }),
  resultMetadata: t.field({
    complexity: upstreamCallCost,
    type: metadataRef,
    description:
      'The head of its results without the values; null before there are any. Viewer tokens need the scope read:results.',
    resolve: (order, _args, context) => readMetadata(context, order),
  }),
}));

const documentKind = builder.enumType('DocumentKind', {
  description: 'Which document of an order.',
  values: {
    RESULT: {
      description:
        'The report of the results, which names the patient. Viewer tokens need the scope read:results.',
    },
    REQUISITION: {
      description:
        'The form that orders the test from the lab, which names the patient. Viewer tokens need the scope read:profile.',
    },
  } as const,
});

const documentTicketRef = builder.objectRef<DocumentTicket>('DocumentTicket').implement({
  description:
    'Leave to fetch one document once, as PDF: whoever has it gets the document, so treat it as a secret.',
  fields: (t) => ({
    url: t.exposeString('url', {
      nullable: false,
      description: 'Where to GET it: a path on this gateway, to be used once and without a token.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: false,
      description: 'When it ends, after one minute at most.',
    }),
  }),
});

const documentNotReadyRef = builder.objectRef<DocumentNotReady>('DocumentNotReady').implement({
  description: 'The service does not have the document yet.',
  interfaces: [userErrorRef],
});

const createDocumentTicketResult = mutationResult(
  'CreateDocumentTicketResult',
  'What came of asking for a document.',
  [documentTicketRef, documentNotReadyRef, notFoundRef, featureNotEnabledRef],
);

const createDocumentTicketInput = builder.inputType('CreateDocumentTicketInput', {
  description: 'Which document of which order.',
  fields: (t) => ({
    orderId: t.id({ required: true, description: 'Id of the order (uuid).' }),
    kind: t.field({ type: documentKind, required: true, description: 'Which of its documents.' }),
  }),
});

builder.mutationField('createDocumentTicket', (t) =>
  t.field({
    type: createDocumentTicketResult,
    nullable: false,
    description:
      "Makes a short-lived ticket for one download of an order's document as PDF. Viewer tokens need the scope read:orders and that of the document.",
    args: {
      input: t.arg({ type: createDocumentTicketInput, required: true, description: 'Which document.' }),
    },
    resolve: (_root, { input }, context) =>
      requestDocumentTicket(context, {
        orderId: readUuid('input.orderId', input.orderId),
        kind: input.kind,
      }),
  }),
);
