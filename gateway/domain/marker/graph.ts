import { readIntegerId, readOptionalUuid, readRenamed, renamedTo } from '../../graph/arguments.ts';
import { builder } from '../../graph/builder.ts';
import { type GraphContext, type LoaderKind, loadEach } from '../../graph/context.ts';
import { defineNode } from '../../graph/node.ts';
import { openEnum, openEnumFields, usualTexts } from '../../graph/open-enum.ts';
import {
  type Connection,
  type ConnectionArguments,
  connectionCost,
  connectionField,
} from '../../graph/pagination/connection.ts';
import { listCursors } from '../../graph/pagination/cursors.ts';
import { offsetConnection, pagedConnection } from '../../graph/pagination/paged-connection.ts';
import { needs } from '../../graph/permissions.ts';
import type { Page } from '../../service/calls.ts';
import { orderSetInput, readOrderSet } from './graph-order-set.ts';
import {
  type Answer,
  catalogueLimits,
  type ExpectedResult,
  getMarkers,
  type Loinc,
  listMarkers,
  listOrderSetMarkers,
  listWholeCatalogue,
  type Marker,
  type OrderSet,
  type PageRequest,
  type Question,
} from './rest.ts';

const markerType = openEnum('MarkerType', 'What kind of thing a marker is.', {
  BIOMARKER: 'One measured quantity.',
  PANEL: 'Several quantities measured together.',
});

const loincRef = builder.objectRef<Loinc>('Loinc').implement({
  description: 'A standard name of a measured quantity (LOINC).',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: "The service's id of the LOINC entry." }),
    name: t.exposeString('name', { description: 'Its name.' }),
    slug: t.exposeString('slug', { description: 'Its stable identifier.' }),
    code: t.exposeString('code', { description: 'The LOINC code, such as 2345-7.' }),
    unit: t.exposeString('unit', { description: 'The unit results come in.' }),
  }),
});

export const expectedResultRef = builder.objectRef<ExpectedResult>('ExpectedResult').implement({
  description: 'One result that a marker is expected to give.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: "The service's id of the expected result." }),
    name: t.exposeString('name', { description: 'Its name.' }),
    slug: t.exposeString('slug', { description: 'Its stable identifier.' }),
    isRequired: t.exposeBoolean('isRequired', {
      description: 'Whether the results are incomplete without it.',
    }),
    labId: t.exposeInt('labId', { description: 'Id of the lab that measures it.' }),
    providerId: t.exposeString('providerId', { description: "The lab's own code for it." }),
    loinc: t.expose('loinc', {
      type: loincRef,
      description: 'Its standard name; null where the service has none.',
    }),
  }),
});

export const markerRef = builder.objectRef<Marker>('Marker');
markerRef.implement({
  description: 'Something a lab measures (a biomarker) or a group of such things (a panel).',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: "The service's id of the marker (integer)." }),
    name: t.exposeString('name', { description: 'Its name.' }),
    slug: t.exposeString('slug', { description: 'Its stable identifier.' }),
    description: t.exposeString('description', { description: 'What it measures, in words.' }),
    labId: t.exposeInt('labId', { description: 'Id of the lab that measures it.' }),
    providerId: t.exposeString('providerId', {
      description: "The lab's own code for it; leading zeros matter.",
    }),
    ...openEnumFields(t, markerType, { name: 'type', ...usualTexts('What kind of thing it is', 'kind') }),
    unit: t.exposeString('unit', { description: 'The unit it is measured in.' }),
    price: t.exposeString('price', {
      description: 'Its price as the service sent it; placeholder text is possible.',
    }),
    isOrderable: t.exposeBoolean('isOrderable', {
      description: 'Whether it can be ordered; null when the service does not say.',
    }),
    isALaCarteEnabled: t.exposeBoolean('isALaCarteEnabled', {
      description: 'Whether it can be ordered on its own, without a lab test.',
    }),
    commonTurnaroundDays: t.exposeInt('commonTurnaroundDays', {
      description: 'How many days its results usually take.',
    }),
    worstCaseTurnaroundDays: t.exposeInt('worstCaseTurnaroundDays', {
      description: 'How many days its results take at most.',
    }),
    expectedResults: t.expose('expectedResults', {
      type: [expectedResultRef],
      nullable: false,
      description: 'The results it is expected to give.',
    }),
  }),
});

/** Markers by id: all that one operation needs at once are one call for each 100. */
const markersById: LoaderKind<number, Marker | null> = {
  keyOf: String,
  batch: (service, ids) => getMarkers(service.forShowing, ids),
};

/** The marker with this id, or null. */
export function loadMarker(context: GraphContext, id: number): Promise<Marker | null> {
  return context.loaders.of(markersById).load(id);
}

defineNode(markerRef, {
  idOf: (marker) => marker.id,
  ids: 'integer',
  needs: 'read:catalogue',
  load: (context, id) => loadMarker(context, Number(id)),
});

/** Fields that show a list of markers. */
export const markerList = connectionField('Marker', markerRef, 'markers');

interface OrderSetPage {
  readonly set: OrderSet;
  readonly request: PageRequest;
}

/** Pages of order sets: orders of the same lab test share one call per operation. */
const orderSetPages: LoaderKind<OrderSetPage, Page<Marker>> = {
  keyOf: (key) => JSON.stringify(key),
  batch: (service, keys) =>
    loadEach(keys, ({ set, request }) => listOrderSetMarkers(service.forShowing, set, request)),
};

/** The markers of an order set, as a connection; equal pages are read once per operation. */
export function loadOrderSetMarkers(
  context: GraphContext,
  set: OrderSet,
  args: ConnectionArguments,
): Promise<Connection<Marker>> {
  return pagedConnection(args, listCursors(context, ['orderSetMarkers', set]), (request) =>
    context.loaders.of(orderSetPages).load({ set, request }),
  );
}

const ofLab = 'Only markers of the lab with this slug.';
const withText = 'Only markers whose name or test code has this text.';

const markerFilter = builder.inputType('MarkerFilter', {
  description: 'Which markers; all given parts must match.',
  fields: (t) => ({
    labSlug: t.string({ description: ofLab }),
    name: t.string({ description: withText }),
    labAccountId: t.id({ description: 'Only markers that can be had on this lab account (uuid).' }),
  }),
});

builder.queryFields((t) => ({
  marker: t.field({
    type: markerRef,
    extensions: needs('read:catalogue'),
    description: 'One marker by id; null when there is none that can be ordered.',
    args: { id: t.arg.id({ required: true, description: "The service's id of the marker (integer)." }) },
    resolve: (_root, args, context) => loadMarker(context, readIntegerId('id', args.id)),
  }),
  markers: t.field({
    ...markerList,
    extensions: needs('read:catalogue'),
    description: 'The markers that can be ordered, in the order of the service.',
    args: {
      ...markerList.args,
      filter: t.arg({ type: markerFilter, description: 'Which markers; all of them when left out.' }),
      labSlug: t.arg.string({ deprecationReason: renamedTo('filter'), description: ofLab }),
      name: t.arg.string({ deprecationReason: renamedTo('filter'), description: withText }),
    },
    resolve: (_root, { filter, labSlug: olderSlug, name: olderName, ...args }, context) => {
      const labSlug = readRenamed({ 'filter.labSlug': filter?.labSlug, labSlug: olderSlug });
      const name = readRenamed({ 'filter.name': filter?.name, name: olderName });
      const labAccountId = readOptionalUuid('filter.labAccountId', filter?.labAccountId) ?? undefined;
      // Without an account it is the list of earlier versions, to which their cursors belong.
      const account = labAccountId === undefined ? [] : [labAccountId];
      return pagedConnection(args, listCursors(context, ['markers', labSlug, name, ...account]), (page) =>
        listMarkers(context.service.forShowing, { labSlug, name, labAccountId }, page),
      );
    },
  }),
  orderSetMarkers: t.field({
    ...markerList,
    extensions: needs('read:orders'),
    description: 'What a set of lab tests and add-ons measures together.',
    args: {
      ...markerList.args,
      orderSet: t.arg({
        type: orderSetInput,
        description: 'The lab tests and markers, as an order has them.',
      }),
      labAccountId: t.arg.id({ description: 'The lab account that the order is to stand on (uuid).' }),
      labTestIds: t.arg.idList({
        deprecationReason: renamedTo('orderSet'),
        description: 'Ids of the lab tests in the set (uuid).',
      }),
      addOnProviderIds: t.arg.stringList({
        deprecationReason: renamedTo('orderSet'),
        description:
          "The lab's own codes of single markers to add, at most 100; cannot be combined with addOnMarkerIds.",
      }),
      addOnMarkerIds: t.arg.idList({
        deprecationReason: renamedTo('orderSet'),
        description: 'Ids of single markers to add, at most 100; cannot be combined with addOnProviderIds.',
      }),
    },
    resolve: (_root, args, context) => loadOrderSetMarkers(context, readOrderSet(args), args),
  }),
}));

const questionType = openEnum('QuestionType', 'How a question is answered.', {
  CHOICE: 'With the code of one of its answers.',
  MULTI_CHOICE: 'With the codes of some of its answers.',
  TEXT: 'With any text.',
  NUMERIC: 'With a number.',
});

const answerRef = builder.objectRef<Answer>('QuestionAnswer').implement({
  description: 'One answer that a question offers.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: "The service's id of the answer (integer)." }),
    code: t.exposeString('code', { description: "The lab's code of the answer." }),
    value: t.exposeString('value', { description: 'The answer in words.' }),
  }),
});

const questionRef = builder.objectRef<Question>('MarkerQuestion').implement({
  description: 'A question that a lab asks when a marker is ordered.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: "The service's id of the question (integer)." }),
    code: t.exposeString('code', { description: "The lab's code of the question." }),
    text: t.exposeString('text', { description: 'The question in words.' }),
    isRequired: t.exposeBoolean('isRequired', {
      description: 'Whether an order without an answer is refused.',
    }),
    ...openEnumFields(t, questionType, {
      name: 'type',
      description: 'How it is answered; null when the way is not one of these.',
      raw: 'The way of answering as the service sent it.',
    }),
    sequence: t.exposeInt('sequence', { description: 'Its place among the questions of the marker.' }),
    constraint: t.exposeString('constraint', {
      description: 'The pattern that an answer must match, as the service sent it.',
    }),
    defaultAnswer: t.exposeString('defaultAnswer', {
      description: 'The answer that counts if none is given.',
    }),
    answers: t.expose('answers', {
      type: [answerRef],
      nullable: false,
      description: 'The answers it offers; none where it takes text or a number.',
    }),
  }),
});

builder.objectField(markerRef, 'questions', (t) =>
  t.field({
    type: [questionRef],
    nullable: false,
    description: 'What the lab asks when it is ordered (ask at order entry), in the order of asking.',
    resolve: (marker) => marker.questions,
  }),
);

/** The catalogue is read once per operation, for any number of codes. */
const markersByLoinc: LoaderKind<string, Page<Marker>> = {
  keyOf: (code) => code,
  batch: async (service, codes) => {
    const { markers, isWhole } = await listWholeCatalogue(service.forShowing);
    return codes.map((code) => {
      const rows = markers.filter(({ expectedResults }) =>
        expectedResults.some(({ loinc }) => loinc?.code === code),
      );
      return { rows, total: isWhole ? rows.length : null, pages: null, nextCursor: null, from: null };
    });
  },
};

builder.objectField(loincRef, 'markers', (t) =>
  t.field({
    ...markerList,
    // The catalogue is read once per operation, for any number of codes.
    complexity: (args) => ({ ...connectionCost(args), field: 1 }),
    extensions: needs('read:catalogue'),
    description: `The orderable markers of all labs that measure this LOINC code; null where the code is unknown. The catalogue is read once per operation, in at most ${catalogueLimits.maxPages} calls of ${catalogueLimits.pageSize} markers; totalCount is null where it is longer than that.`,
    resolve: ({ code }, args, context) =>
      code === null
        ? null
        : offsetConnection(args, listCursors(context, ['loincMarkers', code]), async ({ offset, limit }) => {
            const { rows, ...page } = await context.loaders.of(markersByLoinc).load(code);
            return { ...page, rows: rows.slice(offset, offset + limit), from: offset };
          }),
  }),
);
