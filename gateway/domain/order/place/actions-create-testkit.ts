import type { GraphContext } from '../../../graph/context.ts';
import { inputRejected, notFound } from '../../../graph/user-error.ts';
import { isPhoneNumber, toCountry } from '../../address/rest.ts';
import { type CreateOrderResult, describeRefusal, ofAnyAccount, placeOrder, referenceOf } from './actions.ts';
import { findIssues, type InputRule, isGiven, keyRule } from './actions-rules.ts';
import { createTestkitOrder, findOrderAnswer, type NewTestkitOrder } from './rest.ts';
import { isTestkitOf } from './rest-lost.ts';

/**
 * Orders a testkit, at most once per idempotency key of this caller. The same key with the same input gives
 * the first answer again, without another call; with another input it is a conflict.
 * @throws GatewayError FORBIDDEN, IDEMPOTENCY_UNSETTLED, UPSTREAM_*
 */
export async function submitTestkitOrder(
  context: GraphContext,
  order: NewTestkitOrder,
  idempotencyKey: string,
): Promise<CreateOrderResult> {
  const { service } = context;
  service.rights.require('new-orders');
  const issues = [...findIssues(rules, order), ...findIssues([keyRule], { idempotencyKey })];
  if (issues.length > 0) return inputRejected(issues);
  const access = { kind: 'write order.create-testkit', owner: { userId: order.userId } } as const;
  if (!service.rights.owns(access.owner, access.kind)) return notFound('user or lab test');

  const reference = referenceOf(`${service.rights.key} testkit`, idempotencyKey);
  try {
    return await placeOrder(context, {
      reference,
      access,
      input: order,
      create: () => createTestkitOrder(service, order, reference),
      recover: (since) =>
        findOrderAnswer(service, order.userId, (found) => isTestkitOf(order, { reference, since }, found)),
    });
  } catch (error) {
    // A kit is ordered without a physician: one is asked for when it is registered.
    return await describeRefusal(context, error, { ...ofAnyAccount, hasPhysician: true });
  }
}

/** The service's own rules for a shipping address (public service), told before the call and all at once. */
const rules: readonly InputRule<NewTestkitOrder>[] = [
  {
    path: ['shippingDetails', 'receiverName'],
    message: 'Give the name of the receiver.',
    holds: ({ shipping }) => isGiven(shipping.receiverName),
  },
  {
    path: ['shippingDetails', 'firstLine'],
    message: 'Give street and number.',
    holds: ({ shipping }) => isGiven(shipping.firstLine),
  },
  {
    path: ['shippingDetails', 'city'],
    message: 'Give the city.',
    holds: ({ shipping }) => isGiven(shipping.city),
  },
  {
    path: ['shippingDetails', 'state'],
    message: 'Give the region code, such as AZ.',
    holds: ({ shipping }) => isGiven(shipping.state),
  },
  {
    path: ['shippingDetails', 'zip'],
    message: 'Give the postal code.',
    holds: ({ shipping }) => isGiven(shipping.zip),
  },
  {
    path: ['shippingDetails', 'country'],
    message: 'Give a two-letter country code, such as US.',
    holds: ({ shipping }) => toCountry(shipping.country).code !== null,
  },
  {
    path: ['shippingDetails', 'phoneNumber'],
    message: 'Give the phone number in international format, with a leading plus sign.',
    holds: ({ shipping }) => isPhoneNumber(shipping.phoneNumber),
  },
];
