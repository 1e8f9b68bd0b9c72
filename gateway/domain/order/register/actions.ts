import type { GraphContext } from '../../../graph/context.ts';
import { findIssues, given, type InputRule } from '../../../graph/input-rules.ts';
import {
  type FeatureNotEnabled,
  type InputRejected,
  inputRejected,
  isRefusal,
  type NotFound,
  notFound,
} from '../../../graph/user-error.ts';
import { afterWrite, settleLost, withoutWrite } from '../../settle.ts';
import { describeRefusal, type PhysicianRequired } from '../place/actions.ts';
import { findConsentIssues, findPatientIssues } from '../place/actions-rules.ts';
import type { Registration } from '../place/rest.ts';
import { registerTestkit } from '../place/rest.ts';
import { isForPatient } from '../place/rest-recovery.ts';
import { findTestkit } from '../read/rest.ts';
import type { Order, OrderEvent } from '../read/rest-order.ts';
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

const sampleRules: readonly InputRule<Registration>[] = [
  given('sampleId', 'Give the number that is printed on the kit.'),
];

/** How far apart the clocks of gateway and service may be, in milliseconds. */
const clockSkewMs = 5 * 60_000;

/**
 * Registers a kit by the number printed on it. The service may move the order to another user of the team; a viewer can
 * register only a kit that was ordered for its user, and only to that user.
 * @throws GatewayError FORBIDDEN, UPSTREAM_*
 */
export async function submitRegistration(
  context: GraphContext,
  input: Registration,
): Promise<RegisterTestkitResult> {
  const { events, service } = context;
  const issues = [
    ...findIssues(sampleRules, input),
    ...findPatientIssues(input),
    ...findConsentIssues(input),
  ];
  if (issues.length > 0) return inputRejected(issues);
  const registration = { ...input, userId: input.userId ?? service.rights.userId };
  if (!(await mayRegister(context, registration))) return notFound('testkit or user');

  const position = await withoutWrite(() => events.position());
  const since = new Date(Date.now() - clockSkewMs);
  let order: Order | null;
  try {
    const answer = await registerTestkit(service, registration);
    order = answer === null ? null : answer.order;
  } catch (error) {
    if (isRefusal(error)) return await explainRefusal(context, registration, error);
    order = await settleLost(error, () => findRegistered(context, registration, since));
  }
  if (order === null) return notFound('testkit or user');
  return await afterWrite(() => describeRegistered(context, order, position));
}

async function mayRegister({ service }: GraphContext, { userId, sampleId }: Registration): Promise<boolean> {
  if (!service.rights.owns({ userId }, 'write order.register-testkit')) return false;
  const viewer = service.rights.userId;
  return viewer === null || (await findTestkit(service, sampleId, { userId: viewer })) !== null;
}

async function describeRegistered(
  context: GraphContext,
  order: Order,
  position: number,
): Promise<TestkitRegistered> {
  return { kind: 'TestkitRegistered', order, cursor: await cursorAfter(context, order, position) };
}

/** A kit is registered once. The service may refuse a second time without a reason; the order's events show it. */
async function explainRefusal(
  context: GraphContext,
  { sampleId, physician }: Registration,
  error: unknown,
): Promise<RegisterTestkitResult> {
  let kit: Promise<Order | null> | undefined;
  const findKit = () => {
    kit ??= findTestkit(context.service, sampleId, {}).catch(() => null);
    return kit;
  };
  const findLab = async () => (await findKit())?.labTest?.lab?.slug ?? null;
  const question = physician === null ? { labAccountId: null, findLab, takesPending: false } : null;
  const refusal = await describeRefusal(context, error, question);
  if (refusal.kind !== 'InputRejected' || refusal.issues.length > 0) return refusal;
  const order = await findKit();
  return order?.events.some(isRegistering)
    ? inputRejected([{ path: ['sampleId'], code: 'TAKEN', message: 'This kit is registered already.' }])
    : refusal;
}

/**
 * The kit's order, when it was registered since then; undefined when nothing shows that it was for this patient:
 * another registration may have come before this one.
 */
async function findRegistered(
  { service }: GraphContext,
  registration: Registration,
  since: Date,
): Promise<Order | null | undefined> {
  const { userId, sampleId } = registration;
  const order = await findTestkit(service, sampleId, { userId, updatedAfter: since });
  const isRegistered = order?.events.some(
    (event) => isRegistering(event) && event.createdAt !== null && event.createdAt >= since,
  );
  if (!order || !isRegistered) return null;
  return isForPatient(registration, order) ? order : undefined;
}

function isRegistering({ status }: OrderEvent): boolean {
  return readOrderStatus(status).step === 'REGISTERED';
}
