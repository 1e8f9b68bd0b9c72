import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { oncePerKey } from '../../http/idempotency.ts';
import {
  consents,
  importedAddress,
  patientAddress,
  patientDetails,
  physician,
  shippingDetails,
} from '../../http/person.ts';
import { Refusal, refuse } from '../../http/refusal.ts';
import { requireLabTest, requireUser } from '../../http/require.ts';
import { readBody, textUpTo } from '../../http/validation.ts';
import type { Order } from '../../orders/order.ts';
import {
  aoeAnswers,
  chooseLabAccount,
  collectionMethod,
  orderSet,
  requireAnswers,
  resolveOrderSet,
} from '../../orders/order-set.ts';
import { presentChange } from '../../orders/present.ts';
import { advance, startOrder } from '../../orders/progress.ts';
import { statusOf, successPathOf } from '../../orders/states.ts';
import type { SandboxEnv, Service } from '../../service.ts';

const billing = z.enum(['client_bill', 'commercial_insurance', 'patient_bill_passthrough', 'patient_bill']);

const shared = {
  user_id: z.guid(),
  patient_details: patientDetails,
  physician: physician.nullish(),
  lab_account_id: z.guid().nullish(),
};

const createBody = z.object({
  ...shared,
  patient_address: patientAddress,
  lab_test_id: z.guid().nullish(),
  order_set: orderSet.nullish(),
  collection_method: collectionMethod.nullish(),
  priority: z.boolean().default(false),
  billing_type: billing.default('client_bill'),
  icd_codes: z.array(z.string()).nullish(),
  consents,
  activate_by: z.iso.date().nullish(),
  aoe_answers: aoeAnswers,
  passthrough: z.string().nullish(),
  // 1,000 characters (specification: Limits).
  clinical_notes: textUpTo(1000).nullish(),
  update_reason: z.enum(['INCORRECT_LAB']).nullish(),
});

const importBody = z.object({
  ...shared,
  patient_address: importedAddress,
  order_set: orderSet,
  collection_method: collectionMethod,
  billing_type: billing,
  sample_id: z.string().min(1),
});

const testkitBody = z.object({
  user_id: z.guid(),
  lab_test_id: z.guid(),
  shipping_details: shippingDetails,
  passthrough: z.string().nullish(),
  lab_account_id: z.guid().nullish(),
});

/** @throws Refusal 400 for a day that is over */
export function requireFutureDay(day: string): void {
  if (Date.parse(`${day}T23:59:59Z`) < Date.now()) throw refuse(400, 'activate_by is in the past');
}

function create(service: Service, body: z.output<typeof createBody>): Order {
  const { world, clock } = service;
  const user = requireUser(world, body.user_id);
  if (body.activate_by) requireFutureDay(body.activate_by);
  const { labTest, isGenerated, markers } = resolveOrderSet(world, body);
  requireAnswers(markers, body.aoe_answers);
  const defaultNotes = chooseLabAccount(world, {
    labAccountId: body.lab_account_id ?? null,
    labId: labTest.labId,
    hasPhysician: Boolean(body.physician),
    mayBePending: false,
  });
  const notes = [body.clinical_notes, defaultNotes].filter(Boolean).join('\n');
  const order = startOrder(world, {
    userId: user.id,
    labTestId: labTest.id,
    method: labTest.method,
    registrable: false,
    createdAt: clock.now(),
    passthrough: body.passthrough ?? null,
    patient: { details: body.patient_details, address: body.patient_address },
    isRecreation: Boolean(body.update_reason),
    ...(isGenerated ? { generatedLabTest: labTest } : {}),
    extras: {
      clinicalNotes: notes || null,
      physician: body.physician ?? null,
      billingType: body.billing_type,
      priority: body.priority,
      icdCodes: body.icd_codes ?? null,
      ...(body.activate_by ? { activateBy: body.activate_by } : {}),
    },
  });
  return begin(service, order, [statusOf(order.method, 'received.ordered')]);
}

function importOrder(service: Service, body: z.output<typeof importBody>): Order {
  const { world, clock } = service;
  const user = requireUser(world, body.user_id);
  if (world.state.orders.some((each) => each.sampleId === body.sample_id))
    throw sampleIdTaken(body.sample_id);
  const { labTest, isGenerated } = resolveOrderSet(world, body);
  chooseLabAccount(world, {
    labAccountId: body.lab_account_id ?? null,
    labId: labTest.labId,
    hasPhysician: Boolean(body.physician),
    mayBePending: true,
  });
  const order = startOrder(world, {
    userId: user.id,
    labTestId: labTest.id,
    method: labTest.method,
    registrable: false,
    createdAt: clock.now(),
    patient: { details: body.patient_details, address: body.patient_address },
    sampleId: body.sample_id,
    ...(isGenerated ? { generatedLabTest: labTest } : {}),
    extras: { physician: body.physician ?? null, billingType: body.billing_type },
  });
  return begin(service, order, [statusOf(order.method, 'received.requisition_bypassed')]);
}

/** A clash of sample ids is a validation error (public service: import). */
function sampleIdTaken(input: string): Refusal {
  const fault = {
    type: 'value_error',
    loc: ['body', 'sample_id'],
    msg: 'Value error, already in use',
    input,
  };
  return new Refusal(422, { detail: [fault] });
}

function begin(service: Service, order: Order, statuses: readonly string[]): Order {
  service.world.state.orders.push(order);
  for (const status of statuses) advance(service, order, { status });
  return order;
}

/** Sends out an unregistered kit: ordered, then awaiting its registration (specification: observed rows). */
function orderTestkit(service: Service, body: z.output<typeof testkitBody>): Order {
  const { world, clock } = service;
  const user = requireUser(world, body.user_id);
  const labTest = requireLabTest(world, body.lab_test_id);
  if (labTest.method !== 'testkit') throw refuse(400, 'The lab test is not done with a testkit');
  // A kit has no patient and no physician before it is registered.
  const account = { labAccountId: body.lab_account_id ?? null, hasPhysician: true, mayBePending: false };
  const clinicalNotes = chooseLabAccount(world, { ...account, labId: labTest.labId });

  const order = startOrder(world, {
    userId: user.id,
    labTestId: labTest.id,
    method: labTest.method,
    registrable: true,
    createdAt: clock.now(),
    shippingDetails: body.shipping_details,
    passthrough: body.passthrough ?? null,
    extras: { clinicalNotes },
  });
  return begin(service, order, successPathOf(order).slice(0, 2));
}

/** Placing and importing orders (specification: `POST /v3/order`, `/v3/order/create`, `/import`, endpoint 3). */
export function orderCreationRoutes(service: Service): Hono<SandboxEnv> {
  const { world, save } = service;
  const routes = new Hono<SandboxEnv>();
  const created = 'Order created successfully';

  const place = async (c: Context<SandboxEnv>) => {
    const answer = await oncePerKey(c, world, async () =>
      presentChange(world, create(service, await readBody(c, createBody)), created),
    );
    await save();
    return c.json(answer as object);
  };
  routes.post('/v3/order', place);
  // Both paths are in the specification; the public service has only the first.
  routes.post('/v3/order/create', place);

  routes.post('/v3/order/import', async (c) => {
    const order = importOrder(service, await readBody(c, importBody));
    const answer = presentChange(world, order, 'Order imported successfully');
    await save();
    return c.json(answer);
  });

  routes.post('/v3/order/testkit', async (c) => {
    const answer = presentChange(world, orderTestkit(service, await readBody(c, testkitBody)), created);
    await save();
    return c.json(answer);
  });

  return routes;
}
