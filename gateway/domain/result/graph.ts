import { readUuid, renamedTo } from '../../graph/arguments.ts';
import { builder } from '../../graph/builder.ts';
import { type GraphContext, type LoaderKind, loadEach } from '../../graph/context.ts';
import { upstreamCallCost } from '../../graph/cost.ts';
import { mutationResult, userErrorRef, usualRefusals } from '../../graph/mutation-result.ts';
import { openEnumFields } from '../../graph/open-enum.ts';
import { needs, needsOneOf } from '../../graph/permissions.ts';
import { loadOrder, loadShownOrder } from '../order/read/actions.ts';
import { interpretation, orderRef } from '../order/read/graph.ts';
import type { CurrentOrder, Order } from '../order/read/rest-order.ts';
import type { ServiceEvent } from '../service-event/actions.ts';
import { serviceEventType } from '../service-event/graph.ts';
import { type DocumentNotReady, type DocumentTicket, requestDocumentTicket } from './actions.ts';
import { biomarkerResultRef, missingResultRef, sampleDateFields, sampleRef } from './graph-parts.ts';
import {
  getResultMetadata,
  getResults,
  type OrderResults,
  type ResultMetadata,
  readCriticalResult,
} from './rest.ts';

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
      extensions: needs('read:profile'),
      description: 'Name of the patient, as the lab has it.',
    }),
    age: t.exposeString('age', {
      extensions: needs('read:profile'),
      description: 'Age of the patient in years, as the lab has it.',
    }),
    dobRaw: t.exposeString('birthDate', {
      extensions: needs('read:profile'),
      description: 'Date of birth of the patient as the lab wrote it, in any format.',
    }),
    birthDateRaw: t.exposeString('birthDate', {
      extensions: needs('read:profile'),
      deprecationReason: renamedTo('dobRaw'),
      description: 'Date of birth of the patient as the lab wrote it, in any format.',
    }),
    provider: t.exposeString('provider', { description: 'The physician who ordered the test.' }),
    labName: t.exposeString('laboratory', { description: 'The lab that reported the results.' }),
    laboratory: t.exposeString('laboratory', {
      deprecationReason: renamedTo('labName'),
      description: 'The lab that reported the results.',
    }),
    cliaNumber: t.exposeString('cliaNumber', { description: "The lab's CLIA number." }),
    specimenNumber: t.exposeString('specimenNumber', { description: "The lab's number of the sample." }),
    ...sampleDateFields(t),
  }),
});

const orderResultsRef = builder.objectRef<OrderResults>('OrderResults').implement({
  description: 'The results of an order: all of them, or those that are there so far.',
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
    extensions: needs('read:results'),
    description: 'Its results, also partial ones; null before there are any.',
    resolve: (order, _args, context) => loadResults(context, order),
  }),
  resultMetadata: t.field({
    complexity: upstreamCallCost,
    type: metadataRef,
    extensions: needs('read:results'),
    description: 'The head of its results without the values; null before there are any.',
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
    'A ticket for one download of a document as PDF. It is a secret: anybody who has it can download the document.',
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
  'The result of asking for a document.',
  [documentTicketRef, documentNotReadyRef, ...usualRefusals],
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
    extensions: needsOneOf(['read:orders', 'read:profile'], ['read:orders', 'read:results']),
    description:
      "Creates a short-lived ticket for one download of an order's document as PDF. The second scope is that of the document.",
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

const criticalOf = ({ type, payload }: ServiceEvent) =>
  type === 'labtest.result.critical' ? readCriticalResult(payload) : null;

serviceEventType('ResultCritical', {
  description: 'A result needs attention at once. The event carries no values: read them from the order.',
  read: criticalOf,
  fields: (t) => ({
    orderId: t.id({
      description: 'Id of the order whose result it is (uuid).',
      resolve: (event) => criticalOf(event)?.orderId,
    }),
    order: t.field({
      type: orderRef,
      description: 'The order as it is now.',
      resolve: (event, _args, context) => {
        const orderId = criticalOf(event)?.orderId ?? null;
        return orderId === null ? null : loadShownOrder(context, orderId);
      },
    }),
    sampleId: t.string({
      description: 'The number on the sample.',
      resolve: (event) => criticalOf(event)?.sampleId,
    }),
    statusRaw: t.string({
      description: 'How complete the results are, as the service sent it.',
      resolve: (event) => criticalOf(event)?.status,
    }),
    ...openEnumFields(t, interpretation, {
      name: 'interpretation',
      description: 'What the result means; null when the value is not one of these.',
      raw: 'The interpretation as the service sent it.',
      read: (event) => criticalOf(event)?.interpretation ?? null,
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When the service made the result.',
      resolve: (event) => criticalOf(event)?.createdAt,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      description: 'When the result last changed.',
      resolve: (event) => criticalOf(event)?.updatedAt,
    }),
  }),
});
