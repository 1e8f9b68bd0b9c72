import { isGatewayError } from '../../errors.ts';
import type { GraphContext } from '../../graph/context.ts';
import {
  type FeatureNotEnabled,
  type InputRejected,
  inputRejected,
  type NotFound,
  notFound,
} from '../../graph/user-error.ts';
import { settleLost } from '../settle.ts';
import { findIssues, findPatientIssues, type InputRule, isGiven } from './patient-rules.ts';
import { describeRefusal, type PhysicianRequired } from './place.ts';
import type { Registration } from './request.ts';
import { findTestkit, type Order } from './rest.ts';
import { readOrderStatus } from './status.ts';
import { cursorAfter } from './updates.ts';
import { registerTestkit } from './write.ts';

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
  service.require('write:orders');
  const issues = [...findIssues([sampleRule], registration), ...findPatientIssues(registration)];
  if (issues.length > 0) return inputRejected(issues);
  const self = service.rights.userId;
  const userId = registration.userId ?? self;
  if (!service.rights.owns({ userId }) || (self !== null && !(await ownsKit(context, registration, self)))) {
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
      const refused = { hasPhysician: registration.physician !== null, labAccountId: null, labTestId: null };
      return await describeRefusal(context, error, refused);
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

/** The kit's order, when it was registered since then. */
async function findRegistered(
  { service }: GraphContext,
  { sampleId, userId }: Registration,
  since: Date,
): Promise<Order | null> {
  const order = await findTestkit(service, sampleId, { userId, updatedAfter: since });
  const isRegistered = order?.events.some(
    ({ status, createdAt }) =>
      readOrderStatus(status).step === 'REGISTERED' && createdAt !== null && createdAt >= since,
  );
  return isRegistered ? order : null;
}
