import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { onceForKey } from '../../http/idempotency.ts';
import { consents, importedAddress, patientAddress, patientDetails, physician } from '../../http/patient.ts';
import { Refusal, refuse } from '../../http/refusal.ts';
import { readBody, textUpTo } from '../../http/validation.ts';
import { appendEvent, startOrder } from '../../orders/life.ts';
import type { Order } from '../../orders/order.ts';
import {
  aoeAnswers,
  chooseLabAccount,
  collectionMethod,
  orderSet,
  requireAnswers,
  resolveOrderSet,
} from '../../orders/order-set.ts';
import { presentOrder } from '../../orders/present.ts';
import { statusOf } from '../../orders/states.ts';
import type { SandboxEnv, Service } from '../../service.ts';
import { findUser } from '../../world/world.ts';

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

/** A day that is over already cannot be waited for. */
export function requireFutureDay(day: string): void {
  if (Date.parse(`${day}T23:59:59Z`) < Date.now()) throw refuse(400, 'activate_by is in the past');
}

function create(service: Service, body: z.output<typeof createBody>): Order {
  const { world, clock } = service;
  if (!findUser(world, body.user_id)) throw refuse(404, 'User not found');
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
    userId: body.user_id.toLowerCase(),
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
  return begin(service, order, 'received.ordered');
}

function importOrder(service: Service, body: z.output<typeof importBody>): Order {
  const { world, clock } = service;
  if (!findUser(world, body.user_id)) throw refuse(404, 'User not found');
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
    userId: body.user_id.toLowerCase(),
    labTestId: labTest.id,
    method: labTest.method,
    registrable: false,
    createdAt: clock.now(),
    patient: { details: body.patient_details, address: body.patient_address },
    sampleId: body.sample_id,
    ...(isGenerated ? { generatedLabTest: labTest } : {}),
    extras: { physician: body.physician ?? null, billingType: body.billing_type },
  });
  return begin(service, order, 'received.requisition_bypassed');
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

function begin({ world, clock, announcer }: Service, order: Order, stageAndStep: string): Order {
  world.state.orders.push(order);
  appendEvent(world, order, { status: statusOf(order.method, stageAndStep), at: clock.now() });
  announcer.announce(order);
  return order;
}

/** Orders placed and orders imported (specification: `POST /v3/order`, `/v3/order/create`, `/v3/order/import`). */
export function orderCreationRoutes(service: Service): Hono<SandboxEnv> {
  const { world, save } = service;
  const routes = new Hono<SandboxEnv>();

  const answerOf = (order: Order, message: string) => ({
    order: presentOrder(world, order),
    status: 'success',
    message,
  });

  const place = async (c: Context<SandboxEnv>) => {
    const answer = await onceForKey(c, world, async () =>
      answerOf(create(service, await readBody(c, createBody)), 'Order created successfully'),
    );
    await save();
    return c.json(answer as object);
  };
  routes.post('/v3/order', place);
  // Both paths are in the specification; the public service has only the first.
  routes.post('/v3/order/create', place);

  routes.post('/v3/order/import', async (c) => {
    const answer = answerOf(
      importOrder(service, await readBody(c, importBody)),
      'Order imported successfully',
    );
    await save();
    return c.json(answer);
  });

  return routes;
}
