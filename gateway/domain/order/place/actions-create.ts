import type { GraphContext } from '../../../graph/context.ts';
import { findIssues, under } from '../../../graph/input-rules.ts';
import { inputRejected } from '../../../graph/user-error.ts';
import { anyAccount, type CreateOrderResult, placeOrder, referenceOf } from './actions.ts';
import {
  findPatientIssues,
  importRules,
  keyRules,
  orderRules,
  orderSetRules,
  shippingRules,
} from './actions-rules.ts';
import { createOrder, createTestkitOrder, importOrder } from './rest.ts';
import { findOrderAnswer, isOrderOf, isPlacedSince, isTestkitOf } from './rest-recovery.ts';
import type { NewOrder, NewTestkitOrder, OrderToImport } from './rest-request.ts';

/**
 * Orders a testkit, at most once per idempotency key of this caller. The same key with the same input gives the first
 * answer again, without another call; with another input it is a conflict.
 * @throws GatewayError FORBIDDEN, IDEMPOTENCY_UNSETTLED, UPSTREAM_*
 */
export async function submitTestkitOrder(
  context: GraphContext,
  order: NewTestkitOrder,
  idempotencyKey: string,
): Promise<CreateOrderResult> {
  const { service } = context;
  const reference = referenceOf(`${service.rights.key} testkit`, idempotencyKey);
  return await placeOrder(context, {
    access: 'write order.create-testkit',
    issues: [
      ...under('shippingDetails', findIssues(shippingRules, order.shipping)),
      ...findIssues(keyRules, { idempotencyKey }),
    ],
    reference,
    input: order,
    // A kit is ordered without a physician: one is named at its registration.
    question: { ...anyAccount, hasPhysician: true },
    create: () => createTestkitOrder(service, order, reference),
    recover: (since) =>
      findOrderAnswer(service, order.userId, (found) => isTestkitOf(order, { reference, since }, found)),
  });
}

/**
 * Places an order, at most once per idempotency key of this caller: here by stored answers, and at the service by its own
 * idempotency key.
 * @throws GatewayError FORBIDDEN, IDEMPOTENCY_UNSETTLED, UPSTREAM_*
 */
export async function submitOrder(
  context: GraphContext,
  order: NewOrder,
  idempotencyKey: string,
): Promise<CreateOrderResult> {
  const { service } = context;
  const reference = referenceOf(`${service.rights.key} order`, idempotencyKey);
  return await placeOrder(context, {
    access: 'write order.create',
    issues: [
      ...findIssues(orderSetRules, order),
      ...findPatientIssues(order),
      ...findIssues(orderRules, order),
      ...findIssues(keyRules, { idempotencyKey }),
    ],
    reference,
    input: order,
    question: { ...questionOf(order), takesPending: false },
    create: () => createOrder(service, order, reference),
    recover: (since) =>
      findOrderAnswer(service, order.userId, (found) => isOrderOf(order, { reference, since }, found)),
  });
}

/**
 * Imports an order, at most once per sample: its number identifies the order at the service.
 * @throws GatewayError FORBIDDEN, IDEMPOTENCY_UNSETTLED, UPSTREAM_*
 */
export async function submitImport(context: GraphContext, order: OrderToImport): Promise<CreateOrderResult> {
  const { service } = context;
  const { userId, sampleId } = order;
  const result = await placeOrder(context, {
    access: 'write order.import',
    issues: [
      ...findIssues(orderSetRules, order),
      ...findPatientIssues(order),
      ...findIssues(importRules, order),
    ],
    reference: referenceOf(`${service.rights.key} import`, sampleId),
    input: order,
    question: { ...questionOf(order), takesPending: true },
    create: () => importOrder(service, order),
    recover: (since) =>
      findOrderAnswer(service, userId, (found) => found.sampleId === sampleId && isPlacedSince(found, since)),
  });
  if (result.kind !== 'IdempotencyConflict') return result;
  const message = 'An order with this sample was imported before, with another input.';
  return inputRejected([{ path: ['sampleId'], message }]);
}

function questionOf({ physician, labAccountId, orderSet }: NewOrder | OrderToImport) {
  return { hasPhysician: physician !== null, labAccountId, labTestId: orderSet.labTestIds[0] ?? null };
}
