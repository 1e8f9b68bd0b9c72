import { createSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { openReceiver, type Received, type Receiver, shippingDetails } from '../sandbox/support.ts';
import { type Exchange, exchange } from './exchange.ts';
import { address, demographics, nobody, patient, physician } from './people.ts';

const apiKey = 'sk_sandbox_of_the_contract';
const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** A sandbox, everything that was asked of it, and the webhooks it has sent meanwhile. */
export interface Visit extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly exchanges: readonly Exchange[];
  readonly webhooks: readonly Received[];
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read like a client reads them, field by field.
type Ask = (method: string, path: string, body?: unknown) => Promise<any>;

/** A request with the key of the visit, for what comes after it. */
export function requestTo(method: string, path: string, body?: unknown): Request {
  const isForm = body instanceof FormData;
  return new Request(`http://sandbox.test${path}`, {
    method,
    headers: { 'x-service-api-key': apiKey, ...(isForm ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
}

async function askAll(ask: Ask, lines: readonly (readonly [string, string, unknown?])[]): Promise<void> {
  for (const [method, path, body] of lines) await ask(method, path, body);
}

async function visitUsers(ask: Ask, sandbox: Sandbox): Promise<void> {
  for (const { userId, clientUserId } of sandbox.users()) {
    await askAll(ask, [
      ['GET', `/v2/user/${userId}`],
      ['GET', `/v2/user/resolve/${clientUserId}`],
      ['GET', `/v2/user/${userId}/info/latest`],
      ['GET', `/v2/user/providers/${userId}`],
    ]);
  }
  await askAll(ask, [
    ['GET', '/v2/user/?offset=2&limit=5'],
    ['GET', '/v2/user'],
    ['GET', '/v2/introspect/historical_pull?user_limit=5'],
    ['GET', `/v2/user/${nobody}`],
    ['GET', '/v2/user/resolve/nobody'],
    ['GET', `/v2/user/${nobody}/info/latest`],
    ['GET', `/v2/user/providers/${nobody}`],
  ]);
}

async function visitNewUser(ask: Ask): Promise<void> {
  const made = {
    client_user_id: 'contract-1',
    fallback_time_zone: 'America/Phoenix',
    fallback_birth_date: '1990-04-01',
  };
  const { user_id } = await ask('POST', '/v2/user', made);
  await askAll(ask, [
    ['POST', '/v2/user', made],
    ['POST', `/v2/user/${user_id}/create_portal_url`, { context: 'launch' }],
    ['PATCH', `/v2/user/${user_id}/info`, demographics],
    ['GET', `/v2/user/${user_id}/info/latest`],
    ['POST', `/v2/user/${user_id}/create_portal_url`, { context: 'launch', order_id: null }],
    ['POST', `/v2/user/${user_id}/create_portal_url`, { context: 'communications' }],
    ['POST', `/v2/user/${nobody}/create_portal_url`, { context: 'launch' }],
    ['PATCH', `/v2/user/${user_id}`, { client_user_id: 'contract-2' }],
    ['DELETE', `/v2/user/${user_id}`],
    ['DELETE', `/v2/user/${user_id}`],
    ['POST', `/v2/user/undo_delete?user_id=${user_id}`],
    ['POST', `/v2/user/undo_delete?user_id=${nobody}`],
  ]);
}

async function visitCatalogue(ask: Ask, sandbox: Sandbox): Promise<void> {
  const ids = sandbox.labTests().map(({ labTestId }) => labTestId);
  const [first] = (await ask('GET', '/v3/lab_tests/markers?page=1&size=3&name=a')).markers;
  await askAll(ask, [
    ...ids.flatMap((id) => [
      ['GET', `/v3/lab_tests/${id}`] as const,
      ['GET', `/v3/lab_tests/${id}/markers`] as const,
    ]),
    ['GET', '/v3/lab_tests/markers?size=100'],
    ['GET', '/v3/lab_test?lab_test_limit=3'],
    ['GET', '/v3/lab_tests/labs'],
    ['GET', '/v3/lab_test/lab_account'],
    ['GET', '/v3/lab_test/lab_account?status=pending'],
    ['GET', `/v3/lab_tests/${nobody}`],
    [
      'POST',
      '/v3/lab_tests/list_order_set_markers?page=1&size=100',
      { lab_test_ids: ids, add_on: { provider_ids: [first.provider_id] } },
    ],
  ]);
}

async function visitOrders(ask: Ask, sandbox: Sandbox): Promise<void> {
  for (const { orderId } of sandbox.orders()) {
    const path = `/v3/order/${orderId}`;
    await askAll(ask, [
      ['GET', path],
      ['GET', `${path}/result`],
      ['GET', `${path}/result/metadata`],
      ['GET', `${path}/result/pdf`],
      ['GET', `${path}/requisition/pdf`],
      ['GET', `${path}/phlebotomy/appointment`],
      ['GET', `${path}/psc/appointment`],
      ['GET', `${path}/psc/info?radius=25`],
    ]);
  }
  await askAll(ask, [
    ['GET', '/orders?interpretation=abnormal&page=1&size=100'],
    ['GET', '/v3/orders?page=1&size=100'],
    ['GET', `/v3/orders?user_id=${nobody}`],
    ['GET', `/v3/order/${nobody}`],
  ]);
}

/** Walks a new kit, and one order of each method, to their ends; then cancels what can and cannot be cancelled. */
async function visitLives(ask: Ask, sandbox: Sandbox): Promise<void> {
  const labTest = sandbox.labTests().find(({ method }) => method === 'testkit');
  const user_id = sandbox.users()[0]?.userId;
  const kit = { user_id, lab_test_id: labTest?.labTestId, shipping_details: shippingDetails };
  const { order } = await ask('POST', '/v3/order/testkit', kit);
  await ask('POST', '/v3/order/testkit', { ...kit, user_id: nobody });
  await ask('POST', `/v3/order/${order.id}/cancel`);
  await ask('POST', `/v3/order/${order.id}/cancel`);
  const begun = sandbox.orders().filter(({ status }) => status.startsWith('received.'));
  for (const { orderId } of begun) {
    for (let step = 0; step < 12; step += 1) {
      const answer = await ask('POST', `/v3/order/${orderId}/test`, { interpretation: 'critical' });
      if (answer !== 'Success') break;
      await ask('GET', `/v3/order/${orderId}`);
    }
    await ask('GET', `/v3/order/${orderId}/result`);
  }
}

/** Orders of the team's own making, and what is done to them before they are under way. */
async function visitPlacing(ask: Ask, sandbox: Sandbox): Promise<void> {
  const lab_test_ids = sandbox
    .labTests()
    .filter(({ method }) => method === 'walk_in_test')
    .slice(0, 1);
  const order_set = { lab_test_ids: lab_test_ids.map(({ labTestId }) => labTestId) };
  const placed = { user_id: sandbox.users()[0]?.userId, ...patient, order_set };
  const later = { ...placed, activate_by: '2999-01-01', clinical_notes: 'Fasting.', physician };
  const imported = {
    ...placed,
    collection_method: 'walk_in_test',
    billing_type: 'client_bill',
    sample_id: 'OWN-1',
  };
  const { order } = await ask('POST', '/v3/order', later);
  await askAll(ask, [
    ['POST', '/v3/order/create', placed],
    ['POST', '/v3/order', { ...placed, user_id: nobody }],
    ['POST', '/v3/order/import', imported],
    ['POST', '/v3/order/import', imported],
    ['PATCH', `/v3/order/${order.id}`, { activate_by: '2999-02-01' }],
    ['PATCH', `/v3/order/${order.id}`, { activate_by: '2001-02-01' }],
    ['POST', '/v3/order/resend_events', { order_ids: [order.id] }],
    ['POST', '/v3/order/resend_events', {}],
    ['POST', '/v3/order/testkit/register', { sample_id: 'nothing', ...patient }],
  ]);
  const kits = sandbox.orders().filter(({ status }) => status.endsWith('.awaiting_registration'));
  for (const { orderId } of kits) {
    const { sample_id } = await ask('GET', `/v3/order/${orderId}`);
    if (sample_id) await ask('POST', '/v3/order/testkit/register', { sample_id, ...patient });
  }
}

const kinds = [
  {
    part: 'phlebotomy',
    method: 'at_home_phlebotomy',
    slots: { path: '/v3/order/phlebotomy/appointment/availability', body: address },
    cancelWith: (id: string) => ({ cancellation_reason_id: id, notes: 'Ill.' }),
  },
  {
    part: 'psc',
    method: 'walk_in_test',
    slots: {
      path: '/v3/order/psc/appointment/availability?lab=quest&zip_code=85004&radius=25',
      body: undefined,
    },
    cancelWith: (id: string) => ({ cancellationReasonId: id, note: 'Ill.' }),
  },
];

async function visitRequest(ask: Ask, sandbox: Sandbox): Promise<void> {
  const order = sandbox.orders().find(({ status }) => status === 'received.at_home_phlebotomy.ordered');
  await ask('POST', `/v3/order/${order?.orderId}/test`);
  const body = { address, provider: 'phlebfinders', appointment_notes: 'Mornings.' };
  await ask('POST', `/v3/order/${order?.orderId}/phlebotomy/appointment/request`, body);
}

async function visitAppointments(ask: Ask, sandbox: Sandbox): Promise<void> {
  for (const { part, method, slots, cancelWith } of kinds) {
    const waiting = sandbox
      .orders()
      .find((each) => each.method === method && each.status.endsWith('.requisition_created'));
    const base = `/v3/order/${waiting?.orderId}/${part}/appointment`;
    const found = await ask('POST', slots.path, slots.body);
    const keys = found.slots.flatMap((day: { slots: { booking_key: string }[] }) => day.slots);
    const reasons = await ask('GET', `/v3/order/${part}/appointment/cancellation-reasons`);
    await askAll(ask, [
      ['POST', `${base}/book`, { booking_key: 'none' }],
      ['POST', `${base}/book`, { booking_key: keys[2].booking_key, appointment_notes: 'Ring twice.' }],
      ['POST', `${base}/book`, { booking_key: keys[3].booking_key }],
      ['PATCH', `${base}/reschedule`, { booking_key: keys[4].booking_key }],
      ['GET', base],
      ['PATCH', `${base}/cancel`, cancelWith(reasons[0].id)],
      ['PATCH', `${base}/cancel`, cancelWith(reasons[0].id)],
    ]);
    if (part === 'phlebotomy') await visitRequest(ask, sandbox);
  }
  await askAll(ask, [
    ['GET', '/v3/order/area/info?zip_code=85004&radius=25'],
    ['GET', '/v3/order/area/info?zip_code=00001'],
    ['GET', '/v3/order/psc/info?zip_code=85004&lab_id=6&radius=50'],
    ['POST', '/v3/order/psc/appointment/availability?lab=quest&zip_code=00001'],
  ]);
}

async function visitLabReports(ask: Ask, sandbox: Sandbox): Promise<void> {
  for (const needsReview of ['true', 'false']) {
    const form = new FormData();
    form.set('file', new File(['%PDF-1.4 a report'], 'report.pdf', { type: 'application/pdf' }));
    form.set('user_id', sandbox.users()[0]?.userId ?? '');
    form.set('needs_human_review', needsReview);
    const job = await ask('POST', '/lab_report/v1/parser/job', form);
    await ask('GET', `/lab_report/v1/parser/job/${job.id}`);
    await sandbox.webhooks.settled();
    await ask('GET', `/lab_report/v1/parser/job/${job.id}`);
  }
  await ask('GET', `/lab_report/v1/parser/job/${nobody}`);
}

async function visitWearables(ask: Ask, sandbox: Sandbox, { received }: Receiver): Promise<void> {
  for (const { userId } of sandbox.users()) await ask('POST', '/sandbox/wearables', { user_id: userId });
  await sandbox.webhooks.settled();
  const workouts = received.flatMap(({ body }) => body.data.workout_id ?? []);
  await ask('GET', `/v2/timeseries/workouts/${workouts[0]}/stream`);
  await ask('GET', `/v2/timeseries/workouts/${nobody}/stream`);
}

/** Goes through every operation of a sandbox, with requests that succeed and requests that it refuses. */
export async function visitSandbox(): Promise<Visit> {
  const sandbox = createSandbox({ apiKey, webhookSecret, speed: 100_000 });
  const exchanges: Exchange[] = [];
  const ask: Ask = async (method, path, body) => {
    const [recorded] = await exchange(sandbox, requestTo(method, path, body));
    if (!path.startsWith('/sandbox/')) exchanges.push(recorded);
    return recorded.received;
  };
  const receiver = await openReceiver();
  sandbox.webhooks.register(receiver.url);
  await visitUsers(ask, sandbox);
  await visitCatalogue(ask, sandbox);
  await visitOrders(ask, sandbox);
  await visitAppointments(ask, sandbox);
  await visitPlacing(ask, sandbox);
  await visitLives(ask, sandbox);
  await visitLabReports(ask, sandbox);
  await visitWearables(ask, sandbox, receiver);
  await visitNewUser(ask);
  await sandbox.webhooks.settled();
  return {
    sandbox,
    exchanges,
    webhooks: receiver.received,
    [Symbol.asyncDispose]: async () => {
      await sandbox.close();
      await receiver[Symbol.asyncDispose]();
    },
  };
}
