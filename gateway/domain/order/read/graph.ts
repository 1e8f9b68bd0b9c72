import { readUuid, renamedTo } from '../../../graph/arguments.ts';
import { builder } from '../../../graph/builder.ts';
import type { GraphContext } from '../../../graph/context.ts';
import { upstreamCallCost } from '../../../graph/cost.ts';
import { defineNode } from '../../../graph/node.ts';
import { openEnum, openEnumFields, reportUnknown, usualTexts } from '../../../graph/open-enum.ts';
import type { ConnectionArguments } from '../../../graph/pagination/connection.ts';
import { needs } from '../../../graph/permissions.ts';
import { collectionMethod, labTestRef } from '../../lab-test/graph.ts';
import { loadOrderSetMarkers, markerList } from '../../marker/graph.ts';
import { loadUser, userRef } from '../../user/graph.ts';
import { loadShownOrder } from './actions.ts';
import type { Order, OrderEvent } from './rest-order.ts';
import { type OrderStatus, type OrderStep, orderSteps, readOrderStatus } from './rest-status.ts';

/** Shared with the results, which use the same words. */
export const interpretation = openEnum(
  'Interpretation',
  { description: 'What the results of an order mean as a whole.', saysNothing: ['unknown'] },
  {
    NORMAL: 'Within the expected ranges.',
    ABNORMAL: 'Outside an expected range.',
    CRITICAL: 'Needs attention at once.',
  },
);

/** Of results, and of those that a simulated order is to have. */
export const resultType = openEnum('ResultType', 'What kind of value a result has.', {
  NUMERIC: 'A number, as text.',
  RANGE: 'A bound or a range, such as <0.3.',
  COMMENT: 'A remark of the lab.',
  CODED_VALUE: 'A value of a fixed list, such as Negative.',
});

export const orderOrigin = openEnum('OrderOrigin', 'Why an order exists.', {
  INITIAL: 'It was placed.',
  REDRAW: 'An earlier sample could not be used.',
  RECREATION: 'It replaces an order that was made wrongly.',
});

const orderStageRef = builder.enumType('OrderStage', {
  description:
    'The stages an order passes. Not always forward: a registered kit goes back to RECEIVED for a while.',
  values: {
    RECEIVED: { description: 'The order is placed and being prepared.' },
    COLLECTING_SAMPLE: { description: 'The sample is being taken or travels.' },
    SAMPLE_WITH_LAB: { description: 'The lab has the sample.' },
    COMPLETED: { description: 'The results are ready.' },
    CANCELLED: { description: 'The order was cancelled.' },
    FAILED: { description: 'The order could not be carried out.' },
    UNKNOWN: { description: 'A stage this gateway does not know yet; see `raw` and `label`.' },
  } as const,
});

const stepDescriptions = Object.fromEntries(
  Object.entries(orderSteps).map(([step, label]) => [step, { description: `${label}.` }]),
) as Record<OrderStep, { readonly description: string }>;

export const orderStepRef = builder.enumType('OrderStep', {
  description: 'The exact step within a stage.',
  values: stepDescriptions,
});

export const orderStatusRef = builder.objectRef<OrderStatus>('OrderStatus').implement({
  description: 'One status as the service sent it, and as people and code can use it.',
  fields: (t) => ({
    raw: t.exposeString('raw', {
      nullable: false,
      description: 'The text as sent, such as collecting_sample.testkit.transit_customer.',
    }),
    stage: t.field({
      type: orderStageRef,
      nullable: false,
      description: 'The stage, from a closed set.',
      resolve: ({ stage, raw }, _args, context, info) =>
        stage === 'UNKNOWN' ? (reportUnknown(raw.split('.')[0], context, info) ?? stage) : stage,
    }),
    collectionMethod: t.field({
      type: collectionMethod.ref,
      description: 'The collection method that it names; null when it names none, or not one of these.',
      resolve: (status, _args, context, info) => collectionMethod.show(status.method, context, info),
    }),
    method: t.field({
      type: collectionMethod.ref,
      deprecationReason: renamedTo('collectionMethod'),
      description: 'The collection method that it names; null when it names none, or not one of these.',
      resolve: (status, _args, context, info) => collectionMethod.show(status.method, context, info),
    }),
    step: t.field({
      type: orderStepRef,
      description: 'The exact step; null when not given or not known.',
      resolve: ({ step, raw }, _args, context, info) =>
        step ?? reportUnknown(raw.split('.')[2], context, info),
    }),
    label: t.exposeString('label', {
      nullable: false,
      description: 'The status in English words; never empty.',
    }),
    isTerminal: t.exposeBoolean('isTerminal', {
      nullable: false,
      description: 'Whether the order has reached its end.',
    }),
    needsAttention: t.exposeBoolean('needsAttention', {
      nullable: false,
      description: 'Whether something went wrong that a person should look at.',
    }),
  }),
});

/** An event together with the order it belongs to. */
export interface EventOfOrder extends OrderEvent {
  readonly order: Order;
}

export function eventsOf(order: Order): readonly EventOfOrder[] {
  return order.events.map((event) => ({ ...event, order }));
}

function markersOf(order: Order, args: ConnectionArguments, context: GraphContext) {
  const labTestId = order.labTest?.id ?? null;
  return labTestId === null
    ? null
    : loadOrderSetMarkers(context, { labTestIds: [labTestId], addOn: null }, args);
}

export const orderRef = builder.objectRef<Order>('Order');

export const orderEventRef = builder.objectRef<EventOfOrder>('OrderEvent').implement({
  description: 'Something that happened to an order.',
  fields: (t) => ({
    id: t.exposeID('id', {
      nullable: false,
      description: "The service's id of the event: an integer that grows with time.",
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it happened.' }),
    status: t.field({
      type: orderStatusRef,
      nullable: false,
      description: 'The status it brought the order into.',
      resolve: (event) => readOrderStatus(event.status),
    }),
    statusDetail: t.exposeString('statusDetail', {
      description: 'A finer reason, as the service sent it; new ones appear.',
    }),
    order: t.expose('order', { type: orderRef, description: 'The order it happened to.' }),
    markers: t.field({
      ...markerList,
      description: "The markers of the event's order.",
      resolve: (event, args, context) => markersOf(event.order, args, context),
    }),
  }),
});

defineNode(orderRef, { idOf: (order) => order.id, ids: 'uuid', needs: 'read:orders', load: loadShownOrder });

orderRef.implement({
  description: 'An order of a lab test for a user.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: "The service's id of the order (uuid)." }),
    teamId: t.exposeID('teamId', { description: 'Id of the team that placed it.' }),
    userId: t.exposeID('userId', {
      nullable: false,
      description: 'Id of the user it is for; may change when a kit is registered.',
    }),
    user: t.field({
      complexity: upstreamCallCost,
      type: userRef,
      description: 'The user it is for.',
      resolve: (order, _args, context, info) => loadUser(context, order.userId, info),
    }),
    status: t.field({
      type: orderStatusRef,
      nullable: false,
      description: 'Where it is now: the status of its last event.',
      resolve: (order) => readOrderStatus(order.status),
    }),
    events: t.field({
      type: [orderEventRef],
      nullable: false,
      description: 'What happened to it, oldest first.',
      resolve: eventsOf,
    }),
    lastEvent: t.field({
      type: orderEventRef,
      description: 'What happened to it last.',
      resolve: (order) => eventsOf(order).at(-1) ?? null,
    }),
    labTest: t.expose('labTest', { type: labTestRef, description: 'The lab test that was ordered.' }),
    markers: t.field({ ...markerList, description: 'What its lab test measures.', resolve: markersOf }),
    ...openEnumFields(t, collectionMethod, {
      name: 'collectionMethod',
      ...usualTexts('How the sample is taken', 'method'),
      read: ({ method }) => method,
    }),
    ...openEnumFields(t, collectionMethod, {
      name: 'method',
      renamedTo: 'collectionMethod',
      ...usualTexts('How the sample is taken', 'method'),
    }),
    ...openEnumFields(t, interpretation, {
      name: 'interpretation',
      description:
        'What its results mean as a whole; null before results or when the value is not one of these.',
      raw: 'The interpretation as the service sent it.',
    }),
    ...openEnumFields(t, orderOrigin, {
      name: 'origin',
      description: 'Why it exists; null when the reason is not one of these.',
      raw: 'The origin as the service sent it.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was placed.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

builder.queryField('order', (t) =>
  t.field({
    type: orderRef,
    extensions: needs('read:orders'),
    description: 'One order by id; null when there is none that the caller may see.',
    args: { id: t.arg.id({ required: true, description: "The order's id (uuid)." }) },
    resolve: (_root, args, context) => loadShownOrder(context, readUuid('id', args.id)),
  }),
);
