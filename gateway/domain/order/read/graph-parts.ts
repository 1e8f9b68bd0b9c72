import { builder } from '../../../graph/builder.ts';
import type { GraphContext } from '../../../graph/context.ts';
import { openEnum, openEnumFields, reportUnknown } from '../../../graph/open-enum.ts';
import { needs } from '../../../graph/permissions.ts';
import { addressRef } from '../../address/graph.ts';
import { personFields } from '../../user/graph-demographics.ts';
import { loadOrder, loadShownOrder } from './actions.ts';
import { orderOrigin, orderRef, orderStepRef } from './graph.ts';
import type { Order, OrderDetails, OrderTransaction, Shipment } from './rest-order.ts';
import { findStep } from './rest-status.ts';

const parcelRef = builder.objectRef<Shipment['outbound']>('Parcel').implement({
  description: 'One way of a shipment.',
  fields: (t) => ({
    courier: t.exposeString('courier', { description: 'Who carries it.' }),
    trackingNumber: t.exposeString('trackingNumber', { description: "The courier's number for it." }),
    trackingUrl: t.expose('trackingUrl', { type: 'URL', description: "The courier's page about it." }),
  }),
});

const shipmentRef = builder.objectRef<Shipment>('Shipment').implement({
  description: 'How a testkit travels to the patient and back.',
  fields: (t) => ({
    id: t.exposeID('id', { description: "The service's id of the shipment (uuid)." }),
    outbound: t.expose('outbound', { type: parcelRef, description: 'The way to the patient.' }),
    inbound: t.expose('inbound', { type: parcelRef, description: 'The way to the lab.' }),
    notes: t.exposeString('notes', { description: 'Notes on the shipment.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the shipment was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the shipment last changed.' }),
  }),
});

/** The details of an order, together with the order they belong to. */
interface DetailsOfOrder extends OrderDetails {
  readonly order: Order;
}

export const orderDetailsRef = builder.objectRef<DetailsOfOrder>('OrderDetails').implement({
  description: "The service's record of how the sample of an order is taken: its kit, visit or draw.",
  fields: (t) => ({
    id: t.exposeID('id', { description: "The service's id of the record (uuid)." }),
    appointmentId: t.exposeID('appointmentId', {
      description: 'Id of the appointment (uuid); null for kits and before an appointment is made.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the record was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the record last changed.' }),
  }),
});

const patientDetailsRef = builder.objectRef<NonNullable<Order['patient']>>('PatientDetails').implement({
  description: 'The patient of an order.',
  fields: (t) => personFields(t, 'the patient'),
});

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
  patient: t.expose('patient', {
    type: patientDetailsRef,
    extensions: needs('read:profile'),
    description: 'The patient, once known.',
  }),
  details: t.field({
    type: orderDetailsRef,
    description: "The service's record of how the sample is taken.",
    resolve: (order) => order.details && { ...order.details, order },
  }),
  shipment: t.expose('shipment', {
    type: shipmentRef,
    description: 'How a kit travels; null for other methods.',
  }),
  physician: t.expose('physician', {
    type: orderPhysicianRef,
    description: 'The physician who answers for it; null until one is known.',
  }),
  ...openEnumFields(t, billingType, {
    name: 'billingType',
    description: 'Who pays; null when the way is not one of these.',
    raw: 'Who pays, as the service sent it.',
  }),
  priority: t.exposeBoolean('priority', { description: 'Whether the lab is asked to process it first.' }),
  icdCodes: t.exposeStringList('icdCodes', {
    nullable: false,
    description: 'Diagnosis codes (ICD-10) given with it.',
  }),
  hasMissingResults: t.exposeBoolean('hasMissingResults', {
    description: 'Whether expected results are missing; null before there are results.',
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

/** The details that were given when the order was placed, and its papers. */
builder.objectFields(orderRef, (t) => ({
  patientAddress: t.expose('patientAddress', {
    type: addressRef,
    extensions: needs('read:profile'),
    description: "The patient's address, once known.",
  }),
  shippingAddress: t.expose('shippingAddress', {
    type: addressRef,
    extensions: needs('read:profile'),
    description: 'Where a kit is sent.',
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
    extensions: needs('read:profile'),
    description: 'URL of the requisition form, which names the patient.',
  }),
  passthrough: t.exposeString('passthrough', {
    description: 'Your own text, as given when the order was placed.',
  }),
}));

const orderInTransactionRef = builder
  .objectRef<OrderTransaction['orders'][number]>('OrderInTransaction')
  .implement({
    description: 'One order of a transaction, in short.',
    fields: (t) => ({
      id: t.exposeID('id', { nullable: false, description: "The order's id (uuid)." }),
      ...openEnumFields(t, orderOrigin, {
        name: 'origin',
        description: 'Why it exists; null when the reason is not one of these.',
        raw: 'Why it exists, as the service sent it.',
      }),
      step: t.field({
        type: orderStepRef,
        description: 'Its last step; null when not known.',
        resolve: ({ step }, _args, context, info) =>
          findStep(step?.toUpperCase()) ?? reportUnknown(step, context, info),
      }),
      stepRaw: t.exposeString('step', { description: 'Its last step as the service sent it.' }),
      stepAt: t.expose('stepAt', { type: 'DateTime', description: 'When it came to that step.' }),
      createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was placed.' }),
      updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
      order: t.field({
        type: orderRef,
        description: 'The order itself; null when the service no longer shows it.',
        resolve: ({ id }, _args, context) => loadShownOrder(context, id),
      }),
      parentId: t.id({
        description: 'Id of the order it follows (uuid); null when the caller may not see it.',
        resolve: ({ parentId }, _args, context) => findVisibleId(context, parentId),
      }),
      parent: t.field({
        type: orderRef,
        description: 'The order it follows, such as the one whose sample could not be used.',
        resolve: ({ parentId }, _args, context) => loadParent(context, parentId),
      }),
    }),
  });

const transactionStatus = openEnum(
  'OrderTransactionStatus',
  'How far an order and what follows from it are.',
  {
    ACTIVE: 'An order of it is still under way.',
    COMPLETED: 'The results are complete.',
    CANCELLED: 'Every order of it was cancelled.',
  },
);

export const transactionRef = builder.objectRef<OrderTransaction>('OrderTransaction').implement({
  description: 'An order together with the orders that follow from it.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: "The service's id of the transaction (uuid)." }),
    ...openEnumFields(t, transactionStatus, {
      name: 'status',
      description: 'How far it is; null when the value is not one of these.',
      raw: 'Its status as the service sent it, such as active.',
    }),
    orders: t.field({
      type: [orderInTransactionRef],
      description: 'Its orders that the caller may see, as the service lists them.',
      resolve: (transaction, _args, context) => findVisibleOrders(context, transaction),
    }),
  }),
});

builder.objectFields(orderRef, (t) => ({
  transaction: t.expose('transaction', {
    type: transactionRef,
    description: 'The order together with its redraws and recreations.',
  }),
  parent: t.field({
    type: orderRef,
    description: 'The order it follows: the one it redraws or recreates; null for a first order.',
    resolve: (order, _args, context) => loadParent(context, parentIdOf(order)),
  }),
}));

/** The order that this one follows, according to its transaction. */
function parentIdOf(order: Order): string | null {
  const ownId = order.id.toLowerCase();
  return order.transaction?.orders.find(({ id }) => id.toLowerCase() === ownId)?.parentId ?? null;
}

function loadParent(context: GraphContext, parentId: string | null): Promise<Order | null> | null {
  return parentId === null ? null : loadShownOrder(context, parentId);
}

/** A gateway key sees every order, so no read is needed. */
const seesAll = ({ service: { rights } }: GraphContext) => rights.userId === null;

/**
 * A transaction may contain orders that the caller may not see: a redraw that was registered to another user, or others
 * than the one order of a token. The service lists them all.
 */
async function findVisibleOrders(context: GraphContext, { orders }: OrderTransaction) {
  if (seesAll(context)) return orders;
  const found = await Promise.all(orders.map(({ id }) => loadOrder(context, id)));
  return orders.filter((_, index) => found[index] !== null);
}

async function findVisibleId(context: GraphContext, orderId: string | null): Promise<string | null> {
  if (orderId === null || seesAll(context)) return orderId;
  return (await loadOrder(context, orderId))?.id ?? null;
}
