import { z } from 'zod';
import type { AccessKind } from '../../../auth/rights.ts';
import { GatewayError } from '../../../errors.ts';
import type { GraphContext } from '../../../graph/context.ts';
import { findIssues, findKeyIssues, under } from '../../../graph/input-rules.ts';
import {
  type FeatureNotEnabled,
  type IdempotencyConflict,
  type InputIssue,
  type InputRejected,
  idempotencyConflict,
  inputRejected,
  type NotFound,
  notFound,
  toRefusal,
  type UserError,
  withReason,
} from '../../../graph/user-error.ts';
import type { Service } from '../../../service/service.ts';
import { afterWrite, withoutWrite } from '../../settle.ts';
import { type Order, readOrderAnswer } from '../read/rest-order.ts';
import { cursorAfter } from '../stream/actions.ts';
import { fingerprintOf, referenceOf } from './actions-reference.ts';
import {
  findConsentIssues,
  findPatientIssues,
  giveKey,
  importRules,
  orderRules,
  orderSetRules,
  shippingRules,
} from './actions-rules.ts';
import type { NewOrder, NewTestkitOrder, OrderToImport } from './rest.ts';
import {
  type AccountQuestion,
  createOrder,
  createTestkitOrder,
  findLabOf,
  importOrder,
  needsPhysician,
} from './rest.ts';
import { findOrderAnswers, isLikeOrder, isLikeTestkit, isPlacedSince } from './rest-recovery.ts';

export interface OrderCreated {
  readonly kind: 'OrderCreated';
  readonly order: Order;
  readonly serviceStatus: string | null;
  readonly serviceMessage: string | null;
  readonly cursor: string;
}

export type PhysicianRequired = UserError<'PhysicianRequired'>;

type CreateOrderResult =
  | OrderCreated
  | InputRejected
  | IdempotencyConflict
  | PhysicianRequired
  | NotFound
  | FeatureNotEnabled;

/** One order to be placed at most once. */
interface Placement {
  /** For the owner check and the audit trail: a repeated placement shows the order without a call to the service. */
  readonly access: AccessKind;
  /** Broken rules: nothing is sent where there are any. */
  readonly issues: readonly InputIssue[];
  /** Names the attempt: two placements with one reference are the same. */
  readonly reference: string;
  /** With another input the reference is a conflict. */
  readonly input: { readonly userId: string };
  readonly question: AccountQuestion | null;
  /** Sends the order; resolves to the service's answer as sent, null when user or lab test do not exist. */
  readonly create: () => Promise<unknown>;
  /** Whether an order without a reference may come from an attempt made at this time or later. */
  readonly isAlike: (order: Order, since: Date) => boolean;
}

/**
 * Stored for a placement: the service's answer as sent (null when a success could not be read), the log's position
 * before it, and when the attempt began.
 */
const storedAnswer = z.object({ answer: z.unknown(), position: z.number(), since: z.coerce.date() });

/**
 * Checks and places an order at most once per reference; a repeated placement gets the first answer again.
 * @throws GatewayError FORBIDDEN, IDEMPOTENCY_UNSETTLED, UPSTREAM_*
 */
async function placeOrder(context: GraphContext, placement: Placement): Promise<CreateOrderResult> {
  const { access, issues, input, question } = placement;
  const { rights } = context.service;
  if (issues.length > 0) return inputRejected(issues);
  if (!rights.owns({ userId: input.userId }, access)) return notFound('user or lab test');
  try {
    return await placeOnce(context, placement);
  } catch (error) {
    return await describeRefusal(context, error, question);
  }
}

async function placeOnce(
  context: GraphContext,
  placement: Placement,
): Promise<OrderCreated | IdempotencyConflict | NotFound> {
  const { access, reference, input, create } = placement;
  const { events, idempotency, service } = context;
  const before = { position: await withoutWrite(() => events.position()), since: new Date() };
  const toStored = (answer: unknown) => (answer === null ? null : { answer, ...before });
  const outcome = await idempotency.run({
    key: reference,
    fingerprint: fingerprintOf(input),
    perform: async () => {
      const answer = await create();
      if (answer !== null) await afterWrite(() => hold(context, placement, answer));
      return toStored(answer);
    },
    recover: async (since) => toStored(await recover(context, placement, since)),
    unreadable: { answer: null, ...before },
  });
  if (outcome.kind === 'conflict') return idempotencyConflict();
  if (outcome.kind === 'nothing' || !service.rights.mayShow({ userId: input.userId }, access)) {
    return notFound('user or lab test');
  }
  return await afterWrite(() => describeCreated(context, placement, outcome.answer));
}

/** From now on the answer's order is of this placement and of no other. */
async function hold(
  { idempotency }: GraphContext,
  { reference }: Placement,
  answer: unknown,
): Promise<boolean> {
  const { id } = readOrderAnswer(answer).order;
  return await idempotency.hold(effectOf(id), reference);
}

function effectOf(orderId: string): string {
  return `order ${orderId.toLowerCase()}`;
}

/**
 * The answer to an attempt made at this time or later whose answer was lost, or null. An order of another placement is none.
 * @throws GatewayError IDEMPOTENCY_UNSETTLED when several orders may be its order: none of them is chosen
 */
async function recover(context: GraphContext, placement: Placement, since: Date): Promise<unknown> {
  const { service, idempotency } = context;
  const { input, reference, isAlike } = placement;
  const found = await findOrderAnswers(service, {
    userId: input.userId,
    reference,
    isAlike: (order) => isAlike(order, since),
  });
  const free: unknown[] = [];
  for (const { orderId, answer } of found) {
    if (!(await idempotency.isOfAnother(effectOf(orderId), reference))) free.push(answer);
  }
  const [answer = null, ...others] = free;
  if (others.length > 0) throw severalOrders();
  return answer !== null && (await hold(context, placement, answer)) ? answer : null;
}

function severalOrders(): GatewayError {
  return new GatewayError(
    'IDEMPOTENCY_UNSETTLED',
    "An earlier attempt under this idempotencyKey had no answer, and several orders may be its result. Look at the user's orders; a new order needs a new key.",
    { mayBeDone: true },
  );
}

async function describeCreated(
  context: GraphContext,
  placement: Placement,
  stored: unknown,
): Promise<OrderCreated> {
  const { answer, position, since } = storedAnswer.parse(stored);
  const readable = answer ?? (await recover(context, placement, since).catch(() => null));
  if (readable === null) {
    throw new GatewayError(
      'UPSTREAM_UNREADABLE',
      "The service reported success, but its answer cannot be read. Look for the order among the user's orders.",
      { mayBeDone: true },
    );
  }
  const created = readOrderAnswer(readable);
  return { kind: 'OrderCreated', ...created, cursor: await cursorAfter(context, created.order, position) };
}

/**
 * A refusal of the service as data. Which status a missing physician gets is not specified, so the gateway reads the lab
 * accounts and ignores the words of the refusal.
 * @param question null if a physician was named, or if none can be named
 * @throws the error itself when it is no refusal
 */
export async function describeRefusal(
  context: GraphContext,
  error: unknown,
  question: AccountQuestion | null,
): Promise<InputRejected | PhysicianRequired | FeatureNotEnabled> {
  const refusal = toRefusal(error);
  if (refusal.kind === 'FeatureNotEnabled' || question === null) return refusal;
  const isForPhysician =
    refusal.issues.length > 0
      ? refusal.issues.some(({ path }) => path[0] === 'physician')
      : await needsPhysician(context.service, question).catch(() => false);
  return isForPhysician ? physicianRequired(error) : refusal;
}

function physicianRequired(error: unknown): PhysicianRequired {
  const message = 'Orders on this lab account need a physician of your own. Name one in `physician`.';
  return { kind: 'PhysicianRequired', code: 'PHYSICIAN_REQUIRED', message: withReason(message, error) };
}

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
      ...findKeyIssues(idempotencyKey, giveKey),
    ],
    reference,
    input: order,
    // A kit is ordered without a physician: one is named at its registration.
    question: null,
    create: () => createTestkitOrder(service, order, reference),
    isAlike: (found, since) => isLikeTestkit(order, since, found),
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
      ...findConsentIssues(order),
      ...findIssues(orderRules, order),
      ...findKeyIssues(idempotencyKey, giveKey),
    ],
    reference,
    input: order,
    question: questionOf(service, order, { takesPending: false }),
    create: () => createOrder(service, order, reference),
    isAlike: (found, since) => isLikeOrder(order, since, found),
  });
}

/**
 * Imports an order, at most once per input of this caller. Whether another order has the sample is for the service to say.
 * @throws GatewayError FORBIDDEN, IDEMPOTENCY_UNSETTLED, UPSTREAM_*
 */
export async function submitImport(context: GraphContext, order: OrderToImport): Promise<CreateOrderResult> {
  const { service } = context;
  return await placeOrder(context, {
    access: 'write order.import',
    issues: [
      ...findIssues(orderSetRules, order),
      ...findPatientIssues(order),
      ...findIssues(importRules, order),
    ],
    reference: referenceOf(`${service.rights.key} import`, fingerprintOf(order)),
    input: order,
    question: questionOf(service, order, { takesPending: true }),
    create: () => importOrder(service, order),
    isAlike: (found, since) => found.sampleId === order.sampleId && isPlacedSince(found, since),
  });
}

function questionOf(
  service: Service,
  { physician, labAccountId, orderSet }: NewOrder | OrderToImport,
  { takesPending }: Pick<AccountQuestion, 'takesPending'>,
): AccountQuestion | null {
  if (physician !== null) return null;
  return { labAccountId, findLab: () => findLabOf(service, orderSet), takesPending };
}
