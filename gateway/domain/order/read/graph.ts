import { readUuid } from '../../../graph/arguments.ts';
import { builder } from '../../../graph/builder.ts';
import type { GraphContext, LoaderKind } from '../../../graph/context.ts';
import { upstreamCallCost } from '../../../graph/cost.ts';
import { needsScope } from '../../../graph/needs-scope.ts';
import { openEnum } from '../../../graph/open-enum.ts';
import {
  type ConnectionArguments,
  connectionArgs,
  connectionCost,
} from '../../../graph/pagination/connection.ts';
import type { Page } from '../../../service/service.ts';
import { addressRef } from '../../address/graph.ts';
import { collectionMethod, labTestRef } from '../../lab-test/graph.ts';
import { loadOrderSetMarkers, markerConnectionRef } from '../../marker/graph.ts';
import { loadUser, userRef } from '../../user/graph.ts';
import { newestOf } from './actions-newest.ts';
import { orderDetailsRef, shipmentRef, transactionRef } from './graph-parts.ts';
import { patientDetailsRef } from './graph-patient.ts';
import { orderStatusRef } from './graph-status.ts';
import { type CurrentOrder, getOrders, type Order, type OrderEvent } from './rest.ts';
import { readOrderStatus } from './rest-status.ts';

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

export const orderOrigin = openEnum('OrderOrigin', 'Why an order exists.', {
  INITIAL: 'It was placed.',
  REDRAW: 'An earlier sample could not be used.',
  RECREATION: 'It replaces an order that was made wrongly.',
});

/** Orders by id: all that one operation asks for at once are one call. */
const ordersById: LoaderKind<string, CurrentOrder | null> = {
  keyOf: (id) => id.toLowerCase(),
  batch: getOrders,
};

/** The same for showing them, from the cache where they are in it. */
const shownOrdersById: LoaderKind<string, CurrentOrder | null> = {
  keyOf: (id) => id.toLowerCase(),
  batch: (service, ids) => getOrders(service.forShowing, ids),
};

/**
 * The order with this id as it is now and as the caller may see it, or null. Fields of an order that read more of it
 * ask here whose it is now, with the id of the order that is shown: that one may be from before a kit moved.
 */
export async function loadOrder(context: GraphContext, id: string): Promise<CurrentOrder | null> {
  const order = await context.loaders.of(ordersById).load(id);
  return order === null ? null : await newestOf(context, order);
}

/** The order with this id as the caller may see it, or null: to be shown, and to read nothing more by. */
export async function loadShownOrder(context: GraphContext, id: string): Promise<Order | null> {
  const order = await context.loaders.of(shownOrdersById).load(id);
  return order === null ? null : await newestOf(context, order);
}

/** Saves this operation the reads of orders that it has listed; a list that was read before it began, those of orders to be shown only. */
export function keepLoaded(context: GraphContext, { rows, isEarlier = false }: Page<CurrentOrder>): void {
  for (const kind of isEarlier ? [shownOrdersById] : [ordersById, shownOrdersById]) {
    const loader = context.loaders.of(kind);
    for (const order of rows) if (order !== null) loader.prime(order.id, order);
  }
}

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
    order: t.field({
      type: orderRef,
      description: 'The order it happened to.',
      resolve: (event) => event.order,
    }),
    markers: t.field({
      type: markerConnectionRef,
      complexity: connectionCost,
      description: "The markers of the event's order.",
      args: connectionArgs('markers'),
      resolve: (event, args, context) => markersOf(event.order, args, context),
    }),
  }),
});

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
      resolve: (order, _args, context) => loadUser(context, order.userId),
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
    markers: t.field({
      type: markerConnectionRef,
      complexity: connectionCost,
      description: 'What its lab test measures.',
      args: connectionArgs('markers'),
      resolve: markersOf,
    }),
    method: t.field({
      type: collectionMethod.ref,
      description: 'How the sample is taken; null when the method is not one of these.',
      resolve: (order) => collectionMethod.known(order.method),
    }),
    methodRaw: t.string({
      description: 'The method as the service sent it.',
      resolve: (order) => order.method,
    }),
    patient: t.expose('patient', {
      type: patientDetailsRef,
      extensions: needsScope('read:profile'),
      description: 'The patient, once known. Needs the scope read:profile.',
    }),
    patientAddress: t.expose('patientAddress', {
      type: addressRef,
      extensions: needsScope('read:profile'),
      description: "The patient's address, once known. Needs the scope read:profile.",
    }),
    shippingAddress: t.expose('shippingAddress', {
      type: addressRef,
      extensions: needsScope('read:profile'),
      description: 'Where a kit is sent. Needs the scope read:profile.',
    }),
    details: t.expose('details', {
      type: orderDetailsRef,
      description: "The service's record of how the sample is taken.",
    }),
    shipment: t.expose('shipment', {
      type: shipmentRef,
      description: 'How a kit travels; null for other methods.',
    }),
    transaction: t.expose('transaction', {
      type: transactionRef,
      description: 'The order together with its redraws and recreations.',
    }),
    interpretation: t.field({
      type: interpretation.ref,
      description:
        'What its results mean as a whole; null before results or when the value is not one of these.',
      resolve: (order) => interpretation.known(order.interpretation),
    }),
    interpretationRaw: t.string({
      description: 'The interpretation as the service sent it.',
      resolve: (order) => order.interpretation,
    }),
    origin: t.field({
      type: orderOrigin.ref,
      description: 'Why it exists; null when the reason is not one of these.',
      resolve: (order) => orderOrigin.known(order.origin),
    }),
    originRaw: t.string({
      description: 'The origin as the service sent it.',
      resolve: (order) => order.origin,
    }),
    sampleId: t.exposeString('sampleId', { description: 'The number on the sample or kit.' }),
    notes: t.exposeString('notes', { description: 'Notes on the order.' }),
    clinicalNotes: t.exposeString('clinicalNotes', { description: 'Comments for the lab.' }),
    activateBy: t.expose('activateBy', {
      type: 'Date',
      description: 'The day a scheduled order becomes active.',
    }),
    hasAbn: t.exposeBoolean('hasAbn', { description: 'Whether an advance beneficiary notice exists.' }),
    healthInsuranceId: t.exposeID('healthInsuranceId', {
      description: 'Id of the insurance that pays for it.',
    }),
    requisitionFormUrl: t.expose('requisitionFormUrl', {
      type: 'URL',
      extensions: needsScope('read:profile'),
      description: 'URL of the requisition form, which names the patient. Needs the scope read:profile.',
    }),
    passthrough: t.exposeString('passthrough', {
      description: 'Your own text, as given when the order was placed.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was placed.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

builder.queryField('order', (t) =>
  t.field({
    type: orderRef,
    description: 'One order by id; null when there is none that the caller may see.',
    args: { id: t.arg.id({ required: true, description: "The order's id (uuid)." }) },
    resolve: (_root, args, context) => loadShownOrder(context, readUuid('id', args.id)),
  }),
);
