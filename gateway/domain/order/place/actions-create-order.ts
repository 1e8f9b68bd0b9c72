import { countCharacters, isOver } from '../../../graph/arguments.ts';
import type { GraphContext } from '../../../graph/context.ts';
import { inputRejected, notFound } from '../../../graph/user-error.ts';
import { type CreateOrderResult, describeRefusal, placeOrder, referenceOf } from './actions.ts';
import {
  findIssues,
  findPatientIssues,
  type InputRule,
  isGiven,
  keyRule,
  orderSetRules,
} from './actions-rules.ts';
import { createOrder, findOrderAnswer, importOrder } from './rest.ts';
import { isOrderOf, isPlacedSince } from './rest-lost.ts';
import type { NewOrder, OrderToImport } from './rest-request.ts';

/** The specification's bound (Limits); the service may hold a lab to less. */
const notesRule: InputRule<NewOrder> = {
  path: ['clinicalNotes'],
  message: 'Give at most 1,000 characters.',
  holds: ({ clinicalNotes }) => countCharacters(clinicalNotes) <= 1000,
};

const dayRule: InputRule<NewOrder> = {
  path: ['activateBy'],
  message: 'Give a day that is not over yet.',
  holds: ({ activateBy }) => activateBy === null || !isOver(activateBy),
};

/**
 * Places an order, at most once per idempotency key of this caller: here by stored replies, and at the service
 * by its own idempotency key.
 * @throws GatewayError FORBIDDEN, IDEMPOTENCY_UNSETTLED, UPSTREAM_*
 */
export async function submitOrder(
  context: GraphContext,
  order: NewOrder,
  idempotencyKey: string,
): Promise<CreateOrderResult> {
  const { service } = context;
  service.rights.require('new-orders');
  const issues = [
    ...findIssues(orderSetRules, order),
    ...findPatientIssues(order),
    ...findIssues([notesRule, dayRule], order),
    ...findIssues([keyRule], { idempotencyKey }),
  ];
  if (issues.length > 0) return inputRejected(issues);
  const access = { kind: 'write order.create', owner: { userId: order.userId } } as const;
  if (!service.rights.owns(access.owner, access.kind)) return notFound('user or lab test');

  const reference = referenceOf(`${service.rights.key} order`, idempotencyKey);
  try {
    return await placeOrder(context, {
      reference,
      access,
      input: order,
      create: () => createOrder(service, order, reference),
      recover: (since) =>
        findOrderAnswer(service, order.userId, (found) => isOrderOf(order, { reference, since }, found)),
    });
  } catch (error) {
    return await describeRefusal(context, error, { ...refusedOf(order), takesPending: false });
  }
}

function refusedOf({ physician, labAccountId, orderSet }: NewOrder | OrderToImport) {
  return { hasPhysician: physician !== null, labAccountId, labTestId: orderSet.labTestIds[0] ?? null };
}

const importRules: readonly InputRule<OrderToImport>[] = [
  {
    path: ['sampleId'],
    message: 'Give the number on the sample.',
    holds: ({ sampleId }) => isGiven(sampleId),
  },
  {
    path: ['patientAddress', 'receiverName'],
    message: 'Give the name of the receiver.',
    holds: ({ patientAddress }) => isGiven(patientAddress.receiverName ?? ''),
  },
];

/**
 * Imports an order, at most once per sample: its number is the key that the service knows it by.
 * @throws GatewayError FORBIDDEN, IDEMPOTENCY_UNSETTLED, UPSTREAM_*
 */
export async function submitImport(context: GraphContext, order: OrderToImport): Promise<CreateOrderResult> {
  const { service } = context;
  service.rights.require('new-orders');
  const issues = [
    ...findIssues(orderSetRules, order),
    ...findPatientIssues(order),
    ...findIssues(importRules, order),
  ];
  if (issues.length > 0) return inputRejected(issues);
  const access = { kind: 'write order.import', owner: { userId: order.userId } } as const;
  if (!service.rights.owns(access.owner, access.kind)) return notFound('user or lab test');

  try {
    const result = await placeOrder(context, {
      reference: referenceOf(`${service.rights.key} import`, order.sampleId),
      access,
      input: order,
      create: () => importOrder(service, order),
      recover: (since) =>
        findOrderAnswer(
          service,
          order.userId,
          (found) => found.sampleId === order.sampleId && isPlacedSince(found, since),
        ),
    });
    return result.kind === 'IdempotencyConflict' ? sampleTaken() : result;
  } catch (error) {
    return await describeRefusal(context, error, { ...refusedOf(order), takesPending: true });
  }
}

function sampleTaken() {
  return inputRejected([
    { path: ['sampleId'], message: 'An order with this sample was imported before, with another input.' },
  ]);
}
