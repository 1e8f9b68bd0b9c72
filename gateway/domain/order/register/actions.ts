import { isGatewayError } from '../../../errors.ts';
import type { GraphContext } from '../../../graph/context.ts';
import {
  type FeatureNotEnabled,
  type InputRejected,
  inputRejected,
  type NotFound,
  notFound,
} from '../../../graph/user-error.ts';
import { settleLost } from '../../settle.ts';
import { describeRefusal, ofAnyAccount, type PhysicianRequired } from '../place/actions.ts';
import { findIssues, findPatientIssues, type InputRule, isGiven } from '../place/actions-rules.ts';
import { registerTestkit } from '../place/rest.ts';
import { isForPatient } from '../place/rest-lost.ts';
import type { Registration } from '../place/rest-request.ts';
import { findTestkit, type Order, type OrderEvent } from '../read/rest.ts';
import { readOrderStatus } from '../read/rest-status.ts';
import { cursorAfter } from '../stream/actions.ts';

export interface TestkitRegistered {
  readonly kind: 'TestkitRegistered';
  readonly order: Order;
  readonly cursor: string;
}

export type RegisterTestkitResult =
  | TestkitRegistered
  | InputRejected
  | PhysicianRequired
  | NotFound
  | FeatureNotEnabled;

const sampleRule: InputRule<Registration> = {
  path: ['sampleId'],
  message: 'Give the number that is printed on the kit.',
  holds: ({ sampleId }) => isGiven(sampleId),
};

/** How far apart the clocks of gateway and service may be, in milliseconds. */
const clockSkewMs = 5 * 60_000;

/**
 * Registers a kit by the number printed on it. The service may move the order to another user of the team; a
 * caller that is one user can register only a kit that was ordered for it, and only to itself.
 * @throws GatewayError FORBIDDEN, UPSTREAM_*
 */
export async function submitRegistration(
  context: GraphContext,
  registration: Registration,
): Promise<RegisterTestkitResult> {
  const { service } = context;
  service.rights.require('write:orders');
  const issues = [...findIssues([sampleRule], registration), ...findPatientIssues(registration)];
  if (issues.length > 0) return inputRejected(issues);
  const self = service.rights.userId;
  const userId = registration.userId ?? self;
  const isOwn = service.rights.owns({ userId }, 'write order.register-testkit');
  if (!isOwn || (self !== null && !(await ownsKit(context, registration, self)))) {
    return notFound('testkit or user');
  }

  const position = await context.events.position();
  const since = new Date(Date.now() - clockSkewMs);
  const describe = async (order: Order): Promise<TestkitRegistered> => {
    // The order may belong to another user from here on: nothing read before holds.
    context.loaders.clear();
    return { kind: 'TestkitRegistered', order, cursor: await cursorAfter(context, order, position) };
  };
  try {
    const answer = await registerTestkit(service, { ...registration, userId });
    return answer === null ? notFound('testkit or user') : await describe(answer.order);
  } catch (error) {
    if (isGatewayError(error, 'UPSTREAM_REJECTED', 'UPSTREAM_FORBIDDEN')) {
      return await explainRefusal(context, registration, error);
    }
    return await describe(
      await settleLost(error, () => findRegistered(context, { ...registration, userId }, since)),
    );
  }
}

async function ownsKit(
  { service }: GraphContext,
  { sampleId }: Registration,
  self: string,
): Promise<boolean> {
  return (await findTestkit(service, sampleId, { userId: self })) !== null;
}

/** A kit is registered once, and the service may refuse a second time without a reason: then the kit is looked at. */
async function explainRefusal(
  context: GraphContext,
  { sampleId, physician }: Registration,
  error: unknown,
): Promise<RegisterTestkitResult> {
  const refused = { ...ofAnyAccount, hasPhysician: physician !== null };
  const described = await describeRefusal(context, error, refused);
  if (described.kind !== 'InputRejected' || described.issues.length > 0) return described;
  const order = await findTestkit(context.service, sampleId, {}).catch(() => null);
  return order?.events.some(isRegistering)
    ? inputRejected([{ path: ['sampleId'], message: 'This kit is registered already.' }])
    : described;
}

/**
 * The kit's order, when it was registered since then; undefined when nothing shows that it was for this patient:
 * another registration may have come before this one.
 */
async function findRegistered(
  { service }: GraphContext,
  { userId, ...registration }: Registration,
  since: Date,
): Promise<Order | null | undefined> {
  const order = await findTestkit(service, registration.sampleId, { userId, updatedAfter: since });
  const isRegistered = order?.events.some(
    (event) => isRegistering(event) && event.createdAt !== null && event.createdAt >= since,
  );
  if (!order || !isRegistered) return null;
  return isForPatient(registration, order) ? order : undefined;
}

function isRegistering({ status }: OrderEvent): boolean {
  return readOrderStatus(status).step === 'REGISTERED';
}
