import { readUuid } from '../../graph/arguments.ts';
import { builder, type Fields } from '../../graph/builder.ts';
import type { GraphContext } from '../../graph/context.ts';
import { upstreamCallCost } from '../../graph/cost.ts';
import { defineNode, searchCalls } from '../../graph/node.ts';
import { openEnum, openEnumFields, usualTexts } from '../../graph/open-enum.ts';
import { needs, needsUnless } from '../../graph/permissions.ts';
import { addressRef } from '../address/graph.ts';
import { loadOrder, loadShownOrder } from '../order/read/actions.ts';
import { orderRef } from '../order/read/graph.ts';
import { orderDetailsRef, transactionRef } from '../order/read/graph-parts.ts';
import type { OrderTransaction } from '../order/read/rest-order.ts';
import { loadUser, userRef } from '../user/graph.ts';
import { findAppointment, loadAppointment, loadAppointmentOf } from './actions-read.ts';
import {
  type Appointment,
  type AppointmentEvent,
  type CancellationReason,
  type Coordinates,
  listCancellationReasons,
} from './rest.ts';

const appointmentType = openEnum('AppointmentType', 'Where an appointment takes place.', {
  PHLEBOTOMY: 'A phlebotomist visits the patient.',
  PATIENT_SERVICE_CENTER: 'The patient goes to a service center.',
});

export const appointmentProvider = openEnum('AppointmentProvider', 'Who takes the sample.', {
  GETLABS: 'Getlabs, at home; its slots are booked.',
  PHLEBFINDERS: 'PhlebFinders, at home; it is asked for an appointment and names the time.',
  QUEST: 'Quest, at a service center.',
  SONORA_QUEST: 'Sonora Quest, at a service center in Arizona; patients change these by e-mail link.',
});

const appointmentStatus = openEnum('AppointmentStatus', 'Where an appointment stands.', {
  PENDING: 'The provider has not confirmed it.',
  RESERVED: 'It is held until the requisition exists.',
  CONFIRMED: 'It will take place.',
  IN_PROGRESS: 'It takes place now.',
  COMPLETED: 'It is over.',
  CANCELLED: 'It will not take place.',
});

const appointmentEventStatus = openEnum('AppointmentEventStatus', 'What happened to an appointment.', {
  PENDING: 'It was asked for.',
  RESERVED: 'It was held until the requisition exists.',
  SCHEDULED: 'Its time was set or changed.',
  IN_PROGRESS: 'It began.',
  COMPLETED: 'It ended.',
  CANCELLED: 'It was cancelled.',
});

/** Any place that is not known to be a service center may be the patient's home. */
const atServiceCenter = ({ type }: Appointment) => type === 'patient_service_center';

export const coordinatesRef = builder.objectRef<Coordinates>('Coordinates').implement({
  description: 'A point on the map.',
  fields: (t) => ({
    longitude: t.exposeFloat('longitude', { nullable: false, description: 'Degrees east, -180 to 180.' }),
    latitude: t.exposeFloat('latitude', { nullable: false, description: 'Degrees north, -90 to 90.' }),
  }),
});

const appointmentEventRef = builder.objectRef<AppointmentEvent>('AppointmentEvent').implement({
  description: 'Something that happened to an appointment.',
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it happened.' }),
    ...openEnumFields(t, appointmentEventStatus, {
      name: 'status',
      description: 'What happened; null when it is not one of these.',
      raw: 'What happened, as the service sent it.',
      isRequired: true,
    }),
    details: t.expose('details', {
      type: 'JSON',
      extensions: needs('read:profile'),
      description: "The provider's own details, different for each provider.",
    }),
  }),
});

async function loadTransaction(context: GraphContext, orderId: string): Promise<OrderTransaction | null> {
  const order = await loadShownOrder(context, orderId);
  return order?.transaction ?? null;
}

/** Whom and what an appointment is for. */
function partyFields(t: Fields<Appointment>) {
  return {
    order: t.field({
      type: orderRef,
      description: 'The order it is for.',
      resolve: ({ orderId }, _args, context) => (orderId === null ? null : loadOrder(context, orderId)),
    }),
    transaction: t.field({
      type: transactionRef,
      description: 'The transaction that the order belongs to.',
      resolve: ({ orderId }, _args, context) => (orderId === null ? null : loadTransaction(context, orderId)),
    }),
    user: t.field({
      complexity: upstreamCallCost,
      type: userRef,
      description: 'The user it is for.',
      resolve: ({ userId }, _args, context, info) =>
        userId === null ? null : loadUser(context, userId, info),
    }),
  };
}

/** Where an appointment takes place, and how the visitor gets there. */
function visitFields(t: Fields<Appointment>) {
  return {
    timeZone: t.exposeString('timeZone', {
      description: 'Time zone of the place, such as America/Phoenix.',
    }),
    address: t.expose('address', {
      type: addressRef,
      extensions: needsUnless('read:profile', 'the place is a service center', atServiceCenter),
      description: 'Where it takes place.',
    }),
    location: t.expose('location', {
      type: coordinatesRef,
      extensions: needsUnless('read:profile', 'the place is a service center', atServiceCenter),
      description: 'The coordinates of the place.',
    }),
    accessNotes: t.exposeString('accessNotes', {
      extensions: needs('read:profile'),
      description: "How the visitor gets to the door; given with the order's address.",
    }),
    appointmentNotes: t.exposeString('appointmentNotes', {
      description: 'Notes for the visitor about this one appointment.',
    }),
  };
}

export const appointmentRef = builder.objectRef<Appointment>('Appointment');
appointmentRef.implement({
  description: 'When and where the sample of an order is taken.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: "The service's id of the appointment (uuid)." }),
    orderId: t.exposeID('orderId', { description: 'Id of the order it is for.' }),
    transactionId: t.exposeID('transactionId', {
      description: 'Id of the transaction that the order belongs to (uuid).',
    }),
    userId: t.exposeID('userId', { description: 'Id of the user it is for.' }),
    ...openEnumFields(t, appointmentType, { name: 'type', ...usualTexts('Where it takes place', 'kind') }),
    ...openEnumFields(t, appointmentProvider, {
      name: 'provider',
      ...usualTexts('Who takes the sample', 'provider'),
    }),
    ...openEnumFields(t, appointmentStatus, { name: 'status', ...usualTexts('Where it stands', 'status') }),
    ...openEnumFields(t, appointmentEventStatus, {
      name: 'eventStatus',
      description: 'What happened to it last; null when it is not one of these.',
      raw: 'What happened to it last, as the service sent it.',
    }),
    eventData: t.expose('eventData', {
      type: 'JSON',
      extensions: needs('read:profile'),
      description: "The provider's own details of the latest event, such as the reason for a cancellation.",
    }),
    events: t.expose('events', {
      type: [appointmentEventRef],
      nullable: false,
      description: 'What happened to it.',
    }),
    startAt: t.expose('startAt', {
      type: 'DateTime',
      description: 'When it begins; null until a time is given.',
    }),
    endAt: t.expose('endAt', { type: 'DateTime', description: 'When it ends; null until a time is given.' }),
    ...visitFields(t),
    canReschedule: t.exposeBoolean('canReschedule', { description: 'Whether it can be moved.' }),
    providerId: t.exposeString('providerId', {
      description: "The provider's id of the appointment, as the service sent it.",
    }),
    externalId: t.exposeString('externalId', { description: "The provider's own reference." }),
    ...partyFields(t),
  }),
});

builder.objectField(orderRef, 'appointment', (t) =>
  t.field({
    complexity: upstreamCallCost,
    type: appointmentRef,
    description: 'Its appointment; null for methods without any and before there is one.',
    resolve: (order, _args, context) => loadAppointment(context, order),
  }),
);

builder.objectField(orderDetailsRef, 'appointment', (t) =>
  t.field({
    complexity: upstreamCallCost,
    type: appointmentRef,
    description: 'The appointment; null for kits and once the order has another.',
    resolve: ({ order, appointmentId }, _args, context) => loadAppointmentOf(context, order, appointmentId),
  }),
);

defineNode(appointmentRef, {
  idOf: (appointment) => appointment.id,
  ids: 'uuid',
  needs: 'read:orders',
  load: findAppointment,
});

builder.queryField('appointment', (t) =>
  t.field({
    // The pages of orders until one names it, and the appointment.
    complexity: (searchCalls + 1) * upstreamCallCost,
    type: appointmentRef,
    extensions: needs('read:orders'),
    description:
      "One appointment by id; null when there is none that the caller may see. It is searched for in the caller's 1,000 newest orders with appointments: where you have the order's id, read `Order.appointment`.",
    args: { id: t.arg.id({ required: true, description: "The appointment's id (uuid)." }) },
    resolve: (_root, args, context) => findAppointment(context, readUuid('id', args.id)),
  }),
);

const reasonRef = builder.objectRef<CancellationReason>('AppointmentCancellationReason').implement({
  description: 'Why an appointment may be cancelled.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: "The service's id of the reason (uuid)." }),
    name: t.exposeString('name', { description: 'The reason in words.' }),
    isRefundable: t.exposeBoolean('isRefundable', {
      description: 'Whether the price is given back, if the appointment is more than 24 hours away.',
    }),
    needsNotes: t.exposeBoolean('needsNotes', {
      nullable: false,
      description: 'Whether notes must say more.',
    }),
  }),
});

builder.queryField('appointmentCancellationReasons', (t) =>
  t.field({
    type: [reasonRef],
    extensions: needs('read:orders'),
    description: 'Why appointments of a kind are cancelled.',
    args: {
      type: t.arg({
        type: appointmentType.ref,
        required: true,
        description: 'The kind of appointment.',
      }),
    },
    resolve: (_root, args, { service }) =>
      listCancellationReasons(service, args.type === 'PHLEBOTOMY' ? 'phlebotomy' : 'patient_service_center'),
  }),
);
