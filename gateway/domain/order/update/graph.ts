import { readOptionalUuid, readUuid } from '../../../graph/arguments.ts';
import { builder } from '../../../graph/builder.ts';
import {
  featureNotEnabledRef,
  inputRejectedRef,
  notFoundRef,
  userErrorRef,
} from '../../../graph/mutation-result.ts';
import { submitTestkitOrder } from '../place/actions-create-testkit.ts';
import { createOrderResult } from '../place/graph-result.ts';
import { orderRef } from '../read/graph.ts';
import { orderStatusRef } from '../read/graph-status.ts';
import { readOrderStatus } from '../read/rest-status.ts';
import {
  type CancelRefused,
  type OrderCancelled,
  type OrderSimulated,
  requestCancel,
  requestSimulation,
} from './actions-cancel.ts';

const shippingAddressInput = builder.inputType('ShippingAddressInput', {
  description: 'Where a kit is sent.',
  fields: (t) => ({
    receiverName: t.string({ required: true, description: 'Who receives the kit.' }),
    firstLine: t.string({ required: true, description: 'Street and number.' }),
    secondLine: t.string({ description: 'Flat, floor or the like.' }),
    city: t.string({ required: true, description: 'Name of the city.' }),
    state: t.string({ required: true, description: 'Region code, such as AZ.' }),
    zip: t.string({ required: true, description: 'Postal code.' }),
    country: t.string({ required: true, description: 'Two-letter country code, such as US.' }),
    phoneNumber: t.string({
      required: true,
      description: 'Phone number in international format, such as +16025550100.',
    }),
  }),
});

const createTestkitOrderInput = builder.inputType('CreateTestkitOrderInput', {
  description: 'An order of a testkit that is registered later.',
  fields: (t) => ({
    userId: t.id({ required: true, description: 'Id of the user it is for (uuid).' }),
    labTestId: t.id({
      required: true,
      description: 'Id of the lab test (uuid); its method must be TESTKIT.',
    }),
    labAccountId: t.id({
      description: 'Id of the lab account it stands on (uuid); chosen by the service when left out.',
    }),
    shippingDetails: t.field({
      type: shippingAddressInput,
      required: true,
      description: 'Where the kit is sent.',
    }),
    idempotencyKey: t.string({
      required: true,
      description: 'Your own key, new for each new order: repeating a call with it never ships a second kit.',
    }),
    passthrough: t.string({ description: 'Any text of yours; given back on the order.' }),
  }),
});

const orderCancelledRef = builder.objectRef<OrderCancelled>('OrderCancelled').implement({
  description: 'The order was cancelled.',
  fields: (t) => ({
    order: t.expose('order', { type: orderRef, nullable: false, description: 'The order as it is now.' }),
  }),
});

const cancelRefusedRef = builder.objectRef<CancelRefused>('CancelRefused').implement({
  description: 'The order can no longer be cancelled.',
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

const cancelOrderResult = builder.unionType('CancelOrderResult', {
  description: 'What came of cancelling an order.',
  types: [orderCancelledRef, cancelRefusedRef, notFoundRef],
  resolveType: (result) => result.kind,
});

const orderSimulatedRef = builder.objectRef<OrderSimulated>('OrderSimulated').implement({
  description: 'The order was moved along its life.',
  fields: (t) => ({
    order: t.expose('order', { type: orderRef, nullable: false, description: 'The order as it is now.' }),
  }),
});

const simulateOrderResult = builder.unionType('SimulateOrderResult', {
  description: 'What came of simulating an order.',
  types: [orderSimulatedRef, inputRejectedRef, notFoundRef, featureNotEnabledRef],
  resolveType: (result) => result.kind,
});

builder.mutationFields((t) => ({
  createTestkitOrder: t.field({
    type: createOrderResult,
    nullable: false,
    description:
      'Orders a testkit that the patient registers later. Viewer tokens need the scope write:orders.',
    args: { input: t.arg({ type: createTestkitOrderInput, required: true, description: 'The order.' }) },
    resolve: (_root, { input }, context) =>
      submitTestkitOrder(
        context,
        {
          userId: readUuid('input.userId', input.userId),
          labTestId: readUuid('input.labTestId', input.labTestId),
          labAccountId: readOptionalUuid('input.labAccountId', input.labAccountId),
          shipping: { ...input.shippingDetails, secondLine: input.shippingDetails.secondLine ?? null },
          passthrough: input.passthrough ?? null,
        },
        input.idempotencyKey,
      ),
  }),
  cancelOrder: t.field({
    type: cancelOrderResult,
    nullable: false,
    description:
      'Cancels an order, where its status still allows it. Viewer tokens need the scopes read:orders and write:orders.',
    args: { id: t.arg.id({ required: true, description: "The order's id (uuid)." }) },
    resolve: (_root, args, context) => requestCancel(context, readUuid('id', args.id)),
  }),
  simulateOrder: t.field({
    type: simulateOrderResult,
    nullable: false,
    description:
      'Moves an order through its statuses; sandbox deployments only. Viewer tokens need the scopes read:orders and simulate:orders.',
    args: {
      id: t.arg.id({ required: true, description: "The order's id (uuid)." }),
      finalStatus: t.arg.string({
        description:
          'Where to go, such as completed.testkit.completed. Left out: one step in the embedded sandbox.',
      }),
      delaySeconds: t.arg.int({ description: 'How long to wait between steps, in seconds.' }),
    },
    resolve: (_root, args, context) =>
      requestSimulation(context, readUuid('id', args.id), {
        finalStatus: args.finalStatus ?? null,
        delaySeconds: args.delaySeconds ?? null,
      }),
  }),
}));
