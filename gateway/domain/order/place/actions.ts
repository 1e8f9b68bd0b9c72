import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { AccessKind, Owner } from '../../../auth/rights.ts';
import { GatewayError, isGatewayError } from '../../../errors.ts';
import type { GraphContext } from '../../../graph/context.ts';
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
  type UserError,
} from '../../../graph/user-error.ts';
import type { Order } from '../read/rest.ts';
import { cursorAfter } from '../stream/actions.ts';
import { readOrderAnswer } from './rest.ts';
import { type AccountQuestion, needsPhysician } from './rest-physician.ts';

export interface OrderCreated {
  readonly kind: 'OrderCreated';
  readonly order: Order;
  readonly serviceStatus: string | null;
  readonly serviceMessage: string | null;
  readonly cursor: string;
}

export interface PhysicianRequired extends UserError {
  readonly kind: 'PhysicianRequired';
}

export type CreateOrderResult =
  | OrderCreated
  | InputRejected
  | IdempotencyConflict
  | PhysicianRequired
  | NotFound
  | FeatureNotEnabled;

/** One order to be placed at most once. */
export interface Placement {
  /** Names the attempt: two placements with one reference are the same. */
  readonly reference: string;
  /** For the owner check and the audit trail: a repeated placement shows the order without a call to the service. */
  readonly access: { readonly kind: AccessKind; readonly owner: Owner };
  /** Everything that was asked for: with another input the reference is a conflict. */
  readonly input: unknown;
  /** Sends it; the service's answer as sent, null when user or lab test do not exist. */
  readonly create: () => Promise<unknown>;
  /** Looks for the order of an attempt made at this time or later whose answer was lost. */
  readonly recover: (since: Date) => Promise<unknown>;
}

/**
 * What is kept for a placement: the service's answer as sent (null when it said yes in a way that cannot be
 * read), the log's position before it, and when the attempt began.
 */
const keptAnswer = z.object({ answer: z.unknown(), position: z.number(), since: z.coerce.date() });

/**
 * Places an order at most once per reference; a repeated placement gets the first answer again.
 * @throws GatewayError IDEMPOTENCY_UNSETTLED, UPSTREAM_*
 */
export async function placeOrder(
  context: GraphContext,
  placement: Placement,
): Promise<OrderCreated | IdempotencyConflict | NotFound> {
  const { reference, access, input, create, recover } = placement;
  const before = { position: await context.events.position(), since: new Date() };
  const outcome = await context.idempotency.run({
    key: reference,
    fingerprint: createHash('sha256').update(JSON.stringify(input)).digest('hex'),
    perform: () => keep(create(), before),
    recover: (since) => keep(recover(since), before),
    unreadable: { answer: null, ...before },
  });
  if (outcome.kind === 'conflict') return idempotencyConflict();
  if (outcome.kind === 'nothing' || !context.service.rights.mayShow(access.owner, access.kind)) {
    return notFound('user or lab test');
  }
  return await describeCreated(context, placement, outcome.answer);
}

interface Before {
  readonly position: number;
  readonly since: Date;
}

async function keep(answer: Promise<unknown>, before: Before): Promise<unknown> {
  const json = await answer;
  return json === null ? null : { answer: json, ...before };
}

async function describeCreated(
  context: GraphContext,
  { recover }: Placement,
  kept: unknown,
): Promise<OrderCreated> {
  const { answer, position, since } = keptAnswer.parse(kept);
  const readable = answer ?? (await recover(since).catch(() => null));
  if (readable === null) {
    throw new GatewayError(
      'UPSTREAM_UNREADABLE',
      "The service said yes in an answer that cannot be read. Look for the order among the user's orders.",
      { mayBeDone: true },
    );
  }
  const { order, serviceStatus, serviceMessage } = readOrderAnswer(readable);
  const cursor = await cursorAfter(context, order, position);
  return { kind: 'OrderCreated', order, serviceStatus, serviceMessage, cursor };
}

/** What a refused request said about physicians: without one, the account may be why. */
export interface Refused extends AccountQuestion {
  readonly hasPhysician: boolean;
}

/** What is refused where no lab account was named and nothing tells the lab. */
export const ofAnyAccount: AccountQuestion = { labAccountId: null, labTestId: null, takesPending: false };

/**
 * A refusal of the service as data. Which status a missing physician gets is not specified, so the lab
 * accounts are looked at instead of the words of the refusal.
 * @throws the error itself when it is no refusal
 */
export async function describeRefusal(
  context: GraphContext,
  error: unknown,
  refused: Refused,
): Promise<InputRejected | PhysicianRequired | FeatureNotEnabled> {
  if (isGatewayError(error, 'UPSTREAM_FORBIDDEN')) return featureNotEnabled();
  if (!isGatewayError(error, 'UPSTREAM_REJECTED')) throw error;
  const issues = toInputIssues(error.issues);
  if (!refused.hasPhysician && (await isForPhysician(context, issues, refused))) return physicianRequired();
  return inputRejected(issues);
}

async function isForPhysician(
  { service }: GraphContext,
  issues: readonly InputIssue[],
  refused: Refused,
): Promise<boolean> {
  if (issues.length > 0) return issues.some(({ path }) => path[0] === 'physician');
  return await needsPhysician(service, refused).catch(() => false);
}

function physicianRequired(): PhysicianRequired {
  return {
    kind: 'PhysicianRequired',
    code: 'PHYSICIAN_REQUIRED',
    message: 'Orders on this lab account need a physician of your own. Name one in `physician`.',
  };
}

/** A reference that names an attempt without revealing the caller's idempotency key. */
export function referenceOf(callerKey: string, idempotencyKey: string): string {
  return createHash('sha256').update(`${callerKey}\0${idempotencyKey}`).digest('hex').slice(0, 32);
}
