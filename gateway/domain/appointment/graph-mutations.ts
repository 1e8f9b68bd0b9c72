import { readUuid } from '../../graph/arguments.ts';
import { builder, type InputFields } from '../../graph/builder.ts';
import { mutationResult, userErrorRef, usualRefusals } from '../../graph/mutation-result.ts';
import { findContradictions, openInputFields, readOpen } from '../../graph/open-enum.ts';
import { needs } from '../../graph/permissions.ts';
import { loadOrder } from '../order/read/actions.ts';
import { orderRef, orderStatusRef } from '../order/read/graph.ts';
import { readOrderStatus } from '../order/read/rest-status.ts';
import {
  type RequestedAppointment,
  submitBooking,
  submitCancellation,
  submitCenterBooking,
  submitRequest,
  submitReschedule,
  type Target,
} from './actions.ts';
import type { AppointmentAccepted, AppointmentRefused, SlotUnavailable } from './actions-change.ts';
import { appointmentProvider, appointmentRef } from './graph.ts';
import { type AddressInput, appointmentAddressInput, toVisitAddress } from './graph-places.ts';
import type { AppointmentKind, Booking, Cancellation } from './rest.ts';

const acceptedRef = builder.objectRef<AppointmentAccepted>('AppointmentAccepted').implement({
  description: 'The service accepted it.',
  fields: (t) => ({
    appointment: t.expose('appointment', {
      type: appointmentRef,
      description: 'The appointment as it is now; null when the service no longer shows a cancelled one.',
    }),
    order: t.field({
      type: orderRef,
      description: 'The order as it is now.',
      resolve: ({ orderId }, _args, context) => loadOrder(context, orderId),
    }),
  }),
});

const slotUnavailableRef = builder.objectRef<SlotUnavailable>('SlotUnavailable').implement({
  description:
    'The slot is gone, or its booking key was used or has expired. Nothing was done. Ask for the slots again.',
  interfaces: [userErrorRef],
});

const refusedRef = builder.objectRef<AppointmentRefused>('AppointmentRefused').implement({
  description:
    "The order's method, its status or its present appointment does not allow it; nothing was done.",
  interfaces: [userErrorRef],
  fields: (t) => ({
    status: t.field({
      type: orderStatusRef,
      nullable: false,
      description: 'The status of the order.',
      resolve: ({ order }) => readOrderStatus(order.status),
    }),
    order: t.expose('order', { type: orderRef, description: 'The order as it is.' }),
    appointment: t.expose('appointment', {
      type: appointmentRef,
      description: 'The appointment as it is; null where there is none.',
    }),
  }),
});

const appointmentResult = mutationResult('AppointmentResult', 'The result of changing an appointment.', [
  acceptedRef,
  slotUnavailableRef,
  refusedRef,
  ...usualRefusals,
]);

const appointmentNotes =
  'Notes for the visitor about this appointment: 1,000 characters at most, new with each reschedule.';

function bookingFields(t: InputFields, bookingKey: string) {
  return {
    orderId: t.id({ required: true, description: 'Id of the order (uuid).' }),
    bookingKey: t.string({ required: true, description: bookingKey }),
    appointmentNotes: t.string({ description: appointmentNotes }),
  };
}

const bookInput = builder.inputType('BookAppointmentInput', {
  description: 'A slot to book.',
  fields: (t) => ({
    ...bookingFields(t, "The slot's `bookingKey`; works once, so repeating a call never books twice."),
  }),
});

const bookCenterInput = builder.inputType('BookServiceCenterAppointmentInput', {
  description: 'A slot to book at a service center.',
  fields: (t) => ({
    ...bookingFields(t, "The slot's `bookingKey`; works once, so repeating a call never books twice."),
    asyncConfirmation: t.boolean({
      description: 'Whether the lab may confirm later; the appointment stays PENDING meanwhile.',
    }),
    idempotencyKey: t.string({
      description:
        'Your own key, where the service has enabled such keys. For 14 days an equal call books nothing more and shows the appointment as it is now.',
    }),
  }),
});

const rescheduleInput = builder.inputType('RescheduleAppointmentInput', {
  description: 'A slot to move an appointment to.',
  fields: (t) => ({
    ...bookingFields(t, "The new slot's `bookingKey`; works once."),
  }),
});

const requestInput = builder.inputType('RequestAppointmentInput', {
  description: 'An appointment whose time the provider names.',
  fields: (t) => ({
    orderId: t.id({ required: true, description: 'Id of the order (uuid).' }),
    address: t.field({
      type: appointmentAddressInput,
      required: true,
      description: 'Where the visit takes place.',
    }),
    ...openInputFields(t, appointmentProvider, {
      name: 'provider',
      description: 'Who is asked.',
      raw: 'Who is asked, as the service writes it, for a provider that the enum lacks.',
    }),
    appointmentNotes: t.string({ description: appointmentNotes }),
  }),
});

const cancelInput = builder.inputType('CancelAppointmentInput', {
  description: 'An appointment to cancel, and why.',
  fields: (t) => ({
    orderId: t.id({ required: true, description: 'Id of the order (uuid).' }),
    cancellationReasonId: t.id({
      required: true,
      description: 'Id of one of `appointmentCancellationReasons` (uuid).',
    }),
    notes: t.string({ description: 'More about it; needed where the reason says `needsNotes`.' }),
  }),
});

function toTarget(kind: AppointmentKind, input: { readonly orderId: string }): Target {
  return { kind, orderId: readUuid('input.orderId', input.orderId) };
}

function toBooking(input: typeof rescheduleInput.$inferInput): Booking {
  return { bookingKey: input.bookingKey, appointmentNotes: input.appointmentNotes ?? null };
}

function toRequest(input: typeof requestInput.$inferInput): RequestedAppointment {
  const address: AddressInput = input.address;
  return {
    address: toVisitAddress(address),
    provider: readOpen(input, 'provider') ?? '',
    contradictions: findContradictions(input, ['provider']),
    appointmentNotes: input.appointmentNotes ?? null,
  };
}

function toCancellation(input: typeof cancelInput.$inferInput): Cancellation {
  const cancellationReasonId = readUuid('input.cancellationReasonId', input.cancellationReasonId);
  return { cancellationReasonId, notes: input.notes ?? null };
}

/** What all mutations of appointments share. */
const change = { type: appointmentResult, extensions: needs('read:orders', 'write:appointments') };

builder.mutationFields((t) => ({
  bookPhlebotomyAppointment: t.field({
    ...change,
    description: 'Books an appointment at home.',
    args: { input: t.arg({ type: bookInput, required: true, description: 'The slot.' }) },
    resolve: (_root, { input }, context) =>
      submitBooking(context, readUuid('input.orderId', input.orderId), toBooking(input)),
  }),
  bookServiceCenterAppointment: t.field({
    ...change,
    description: 'Books an appointment at a service center.',
    args: { input: t.arg({ type: bookCenterInput, required: true, description: 'The slot.' }) },
    resolve: (_root, { input }, context) =>
      submitCenterBooking(context, readUuid('input.orderId', input.orderId), {
        ...toBooking(input),
        asyncConfirmation: input.asyncConfirmation ?? null,
        idempotencyKey: input.idempotencyKey ?? null,
      }),
  }),
  requestPhlebotomyAppointment: t.field({
    ...change,
    description: 'Asks a provider for an appointment at home; it has no time at first.',
    args: { input: t.arg({ type: requestInput, required: true, description: 'Where, and who is asked.' }) },
    resolve: (_root, { input }, context) =>
      submitRequest(context, readUuid('input.orderId', input.orderId), toRequest(input)),
  }),
}));

/** The mutations that are alike for both kinds of appointment. */
function defineMutations(place: string, kind: AppointmentKind, where: string): void {
  builder.mutationFields((t) => ({
    [`reschedule${place}Appointment`]: t.field({
      ...change,
      description: `Moves an appointment ${where} to another slot.`,
      args: { input: t.arg({ type: rescheduleInput, required: true, description: 'The new slot.' }) },
      resolve: (_root, { input }, context) =>
        submitReschedule(context, toTarget(kind, input), toBooking(input)),
    }),
    [`cancel${place}Appointment`]: t.field({
      ...change,
      description: `Cancels an appointment ${where}; the order stays.`,
      args: { input: t.arg({ type: cancelInput, required: true, description: 'Which one, and why.' }) },
      resolve: (_root, { input }, context) =>
        submitCancellation(context, toTarget(kind, input), toCancellation(input)),
    }),
  }));
}

defineMutations('Phlebotomy', 'phlebotomy', 'at home');
defineMutations('ServiceCenter', 'patient_service_center', 'at a service center');
