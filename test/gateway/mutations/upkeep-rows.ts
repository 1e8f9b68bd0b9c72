import type { SpoiltLab } from '../../support/spoilt-lab.ts';
import { allOrders, firstUser, patient, physician } from './order-rows.ts';
import { canary, closed, given, type Row, refused, type Variables, withInput } from './row.ts';

const register = /^POST \/v3\/order\/testkit\/register$/;
const update = /^PATCH \/v3\/order\/[^/]+$/;
const cancel = /^POST \/v3\/order\/[^/]+\/cancel$/;
const simulate = /^POST \/v3\/order\/[^/]+\/test(\?|$)/;
const resend = /^POST \/v3\/order\/resend_events$/;

/** The first order whose status has this ending. */
export function orderAt(lab: Pick<SpoiltLab, 'sandbox'>, ending: string): string {
  const order = lab.sandbox.orders().find(({ status }) => status.endsWith(ending));
  if (order === undefined) throw new Error(`The world has no order at ${ending}.`);
  return order.orderId;
}

/** What the service has of an order that a change may touch. */
export async function traceOf(lab: SpoiltLab, orderId: unknown): Promise<unknown> {
  const sent = (await lab.peek(`/v3/order/${orderId}`)) as Record<string, unknown>;
  const events = sent.events as readonly { readonly status: string }[] | undefined;
  const { user_id, activate_by, patient_details } = sent;
  return { user_id, activate_by, patient_details, events: events?.map(({ status }) => status) };
}

async function sampleAtHome(lab: SpoiltLab): Promise<{ readonly sampleId: string; readonly userId: string }> {
  const sent = await lab.peek(`/v3/order/${orderAt(lab, 'testkit.with_customer')}`);
  const { sample_id, user_id } = sent as { readonly sample_id: string; readonly user_id: string };
  return { sampleId: sample_id, userId: user_id };
}

/** An order that waits for a day. */
async function scheduledOrder(lab: SpoiltLab): Promise<string> {
  const labTest = lab.sandbox.labTests().find(({ method }) => method === 'walk_in_test');
  const input = {
    userId: firstUser(lab),
    orderSet: { labTestIds: [labTest?.labTestId] },
    activateBy: '2999-01-01',
    idempotencyKey: `${canary}-scheduled`,
    ...patient,
  };
  const answer = await lab.query(
    'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { ... on OrderCreated { order { id } } } }',
    { variables: { input } },
  );
  return answer.data.createOrder.order.id;
}

const step = (lab: SpoiltLab, id: unknown) =>
  lab.query(`mutation { simulateOrder(id: "${id}") { __typename } }`);
const inputOf = (variables: Variables) => variables.input as { readonly id: string };
const noOrder = () => ({ id: crypto.randomUUID() });
const write = { kind: 'write', canLook: true, waits: false } as const;

/** What is done to orders that are there. */
export const upkeepRows: readonly Row[] = [
  {
    mutation: 'registerTestkit',
    success: 'TestkitRegistered',
    selection: '... on TestkitRegistered { order { id } cursor }',
    arrange: async (lab) => ({
      input: {
        ...(await sampleAtHome(lab)),
        ...patient,
        physician,
        consents: [{ consentType: 'HIPAA_AUTHORIZATION', timeOfConsent: '2026-01-01T08:00:00Z' }],
      },
    }),
    refusals: {
      InputRejected: given({ patientDetails: { ...patient.patientDetails, email: canary } }),
      PhysicianRequired: async (stage) => {
        const detail = [{ type: 'missing', loc: ['body', 'physician'], msg: 'Field required', input: {} }];
        await refused(register, 422, detail)(stage);
        return withInput(stage.variables, { physician: null });
      },
      NotFound: given({ sampleId: `${canary}-0` }),
      FeatureNotEnabled: closed(register),
    },
    asks: { call: register, ...write },
    trace: allOrders,
    // A kit is registered once; the service does not say why it refuses.
    again: 'InputRejected',
  },
  {
    mutation: 'updateOrder',
    success: 'OrderUpdated',
    selection: '... on OrderUpdated { order { id activateBy } }',
    arrange: async (lab) => ({ input: { id: await scheduledOrder(lab), activateBy: '2999-02-01' } }),
    refusals: {
      InputRejected: given({ activateBy: '2020-01-01' }),
      OrderUpdateRefused: async ({ lab, variables }) => {
        await step(lab, inputOf(variables).id);
        return variables;
      },
      NotFound: given(noOrder),
      FeatureNotEnabled: closed(update),
    },
    asks: { call: update, ...write },
    trace: (lab, variables) => traceOf(lab, inputOf(variables).id),
    again: 'OrderUpdated',
  },
  {
    mutation: 'cancelOrder',
    success: 'OrderCancelled',
    selection: '... on OrderCancelled { order { id } } ... on CancelRefused { status { step } }',
    arrange: (lab) => ({ id: orderAt(lab, 'testkit.awaiting_registration') }),
    refusals: {
      InputRejected: () => ({ id: canary }),
      CancelRefused: ({ lab }) => ({ id: orderAt(lab, '.completed') }),
      NotFound: noOrder,
      FeatureNotEnabled: closed(cancel),
    },
    asks: { call: cancel, ...write },
    trace: (lab, { id }) => traceOf(lab, id),
    again: 'CancelRefused',
  },
  {
    mutation: 'simulateOrder',
    success: 'OrderSimulated',
    selection: '... on OrderSimulated { order { id } }',
    arrange: (lab) => ({
      id: orderAt(lab, 'at_home_phlebotomy.ordered'),
      finalStatus: 'received.at_home_phlebotomy.requisition_created',
      delaySeconds: 0,
    }),
    refusals: {
      InputRejected: ({ variables }) => ({ ...variables, finalStatus: canary }),
      NotFound: noOrder,
      FeatureNotEnabled: closed(simulate),
    },
    asks: { call: simulate, ...write },
    trace: (lab, { id }) => traceOf(lab, id),
    again: 'InputRejected',
  },
  {
    mutation: 'resendOrderEvents',
    success: 'OrderEventsResent',
    selection: '... on OrderEventsResent { orderIds }',
    arrange: (lab) => ({
      input: {
        orderIds: [orderAt(lab, '.completed')],
        startAt: new Date(Date.now() - 1000 * 60 * 60 * 24 * 50),
      },
    }),
    refusals: {
      InputRejected: given({ startAt: '2020-01-01T00:00:00Z' }),
      NotFound: refused(resend, 404, `There is no ${canary}`),
      FeatureNotEnabled: closed(resend),
    },
    asks: { call: resend, ...write, canLook: false },
    trace: allOrders,
    leavesNoTrace: 'What was said before is said again, and read as what it is: no change.',
    again: 'OrderEventsResent',
  },
];
