import { readUuid, readUuids } from '../../../graph/arguments.ts';
import { builder } from '../../../graph/builder.ts';
import {
  featureNotEnabledRef,
  inputRejectedRef,
  notFoundRef,
  userErrorRef,
} from '../../../graph/mutation-result.ts';
import { toDay } from '../place/graph-patient-input.ts';
import { orderRef } from '../read/graph.ts';
import { orderStatusRef } from '../read/graph-status.ts';
import { readOrderStatus } from '../read/rest-status.ts';
import { type OrderEventsResent, requestResend } from './actions-resend.ts';
import { type OrderUpdated, type OrderUpdateRefused, requestUpdate } from './actions-schedule.ts';

const orderUpdatedRef = builder.objectRef<OrderUpdated>('OrderUpdated').implement({
  description: 'The order was changed.',
  fields: (t) => ({
    order: t.expose('order', { type: orderRef, nullable: false, description: 'The order as it is now.' }),
  }),
});

const orderUpdateRefusedRef = builder.objectRef<OrderUpdateRefused>('OrderUpdateRefused').implement({
  description: 'The order can no longer be changed, or never waited for a day.',
  interfaces: [userErrorRef],
  fields: (t) => ({
    status: t.field({
      type: orderStatusRef,
      nullable: false,
      description: 'The status that rules it out.',
      resolve: ({ order }) => readOrderStatus(order.status),
    }),
    order: t.expose('order', { type: orderRef, nullable: false, description: 'The order as it is.' }),
  }),
});

const updateOrderResult = builder.unionType('UpdateOrderResult', {
  description: 'What came of changing an order.',
  types: [orderUpdatedRef, orderUpdateRefusedRef, inputRejectedRef, notFoundRef, featureNotEnabledRef],
  resolveType: (result) => result.kind,
});

const updateOrderInput = builder.inputType('UpdateOrderInput', {
  description: 'What is to change in an order that was placed for a later day.',
  fields: (t) => ({
    id: t.id({ required: true, description: "The order's id (uuid)." }),
    activateBy: t.field({
      type: 'Date',
      description: 'The day it becomes active; null lets it go at once. It must be given either way.',
    }),
  }),
});

const orderEventsResentRef = builder.objectRef<OrderEventsResent>('OrderEventsResent').implement({
  description: 'The service sends its reports again; what was missed comes as a change of its order.',
  fields: (t) => ({
    orderIds: t.idList({
      nullable: false,
      description: 'Ids of the orders that are reported again (uuid).',
      resolve: (resent) => [...resent.orderIds],
    }),
  }),
});

const resendOrderEventsResult = builder.unionType('ResendOrderEventsResult', {
  description: 'What came of asking for reports again.',
  types: [orderEventsResentRef, inputRejectedRef, notFoundRef, featureNotEnabledRef],
  resolveType: (result) => result.kind,
});

const resendOrderEventsInput = builder.inputType('ResendOrderEventsInput', {
  description: 'Which reports are wanted again: orders, a window of time, or both.',
  fields: (t) => ({
    orderIds: t.idList({ description: 'Ids of the orders (uuid), 100 at most.' }),
    startAt: t.field({ type: 'DateTime', description: 'Start of the window, of 60 days at most.' }),
    endAt: t.field({ type: 'DateTime', description: 'End of the window; now when left out.' }),
  }),
});

builder.mutationFields((t) => ({
  updateOrder: t.field({
    type: updateOrderResult,
    nullable: false,
    description:
      'Moves an order that waits for a day to another day, or lets it go. Viewer tokens need the scope write:orders.',
    args: { input: t.arg({ type: updateOrderInput, required: true, description: 'What is to change.' }) },
    resolve: (_root, { input }, context) =>
      requestUpdate(
        context,
        readUuid('input.id', input.id),
        input.activateBy instanceof Date ? toDay(input.activateBy) : input.activateBy,
      ),
  }),
  resendOrderEvents: t.field({
    type: resendOrderEventsResult,
    nullable: false,
    description: 'Has the service report order events again, after an outage. Only for gateway keys.',
    args: {
      input: t.arg({ type: resendOrderEventsInput, required: true, description: 'Which reports.' }),
    },
    resolve: (_root, { input }, context) =>
      requestResend(context, {
        orderIds: readUuids('input.orderIds', input.orderIds),
        startAt: input.startAt ?? null,
        endAt: input.endAt ?? null,
      }),
  }),
}));
