import { readInput, readUuid, readUuids, useInput } from '../../../graph/arguments.ts';
import { builder } from '../../../graph/builder.ts';
import type { GraphContext } from '../../../graph/context.ts';
import { upstreamCallCost } from '../../../graph/cost.ts';
import { mutationResult, userErrorRef, usualRefusals } from '../../../graph/mutation-result.ts';
import { openInputFields, requireOpen, uniteOpen } from '../../../graph/open-enum.ts';
import { needs } from '../../../graph/permissions.ts';
import { toDay } from '../../../parse/dates.ts';
import { loadShownOrder } from '../read/actions.ts';
import { interpretation, orderRef, orderStatusRef, resultType } from '../read/graph.ts';
import { maxOrderPage } from '../read/rest.ts';
import { readOrderStatus } from '../read/rest-status.ts';
import {
  type Changed,
  type OrderEventsResent,
  type Refused,
  requestCancel,
  requestResend,
  requestSimulation,
  requestUpdate,
} from './actions.ts';

/** The result of a change that was made. */
function changedRef(kind: string, description: string) {
  return builder.objectRef<Changed<string>>(kind).implement({
    description,
    fields: (t) => ({
      order: t.expose('order', { type: orderRef, nullable: false, description: 'The order as it is now.' }),
    }),
  });
}

/** The result of a change that the order's status rules out. */
function refusedRef(kind: string, description: string) {
  return builder.objectRef<Refused<string>>(kind).implement({
    description,
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
}

const cancelOrderResult = mutationResult('CancelOrderResult', 'The result of cancelling an order.', [
  changedRef('OrderCancelled', 'The order was cancelled.'),
  refusedRef('CancelRefused', 'The order can no longer be cancelled.'),
  ...usualRefusals,
]);

const simulateOrderResult = mutationResult('SimulateOrderResult', 'The result of simulating an order.', [
  changedRef('OrderSimulated', 'The order was moved along its life.'),
  ...usualRefusals,
]);

const updateOrderResult = mutationResult('UpdateOrderResult', 'The result of changing an order.', [
  changedRef('OrderUpdated', 'The order was changed.'),
  refusedRef(
    'OrderUpdateRefused',
    'The order can no longer be moved to another day, or it was not scheduled.',
  ),
  ...usualRefusals,
]);

const updateOrderInput = builder.inputType('UpdateOrderInput', {
  description: 'What is to change in an order that was placed for a later day.',
  fields: (t) => ({
    id: t.id({ required: true, description: "The order's id (uuid)." }),
    activateBy: t.field({
      type: 'Date',
      description:
        'The day it becomes active; null activates it at once. It must be given, as a day or as null.',
    }),
  }),
});

const cancelOrderInput = builder.inputType('CancelOrderInput', {
  description: 'An order to cancel.',
  fields: (t) => ({ id: t.id({ required: true, description: "The order's id (uuid)." }) }),
});
type CancelOrderInput = typeof cancelOrderInput.$inferInput;

const finalStatus =
  'Where to go, such as completed.testkit.completed. Left out: one step in the embedded sandbox.';
const delaySeconds = 'How long to wait between steps, in seconds.';

const simulateOrderInput = builder.inputType('SimulateOrderInput', {
  description: 'An order to move through its statuses.',
  fields: (t) => ({
    id: t.id({ required: true, description: "The order's id (uuid)." }),
    finalStatus: t.string({ description: finalStatus }),
    delaySeconds: t.int({ description: delaySeconds }),
    ...openInputFields(t, interpretation, {
      name: 'interpretation',
      description: 'What the results are to mean as a whole; NORMAL when left out.',
      raw: 'The same for a value that the enum lacks, as the service names it, such as unknown.',
    }),
    resultTypes: t.field({
      type: [resultType.ref],
      description: 'Which kinds of values the results are to have.',
    }),
    resultTypesRaw: t.stringList({
      description: 'The same for kinds that the enum lacks, as the service names them.',
    }),
    hasMissingResults: t.boolean({ description: 'Whether expected results are to be missing.' }),
  }),
});
type SimulateOrderInput = typeof simulateOrderInput.$inferInput;

/** As many as one call reads: a window of time can have any number of orders. */
async function loadOrders(context: GraphContext, { orderIds }: OrderEventsResent) {
  const ids = orderIds.slice(0, maxOrderPage);
  const orders = await Promise.all(ids.map((id) => loadShownOrder(context, id)));
  return orders.filter((order) => order !== null);
}

const orderEventsResentRef = builder.objectRef<OrderEventsResent>('OrderEventsResent').implement({
  description: 'The service sends the webhooks again. Missed changes arrive as changes of their orders.',
  fields: (t) => ({
    orderIds: t.exposeIDList('orderIds', {
      nullable: false,
      description: 'Ids of the orders that are reported again (uuid).',
    }),
    orders: t.field({
      complexity: { field: upstreamCallCost, multiplier: maxOrderPage },
      type: [orderRef],
      description:
        'The first 100 orders that are reported again, as they are now. Read the others with `orders(filter: { orderIds })`.',
      resolve: (resent, _args, context) => loadOrders(context, resent),
    }),
  }),
});

const resendOrderEventsResult = mutationResult(
  'ResendOrderEventsResult',
  'The result of requesting webhooks again.',
  [orderEventsResentRef, ...usualRefusals],
);

const resendOrderEventsInput = builder.inputType('ResendOrderEventsInput', {
  description: 'Which webhooks to send again: of orders, of a window of time, or both.',
  fields: (t) => ({
    orderIds: t.idList({ description: 'Ids of the orders (uuid), 100 at most.' }),
    startAt: t.field({ type: 'DateTime', description: 'Start of the window, of 60 days at most.' }),
    endAt: t.field({ type: 'DateTime', description: 'End of the window; now when left out.' }),
  }),
});

builder.mutationFields((t) => ({
  cancelOrder: t.field({
    type: cancelOrderResult,
    extensions: needs('read:orders', 'write:orders'),
    description: 'Cancels an order, where its status still allows it.',
    args: {
      input: t.arg({ type: cancelOrderInput, description: 'Which order.' }),
      id: t.arg.id({ description: "The order's id (uuid).", deprecationReason: useInput }),
    },
    resolve: (_root, args, context) =>
      requestCancel(context, readUuid('id', readInput<CancelOrderInput>(args, 'id').id)),
  }),
  simulateOrder: t.field({
    type: simulateOrderResult,
    extensions: needs('read:orders', 'simulate:orders'),
    description:
      'Moves an order through its statuses; sandbox deployments only. A gateway that was set up for a production deployment answers `FeatureNotEnabled`; one that knows only the address of the service leaves it to the service.',
    args: {
      input: t.arg({ type: simulateOrderInput, description: 'Which order, and where to.' }),
      id: t.arg.id({ description: "The order's id (uuid).", deprecationReason: useInput }),
      finalStatus: t.arg.string({ description: finalStatus, deprecationReason: useInput }),
      delaySeconds: t.arg.int({ description: delaySeconds, deprecationReason: useInput }),
    },
    resolve: (_root, args, context) => {
      const input = readInput<SimulateOrderInput>(args, 'id');
      return requestSimulation(context, readUuid('id', input.id), {
        finalStatus: input.finalStatus ?? null,
        delaySeconds: input.delaySeconds ?? null,
        results: {
          interpretation: requireOpen('input', input, 'interpretation'),
          resultTypes: uniteOpen(input.resultTypes, input.resultTypesRaw),
          hasMissingResults: input.hasMissingResults ?? null,
        },
      });
    },
  }),
  updateOrder: t.field({
    type: updateOrderResult,
    extensions: needs('read:orders', 'write:orders'),
    description: 'Moves a scheduled order to another day, or activates it at once.',
    args: { input: t.arg({ type: updateOrderInput, required: true, description: 'What is to change.' }) },
    resolve: (_root, { input }, context) =>
      requestUpdate(context, readUuid('input.id', input.id), input.activateBy && toDay(input.activateBy)),
  }),
  resendOrderEvents: t.field({
    type: resendOrderEventsResult,
    extensions: needs('gateway-key'),
    description: 'Makes the service send webhooks of orders again, for example after an outage.',
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
