import { createHash } from 'node:crypto';
import { z } from 'zod';
import { GatewayError, isGatewayError } from '../../errors.ts';
import type { GraphContext } from '../../graph/context.ts';
import {
  type FeatureNotEnabled,
  featureNotEnabled,
  type IdempotencyConflict,
  type InputIssue,
  type InputRejected,
  idempotencyConflict,
  inputRejected,
  type NotFound,
  notFound,
  toInputIssues,
} from '../../graph/user-error.ts';
import { toCountry } from '../address/country.ts';
import { referenceOf } from './passthrough.ts';
import type { Order } from './rest.ts';
import { cursorAfter } from './updates.ts';
import { createTestkitOrder, findOrderAnswer, type NewTestkitOrder, readOrderAnswer } from './write.ts';

export interface OrderCreated {
  readonly kind: 'OrderCreated';
  readonly order: Order;
  readonly serviceStatus: string | null;
  readonly serviceMessage: string | null;
  readonly cursor: string;
}

export type CreateOrderResult =
  | OrderCreated
  | InputRejected
  | IdempotencyConflict
  | NotFound
  | FeatureNotEnabled;

/**
 * What is kept under an idempotency key: the service's answer as sent (null when it said yes in a way that cannot
 * be read), the log's position before it, and when the attempt began.
 */
const keptAnswer = z.object({ answer: z.unknown(), position: z.number(), since: z.coerce.date() });

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
  requireRightToOrder(context);
  const issues = findIssues(order, idempotencyKey);
  if (issues.length > 0) return inputRejected(issues);
  if (!service.rights.owns({ userId: order.userId })) return notFound('user or lab test');

  const reference = referenceOf(`${service.rights.key} testkit`, idempotencyKey);
  const before = { position: await context.events.position(), since: new Date() };
  try {
    const outcome = await context.attempts.run({
      key: reference,
      fingerprint: createHash('sha256').update(JSON.stringify(order)).digest('hex'),
      perform: () => keep(createTestkitOrder(service, order, reference), before),
      recover: (since) => keep(findOrderAnswer(service, order, { reference, since }), before),
      unreadable: { answer: null, ...before },
    });
    if (outcome.kind === 'conflict') return idempotencyConflict();
    if (outcome.kind === 'nothing') return notFound('user or lab test');
    return await describeCreated(context, order, { kept: outcome.answer, reference });
  } catch (error) {
    if (isGatewayError(error, 'UPSTREAM_REJECTED')) return inputRejected(toInputIssues(error.issues));
    if (isGatewayError(error, 'UPSTREAM_FORBIDDEN')) return featureNotEnabled();
    throw error;
  }
}

interface Before {
  readonly position: number;
  readonly since: Date;
}

async function keep(answer: Promise<unknown>, before: Before): Promise<unknown> {
  const json = await answer;
  return json === null ? null : { answer: json, ...before };
}

interface Kept {
  readonly kept: unknown;
  readonly reference: string;
}

async function describeCreated(
  context: GraphContext,
  asked: NewTestkitOrder,
  { kept, reference }: Kept,
): Promise<OrderCreated> {
  const { answer, position, since } = keptAnswer.parse(kept);
  const readable = answer ?? (await findOrderAnswer(context.service, asked, { reference, since }));
  if (readable === null) {
    throw new GatewayError(
      'UPSTREAM_UNREADABLE',
      "The service placed the order, but in an answer that cannot be read. Look for it among the user's orders.",
    );
  }
  const { order, serviceStatus, serviceMessage } = readOrderAnswer(readable);
  const cursor = await cursorAfter(context, order, position);
  return { kind: 'OrderCreated', order, serviceStatus, serviceMessage, cursor };
}

function requireRightToOrder({ service }: GraphContext): void {
  service.require('write:orders');
  if (service.rights.orderIds !== null) {
    throw new GatewayError('FORBIDDEN', 'A token that is limited to some orders cannot place new ones.');
  }
}

/** The service's own rules for a shipping address (public service), told before the call and all at once. */
const rules: readonly {
  readonly path: readonly string[];
  readonly message: string;
  readonly holds: (order: NewTestkitOrder) => boolean;
}[] = [
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
    holds: ({ shipping }) => /^\+[\d ().-]{5,30}$/.test(shipping.phoneNumber),
  },
];

function findIssues(order: NewTestkitOrder, idempotencyKey: string): readonly InputIssue[] {
  const issues = rules.filter((rule) => !rule.holds(order)).map(({ path, message }) => ({ path, message }));
  if (idempotencyKey.trim() !== '' && idempotencyKey.length <= 255) return issues;
  return [
    ...issues,
    { path: ['idempotencyKey'], message: 'Give 1 to 255 characters, new for each new order.' },
  ];
}

function isGiven(text: string): boolean {
  return text.trim() !== '';
}
