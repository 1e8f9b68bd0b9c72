import { openReceiver } from '../sandbox/support.ts';
import { type Lab, serviceKey, startLab } from '../support/lab.ts';
import { nodeIdOf } from '../support/node-id.ts';
import { labTestOf, patient, physician } from '../support/ordering.ts';
import { createRecorder, type Exchange } from './exchange.ts';
import { type Ask, type Asked, askTwoPages, createAsk } from './gateway-ask.ts';
import { demographicsInput, nobody, otherWords, shippingAddress, visitAddress } from './people.ts';

/** What the gateway was asked, and all that it and the service said to one another for it. */
export interface GatewayVisit {
  readonly exchanges: readonly Exchange[];
  /** `Query.orders` for each field that was asked for. */
  readonly fields: ReadonlySet<string>;
  /** Those that were answered with more than null or a refusal. */
  readonly succeeded: ReadonlySet<string>;
  /** `Query.orders.first` and `OrderFilter.search` for each argument and each field of an input that was given. */
  readonly inputs: ReadonlySet<string>;
  /** Errors of the answers; a visit is to have none. */
  readonly errors: readonly unknown[];
}

async function visitPeople(ask: Ask, lab: Lab): Promise<void> {
  for (const { userId, clientUserId } of lab.sandbox.users().slice(0, 4)) {
    await ask('user', { id: userId });
    await ask('userByClientUserId', { clientUserId });
  }
  await ask('viewer');
  await askTwoPages(ask, 'users', { first: 3 });
  await ask('user', { id: nobody });
  await askTwoPages(ask, 'historicalPulls', { first: 5 });
  await ask('historicalPulls', { first: 5, providerSlug: 'fitbit' });
  const ingestion = { ingestionStart: '2026-01-01', ingestionEnd: '2999-01-01' };
  const made = {
    clientUserId: 'contract-1',
    fallbackTimeZone: 'America/Phoenix',
    fallbackBirthDate: '1990-04-01',
  };
  const { user } = await ask('createUser', { input: { ...made, ...ingestion } });
  await ask('createUser', { input: made });
  await ask('createPortalUrl', { input: { userId: user.id, context: 'LAUNCH' } });
  await ask('updateDemographics', { input: { userId: user.id, ...demographicsInput } });
  await ask('updateDemographics', { input: { userId: user.id, ...demographicsInput, ...otherWords } });
  await ask('updateUser', { input: { id: user.id, clientUserId: 'contract-2', fallbackBirthDate: null } });
  await ask('updateUser', { input: { id: user.id, fallbackTimeZone: 'America/New_York', ...ingestion } });
  await ask('createPortalUrl', { input: { userId: user.id, context: 'COMMUNICATIONS' } });
  const { userId, orderId } = lab.sandbox.orders()[0] ?? {};
  await ask('createPortalUrl', { input: { userId, orderId } });
  await ask('createLaunchTicket', { input: { userId, orderId } });
  const limits = { scopes: ['read:orders'], origins: ['https://app.example.com'], ttlSeconds: 60 };
  await ask('createViewerToken', { input: { userId, orderIds: [orderId], ...limits } });
  await ask('revokeViewerTokens', { input: { userId: crypto.randomUUID(), jti: crypto.randomUUID() } });
  await ask('deleteUser', { id: user.id });
  await ask('undoUserDeletion', { by: { clientUserId: 'contract-2' } });
  await ask('deleteUser', { id: user.id });
  await ask('undoUserDeletion', { input: { by: { id: user.id } } });
  await ask('deleteUser', { input: { id: nobody } });
}

async function visitCatalogue(ask: Ask, lab: Lab): Promise<void> {
  const ids = lab.sandbox.labTests().map(({ labTestId }) => labTestId);
  await ask('labs');
  const [account] = await ask('labAccounts');
  await ask('labAccounts', { id: account.id, status: 'ACTIVE' });
  await ask('labAccounts', { filter: { status: 'ACTIVE' } });
  await ask('labAccounts', { filter: { statusRaw: 'pending' } });
  await ask('labTests', {
    first: 3,
    filter: { method: 'TESTKIT', name: 'a', labSlug: 'example-diagnostics' },
  });
  await ask('labTests', { first: 3, filter: { collectionMethod: 'TESTKIT', status: 'ACTIVE' } });
  const raw = { collectionMethodRaw: 'testkit', statusRaw: 'inactive' };
  await ask('labTests', { first: 3, filter: { ...raw, labAccountId: account.id } });
  await askTwoPages(ask, 'labTests', { first: 3 });
  await ask('labTest', { id: ids[0] });
  await ask('labTest', { id: nobody, labAccountId: account.id });
  await ask('lab', { id: '6' });
  await ask('marker', { id: '27001' });
  await ask('node', { nodeId: nodeIdOf('Lab', '6') });
  await ask('nodes', { nodeIds: [nodeIdOf('Marker', '27001'), nodeIdOf('LabTest', ids[0] ?? '')] });
  await ask('markers', { first: 3, labSlug: 'example-diagnostics', name: 'a' });
  await ask('markers', { first: 3, filter: { labSlug: 'example-diagnostics', name: 'a' } });
  await ask('markers', { first: 3, filter: { labAccountId: account.id } });
  await askTwoPages(ask, 'markers', { first: 3 });
  const set = { labTestIds: ids.slice(0, 2), addOnProviderIds: ['000307'] };
  await askTwoPages(ask, 'orderSetMarkers', { first: 3, ...set });
  const orderSet = { labTestIds: ids.slice(0, 2) };
  await ask('orderSetMarkers', { first: 3, orderSet, labAccountId: account.id });
  await ask('orderSetMarkers', { first: 3, addOnMarkerIds: ['27003'] });
}

async function visitOrders(ask: Ask, lab: Lab): Promise<void> {
  const walkIn = lab.sandbox.orders().find(({ method }) => method === 'walk_in_test');
  await lab.query(
    `{ order(id: "${walkIn?.orderId}") { serviceCenters(capabilities: [STAT]) { siteCode } } }`,
  );
  for (const { orderId } of lab.sandbox.orders().slice(0, 12)) await ask('order', { id: orderId });
  await ask('order', { id: nobody });
  const days = { createdAfter: '2020-01-01T00:00:00Z', updatedBefore: '2999-01-01T00:00:00Z' };
  const some = lab.sandbox.orders().slice(0, 2);
  const filters = [
    { interpretation: 'ABNORMAL', ...days },
    { interpretationRaw: 'unknown', updatedAfter: '2020-01-01T00:00:00Z' },
    { statuses: ['COMPLETED'], methods: ['TESTKIT'], search: 'a' },
    { statusesRaw: ['lost'], createdBefore: '2999-01-01T00:00:00Z' },
    { steps: ['COMPLETED'], collectionMethods: ['TESTKIT'] },
    { stepsRaw: ['lost'], collectionMethodsRaw: ['testkit'] },
    { transactionId: nobody, activations: ['CURRENT'] },
    { orderIds: some.map(({ orderId }) => orderId) },
  ];
  for (const filter of filters) await ask('orders', { first: 3, filter });
  await askTwoPages(ask, 'orders', { first: 3 });
  for (const kind of ['RESULT', 'REQUISITION']) {
    const { url } = await ask('createDocumentTicket', {
      input: { orderId: lab.sandbox.orders()[0]?.orderId, kind },
    });
    await (await fetch(`${lab.url}${url}`)).arrayBuffer();
  }
}

const wholePatient = {
  ...patient,
  patientDetails: {
    ...patient.patientDetails,
    race: demographicsInput.race,
    ethnicity: demographicsInput.ethnicity,
    sexualOrientation: demographicsInput.sexualOrientation,
    genderIdentity: demographicsInput.genderIdentity,
    medicalProxy: demographicsInput.medicalProxy,
    householdIncome: 40_000,
    householdSize: 3,
  },
  patientAddress: { ...patient.patientAddress, secondLine: 'Unit 4', phoneNumber: '+16025550100' },
};

const { gender, ...ungendered } = patient.patientDetails;

/** The same person in the service's own words. */
const patientInRaw = {
  ...patient,
  patientDetails: { ...ungendered, genderRaw: gender.toLowerCase(), ...otherWords },
};

const consents = [
  { consentType: 'HIPAA_AUTHORIZATION', version: '1.0', timeOfConsent: '2026-01-01T08:00:00Z' },
];

async function visitPlacing(ask: Ask, lab: Lab): Promise<void> {
  const userId = lab.sandbox.users()[0]?.userId;
  const base = { userId, ...wholePatient, orderSet: { labTestIds: [labTestOf(lab, 'at_home_phlebotomy')] } };
  const [{ id: labAccountId }] = await ask('labAccounts');
  const extras = {
    labAccountId,
    physician: { ...physician, email: 'robin@example.com', licensedStates: ['AZ'] },
    consents,
    aoeAnswers: [{ markerId: '27016', questionId: '1', answer: 'no' }],
    ...{ clinicalNotes: 'Fasting.', activateBy: '2999-01-01', updateReason: 'INCORRECT_LAB', priority: true },
    ...{ billingType: 'PATIENT_BILL', icdCodes: ['E78.5'], passthrough: 'basket 7' },
    collectionMethod: 'AT_HOME_PHLEBOTOMY',
  };
  await ask('createOrder', { input: { ...base, idempotencyKey: 'plain' } });
  const { order } = await ask('createOrder', { input: { ...base, ...extras, idempotencyKey: 'full' } });
  await ask('createOrder', {
    input: {
      ...base,
      orderSet: { addOn: { markerIds: ['27001'], providerIds: [] } },
      collectionMethod: 'WALK_IN_TEST',
      idempotencyKey: 'add-on',
    },
  });
  const raw = { collectionMethodRaw: 'at_home_phlebotomy', billingTypeRaw: 'client_bill' };
  const rawConsents = [{ consentTypeRaw: 'privacy-policy' }];
  await ask('createOrder', {
    input: { ...base, ...patientInRaw, ...raw, consents: rawConsents, idempotencyKey: 'raw' },
  });
  await ask('updateOrder', { input: { id: order.id, activateBy: null } });
  await ask('updateOrder', { input: { id: nobody, activateBy: '2999-02-01' } });
  await ask('resendOrderEvents', { input: { orderIds: [order.id] } });
  const [startAt, endAt] = [Date.now() - 3_600_000, Date.now()].map((time) => new Date(time).toISOString());
  await ask('resendOrderEvents', { input: { startAt, endAt } });
  await ask('cancelOrder', { id: order.id });
  await ask('cancelOrder', { input: { id: order.id } });
  const imported = {
    ...base,
    collectionMethod: 'AT_HOME_PHLEBOTOMY',
    billingType: 'CLIENT_BILL',
    sampleId: 'OWN-1',
    physician,
    labAccountId,
  };
  await ask('importOrder', { input: imported });
  await ask('importOrder', {
    input: { ...base, ...patientInRaw, ...raw, sampleId: 'OWN-2', physician, labAccountId },
  });
}

async function visitKits(ask: Ask, lab: Lab): Promise<void> {
  const userId = lab.sandbox.users()[0]?.userId;
  const kit = { userId, labTestId: labTestOf(lab, 'testkit'), shippingDetails: shippingAddress };
  const [{ id: labAccountId }] = await ask('labAccounts');
  await ask('createTestkitOrder', {
    input: { ...kit, labAccountId, idempotencyKey: 'kit-1', passthrough: 'shelf 7' },
  });
  await ask('createTestkitOrder', { input: { ...kit, userId: nobody, idempotencyKey: 'kit-2' } });
  const waiting = lab.sandbox.orders().filter(({ status }) => status.endsWith('.awaiting_registration'));
  for (const { orderId } of waiting) {
    const { sampleId } = await ask('order', { id: orderId });
    if (sampleId)
      await ask('registerTestkit', { input: { sampleId, userId, ...wholePatient, physician, consents } });
  }
  await ask('simulateOrder', { id: waiting[0]?.orderId });
  await ask('simulateOrder', {
    id: waiting[0]?.orderId,
    finalStatus: 'completed.testkit.completed',
    delaySeconds: 0,
  });
  await ask('simulateOrder', {
    input: {
      id: waiting[0]?.orderId,
      finalStatus: 'completed.testkit.completed',
      delaySeconds: 0,
      ...{ interpretation: 'ABNORMAL', resultTypes: ['NUMERIC'], hasMissingResults: true },
    },
  });
  await ask('simulateOrder', {
    input: { id: waiting[1]?.orderId, interpretationRaw: 'unknown', resultTypesRaw: ['range'] },
  });
}

const kinds = [
  {
    name: 'Phlebotomy',
    method: 'at_home_phlebotomy',
    type: 'PHLEBOTOMY',
    field: 'phlebotomyAvailability',
    input: { address: visitAddress, startDate: '2999-01-01' },
  },
  {
    name: 'ServiceCenter',
    method: 'walk_in_test',
    type: 'PATIENT_SERVICE_CENTER',
    field: 'serviceCenterAvailability',
    input: { lab: 'QUEST', zipCode: '85004', radius: 50, allowStale: true },
  },
] as const;

async function visitRequests(ask: Ask, orderId: string | undefined): Promise<void> {
  const asked = {
    orderId,
    address: { ...visitAddress, secondLine: 'Unit 4' },
    appointmentNotes: 'Mornings.',
  };
  await ask('requestPhlebotomyAppointment', { input: { ...asked, provider: 'GETLABS' } });
  await ask('requestPhlebotomyAppointment', { input: { ...asked, providerRaw: 'phlebfinders' } });
}

async function visitAppointments(ask: Ask, lab: Lab): Promise<void> {
  for (const { name, method, type, field, input } of kinds) {
    const waiting = lab.sandbox
      .orders()
      .find((each) => each.method === method && each.status.endsWith('.requisition_created'));
    const unasked = lab.sandbox
      .orders()
      .find((each) => each.method === method && each.status.endsWith('.ordered'));
    await ask('simulateOrder', { id: unasked?.orderId });
    const of = { orderId: waiting?.orderId };
    const slots = (await ask(field, { input })).flatMap(
      (day: { slots: { bookingKey: string }[] }) => day.slots,
    );
    const [reason] = await ask('appointmentCancellationReasons', { type });
    const more = name === 'ServiceCenter' ? { idempotencyKey: 'visit-1', asyncConfirmation: true } : {};
    const booking = { ...of, bookingKey: slots[2].bookingKey, appointmentNotes: 'Ring twice.' };
    const { appointment } = await ask(`book${name}Appointment`, { input: { ...booking, ...more } });
    await ask('appointment', { id: appointment.id });
    await ask('order', { id: waiting?.orderId });
    await ask(`reschedule${name}Appointment`, {
      input: { ...of, bookingKey: slots[4].bookingKey, appointmentNotes: 'Wait.' },
    });
    await ask(`cancel${name}Appointment`, {
      input: { ...of, cancellationReasonId: reason.id, notes: 'Ill.' },
    });
    await ask(`cancel${name}Appointment`, { input: { ...of, cancellationReasonId: reason.id } });
    if (name === 'Phlebotomy') await visitRequests(ask, unasked?.orderId);
  }
  const [center] = await ask('serviceCenters', { zipCode: '85004', labId: 6, radius: 50 });
  const days = { startDate: '2999-01-01', siteCodes: [center.siteCode] };
  await ask('serviceCenterAvailability', { input: { labRaw: 'quest', ...days } });
  await ask('serviceCenterAvailability', { input: { lab: 'QUEST', zipCode: '85004', within: 'MILES_50' } });
  await ask('areaInfo', { zipCode: '85004', radius: 50 });
  await ask('areaInfo', { zipCode: '85004', within: 'MILES_50' });
  await ask('serviceCenters', { zipCode: '85004', labId: 6, within: 'MILES_50', capabilities: ['STAT'] });
  const [{ id: labAccountId }] = await ask('labAccounts');
  await ask('areaInfo', { zipCode: '85004', labAccountId });
  await ask('serviceCenters', { zipCode: '85004', labId: 6, capabilitiesRaw: ['stat'], labAccountId });
}

/** The id of a workout whose stream can be read, as the webhook reports it. */
async function announceWorkout(lab: Lab): Promise<string> {
  await using receiver = await openReceiver();
  lab.sandbox.webhooks.register(receiver.url);
  await fetch(`${lab.serviceUrl}/sandbox/wearables`, {
    method: 'POST',
    headers: { 'x-service-api-key': serviceKey, 'content-type': 'application/json' },
    body: JSON.stringify({ user_id: lab.sandbox.users()[0]?.userId }),
  });
  await lab.sandbox.webhooks.settled();
  return String(receiver.received.find(({ body }) => body.data.workout_id)?.body.data.workout_id);
}

async function visitHealth(ask: Ask, lab: Lab): Promise<void> {
  const files = [new File(['%PDF-1.4 a report'], 'report.pdf', { type: 'application/pdf' })];
  const input = {
    userId: lab.sandbox.users()[0]?.userId,
    idempotencyKey: 'report-1',
    needsHumanReview: true,
  };
  const { labReport } = await ask('createLabReport', { input: { ...input, files } });
  await lab.sandbox.webhooks.settled();
  await ask('labReport', { id: labReport.id });
  await ask('eventCursor', { types: ['labtest.order.updated'] });
  await ask('eventCursor', { userId: nobody });
  await ask('workoutStream', { workoutId: nobody });
  await ask('workoutStream', { workoutId: await announceWorkout(lab) });
}

/** Goes through every query and mutation of a gateway, and records all requests to the service. */
export async function visitGateway(): Promise<GatewayVisit> {
  await using recorder = createRecorder();
  await using lab = await startLab({ serve: recorder.listen });
  const into: Asked = {
    fields: new Set<string>(),
    succeeded: new Set<string>(),
    inputs: new Set<string>(),
    errors: [],
  };
  const ask = createAsk(lab, into);
  await visitCatalogue(ask, lab);
  await visitOrders(ask, lab);
  await visitAppointments(ask, lab);
  await visitKits(ask, lab);
  await visitPlacing(ask, lab);
  await visitPeople(ask, lab);
  await visitHealth(ask, lab);
  return { exchanges: [...recorder.exchanges], ...into };
}
