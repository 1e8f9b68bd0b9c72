import { builder } from '../../../graph/builder.ts';
import { openEnum } from '../../../graph/open-enum.ts';
import { orderStepRef } from './graph-status.ts';
import type { OrderDetails, OrderTransaction, Shipment } from './rest.ts';
import { findStep } from './rest-status.ts';

const parcelRef = builder.objectRef<Shipment['outbound']>('Parcel').implement({
  description: 'One way of a shipment.',
  fields: (t) => ({
    courier: t.exposeString('courier', { description: 'Who carries it.' }),
    trackingNumber: t.exposeString('trackingNumber', { description: "The courier's number for it." }),
    trackingUrl: t.expose('trackingUrl', { type: 'URL', description: "The courier's page about it." }),
  }),
});

export const shipmentRef = builder.objectRef<Shipment>('Shipment').implement({
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

export const orderDetailsRef = builder.objectRef<OrderDetails>('OrderDetails').implement({
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

export const orderInTransactionRef = builder
  .objectRef<OrderTransaction['orders'][number]>('OrderInTransaction')
  .implement({
    description: 'One order of a transaction, in short.',
    fields: (t) => ({
      id: t.exposeID('id', { nullable: false, description: "The order's id (uuid)." }),
      originRaw: t.string({
        description: 'Why it exists, as the service sent it.',
        resolve: (order) => order.origin,
      }),
      step: t.field({
        type: orderStepRef,
        description: 'Its last step; null when not known.',
        resolve: (order) => findStep(order.step?.toUpperCase()),
      }),
      stepRaw: t.string({
        description: 'Its last step as the service sent it.',
        resolve: (order) => order.step,
      }),
      stepAt: t.expose('stepAt', { type: 'DateTime', description: 'When it came to that step.' }),
      createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was placed.' }),
      updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
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
    status: t.field({
      type: transactionStatus.ref,
      description: 'How far it is; null when the value is not one of these.',
      resolve: (transaction) => transactionStatus.known(transaction.status),
    }),
    statusRaw: t.string({
      description: 'Its status as the service sent it, such as active.',
      resolve: (transaction) => transaction.status,
    }),
  }),
});
