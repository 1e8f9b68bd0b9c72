import { scopes } from '../../../gateway/auth/rights.ts';
import { gatewayKey, type Lab } from '../../support/lab.ts';
import type { SpoiltLab } from '../../support/spoilt-lab.ts';
import { subscribeOverSse } from '../../support/subscribe.ts';
import { operationRequest } from '../mutations/ask.ts';

/** Somebody who asks or is asked about, with everything that has an id and is theirs. */
export interface Person {
  /** Of all scopes. */
  readonly token: string;
  readonly userId: string;
  readonly clientUserId: string;
  readonly orderId: string;
  readonly transactionId: string;
  readonly labReportId: string;
  /** Of one of the user's orders. */
  readonly appointmentId: string;
  readonly workoutId: string;
  readonly cursors: Cursors;
}

/** The cursors of this person in each list and stream. */
interface Cursors {
  readonly orders: string;
  readonly ownOrders: string;
  readonly users: string;
  readonly pulls: string;
  readonly orderUpdates: string;
  readonly userOrderUpdates: string;
}

interface Whose {
  readonly userId: string;
  readonly orderId: string;
  /** Whether the token is for this order only. */
  readonly isNarrow?: boolean;
}

/** A person of the lab's world, who has uploaded a report and run once. */
export async function meet(lab: SpoiltLab, { userId, orderId, isNarrow = false }: Whose): Promise<Person> {
  const token = await lab.tokenFor(userId, { scopes, ...(isNarrow ? { orderIds: [orderId] } : {}) });
  const { user, order } = (
    await lab.query(
      `{ user(id: "${userId}") { clientUserId } order(id: "${orderId}") { transaction { id } } }`,
    )
  ).data;
  return {
    token,
    userId,
    orderId,
    clientUserId: user.clientUserId,
    transactionId: order.transaction.id,
    labReportId: await uploadReport(lab, userId),
    appointmentId: await visit(lab, userId),
    workoutId: await run(lab, userId),
    cursors: await findCursors(lab, { token, userId, orderId }),
  };
}

/** Something happens to an order, and the gateway has the event. */
export async function step(lab: Lab, orderId: string): Promise<void> {
  const answer = await lab.query(`mutation { simulateOrder(id: "${orderId}") { __typename } }`);
  if (answer.data?.simulateOrder?.__typename !== 'OrderSimulated') throw new Error('This order is over.');
  await lab.sandbox.webhooks.settled();
}

async function findCursors(
  lab: Lab,
  { token, userId, orderId }: Pick<Person, 'token' | 'userId' | 'orderId'>,
) {
  const { data } = await lab.query(
    `{ orders(first: 1) { pageInfo { endCursor } } users { pageInfo { endCursor } }
       user(id: "${userId}") { orders(first: 1) { pageInfo { endCursor } } } }`,
    { token },
  );
  const pulls = await lab.query('{ historicalPulls { pageInfo { endCursor } } }', { token });
  return {
    orders: data.orders.pageInfo.endCursor,
    ownOrders: data.user.orders.pageInfo.endCursor,
    users: data.users.pageInfo.endCursor,
    pulls: pulls.data?.historicalPulls?.pageInfo.endCursor ?? 'none',
    orderUpdates: await cursorOf(lab, token, `orderUpdates(orderId: "${orderId}")`),
    userOrderUpdates: await cursorOf(lab, token, `userOrderUpdates(userId: "${userId}")`),
  };
}

async function cursorOf({ url }: Lab, token: string, field: string): Promise<string> {
  const query = `subscription { item: ${field} { cursor } }`;
  const stream = await subscribeOverSse({ url, token, query });
  const first = await stream.next();
  await stream.close();
  return first?.data.item.cursor;
}

async function uploadReport({ gateway, url }: Lab, userId: string): Promise<string> {
  const file = new File(['%PDF-1.4 a report'], 'report.pdf', { type: 'application/pdf' });
  const input = { userId, files: [file], idempotencyKey: crypto.randomUUID() };
  const query = `mutation ($input: CreateLabReportInput!) { createLabReport(input: $input) {
    ... on LabReportCreated { labReport { id } } } }`;
  const answer = await gateway.fetch(operationRequest(url, { query, variables: { input } }, gatewayKey));
  return (await answer.json()).data.createLabReport.labReport.id;
}

/** An appointment of this user, made where there is none yet. */
async function visit(lab: Lab, userId: string): Promise<string> {
  const readAppointment = async (): Promise<string | null> => {
    const orders = 'orders(first: 20) { nodes { details { appointmentId } } }';
    const { data } = await lab.query(`{ user(id: "${userId}") { ${orders} } }`);
    const details: readonly Details[] = data.user.orders.nodes.map(
      (order: { details: Details }) => order.details,
    );
    return details.find((each) => each?.appointmentId)?.appointmentId ?? null;
  };
  const known = await readAppointment();
  if (known !== null) return known;
  const walkIn = lab.sandbox
    .orders()
    .find((order) => order.userId === userId && /walk_in/.test(order.status));
  const finalStatus = 'collecting_sample.walk_in_test.appointment_scheduled';
  await lab.query(
    `mutation { simulateOrder(id: "${walkIn?.orderId}", finalStatus: "${finalStatus}") { __typename } }`,
  );
  await lab.sandbox.webhooks.settled();
  return (await readAppointment()) ?? 'none';
}

type Details = { readonly appointmentId: string | null } | null;

/** The service reports a workout of this user, whose stream can be read. */
async function run({ sandbox }: Lab, userId: string): Promise<string> {
  const workoutId = crypto.randomUUID();
  const body = JSON.stringify({ time: [1], heartrate: [60], provider_id: `run-of-${userId}` });
  sandbox.faults.add({
    path: `/v2/timeseries/workouts/${workoutId}/stream`,
    effect: { kind: 'answer', status: 200, body },
  });
  sandbox.webhooks.send(
    'daily.data.workout_stream.created',
    { workout_id: workoutId, provider_id: 'run', message: 'Ready.' },
    { userId },
  );
  await sandbox.webhooks.settled();
  return workoutId;
}

/** The ids of all orders of a user. */
export function ordersOf({ sandbox }: Lab, userId: string): readonly string[] {
  return sandbox.orders().flatMap((order) => (order.userId === userId ? [order.orderId] : []));
}

/** Texts that identify these orders; no answer to a caller who may not see them contains one. */
export async function secretsOf(lab: SpoiltLab, orderIds: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(orderIds.map(async (id) => idsIn(await lab.peek(`/v3/order/${id}`))));
  return [...orderIds, ...found.flat()].map((text) => text.toLowerCase());
}

function idsIn(order: unknown): readonly string[] {
  const { sample_id, order_transaction } = order as {
    readonly sample_id: string | null;
    readonly order_transaction: { readonly id: string };
  };
  return [order_transaction.id, ...(sample_id === null ? [] : [sample_id])];
}
