import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Rights } from '../../gateway/auth/rights.ts';
import * as visits from '../../gateway/domain/appointment/rest.ts';
import {
  getAppointment,
  listCancellationReasons,
  readAppointment,
} from '../../gateway/domain/appointment/rest.ts';
import {
  getAreaInfo,
  listCenterAvailability,
  listCentersOfOrder,
  listPhlebotomyAvailability,
  listServiceCenters,
} from '../../gateway/domain/appointment/rest-places.ts';
import * as health from '../../gateway/domain/health-data/rest.ts';
import { listLabAccounts } from '../../gateway/domain/lab-account/rest.ts';
import {
  createLabReport,
  getLabReport,
  readLabReport,
  versionOfLabReport,
} from '../../gateway/domain/lab-report/rest.ts';
import { getLabTest, listLabs, listLabTests } from '../../gateway/domain/lab-test/rest.ts';
import { getMarkers, listMarkers, listOrderSetMarkers } from '../../gateway/domain/marker/rest.ts';
import * as orders from '../../gateway/domain/order/place/rest.ts';
import { findLabOf, needsPhysician } from '../../gateway/domain/order/place/rest.ts';
import { getOrder, getOrders, listOrders } from '../../gateway/domain/order/read/rest.ts';
import { listLastChangedOrders } from '../../gateway/domain/order/read/rest-last-changed.ts';
import { type CurrentOrder, readOrder, versionOfOrder } from '../../gateway/domain/order/read/rest-order.ts';
import * as orderUpdates from '../../gateway/domain/order/update/rest.ts';
import { createPortalUrl } from '../../gateway/domain/portal/rest.ts';
import { getResultMetadata, getResults, readCriticalResult } from '../../gateway/domain/result/rest.ts';
import * as users from '../../gateway/domain/user/rest.ts';
import { getUser, getUserByClientUserId, listUsers } from '../../gateway/domain/user/rest.ts';
import {
  getHistoricalPulls,
  listConnections,
  listHistoricalPulls,
} from '../../gateway/domain/user/rest-connections.ts';
import { getDemographics, updateDemographics } from '../../gateway/domain/user/rest-demographics.ts';
import { isGatewayError } from '../../gateway/errors.ts';
import { Upstream } from '../../gateway/service/client.ts';
import { bindService, type OperationUpstream, type Service } from '../../gateway/service/service.ts';
import { readNoting } from '../../gateway/service/unreadable.ts';
import { serviceKey, startLab } from '../support/lab.ts';
import { spoil } from '../support/spoil.ts';

const id = '0d5f6c1e-5a8f-4b7e-9a53-3a5d0d8d1c11';
const page = { page: 1, size: 3 };
const place = {
  firstLine: '1 Example Street',
  secondLine: null,
  city: 'Phoenix',
  state: 'AZ',
  zip: '85004',
  accessNotes: null,
};
const address = { ...place, receiverName: 'Ada', country: 'US', phoneNumber: '+14155550100' };
const person = {
  firstName: 'Ada',
  lastName: 'Lane',
  dob: '1990-01-01',
  gender: 'female',
  phoneNumber: '+14155550100',
  email: 'ada@example.com',
  medicalProxy: null,
  race: null,
  ethnicity: null,
  sexualOrientation: null,
  genderIdentity: null,
  householdIncome: null,
  householdSize: null,
};
const patient = { patientDetails: person, patientAddress: address, physician: null };
const nothing = {
  collectionMethod: null,
  labAccountId: null,
  clinicalNotes: null,
  consents: [],
  aoeAnswers: [],
  activateBy: null,
  updateReason: null,
  priority: null,
  billingType: null,
  icdCodes: null,
  passthrough: null,
};

/** What the sandbox has that the readers are tried on. */
interface Things {
  readonly user: { readonly userId: string; readonly clientUserId: string };
  readonly order: CurrentOrder;
  readonly withResults: Things['order'];
  readonly visit: Things['order'];
  readonly labTestId: string;
}
type Ask = (service: Service, things: Things) => Promise<unknown>;

/** Every read of the service, by a name to find it again. What comes without a list may be null, a list may not. */
const reads: Readonly<Record<string, Ask>> = {
  users: (service) => listUsers(service, { offset: 0, limit: 3 }),
  user: (service, { user }) => getUser(service, user.userId),
  'user by reference': (service, { user }) => getUserByClientUserId(service, user.clientUserId),
  demographics: (service, { user }) => getDemographics(service, user.userId),
  connections: (service, { user }) => listConnections(service, user.userId),
  'historical pulls': (service) =>
    listHistoricalPulls(service, { userId: null, providerSlug: null }, { cursor: null, limit: 3 }),
  "a user's pulls": (service, { user }) =>
    getHistoricalPulls(service, { userId: user.userId, providerSlug: null }),
  'lab tests': (service) =>
    listLabTests(service, { labSlug: null, method: null, name: null }, { cursor: null, limit: 3 }),
  'lab test': (service, { labTestId }) => getLabTest(service, labTestId),
  labs: (service) => listLabs(service),
  'lab accounts': (service) => listLabAccounts(service, { id: null, status: null }),
  'whether a physician is needed': (service, { labTestId }) =>
    needsPhysician(service, {
      labAccountId: null,
      findLab: () => findLabOf(service, { labTestIds: [labTestId], addOn: null }),
      takesPending: false,
    }),
  'whether a physician is needed for markers': (service) =>
    needsPhysician(service, {
      labAccountId: null,
      findLab: () => findLabOf(service, { labTestIds: [], addOn: { markerIds: [1], providerIds: [] } }),
      takesPending: false,
    }),
  markers: (service) => listMarkers(service, { labSlug: null, name: null }, page),
  'markers of an order set': (service, { labTestId }) =>
    listOrderSetMarkers(service, { labTestIds: [labTestId], addOn: null }, page),
  'markers by id': (service) => getMarkers(service, [1]),
  orders: (service) => listOrders(service, {}, page),
  'last changed orders': (service) => listLastChangedOrders(service, {}),
  order: (service, { order }) => getOrder(service, order.id),
  'orders by id': (service, { order, visit }) => getOrders(service, [order.id, visit.id]),
  results: (service, { withResults }) => getResults(service, withResults),
  'result metadata': (service, { withResults }) => getResultMetadata(service, withResults),
  appointment: (service, { visit }) => getAppointment(service, visit, 'patient_service_center'),
  'cancellation reasons': (service) => listCancellationReasons(service, 'phlebotomy'),
  'availability at home': (service) => listPhlebotomyAvailability(service, place, '2030-01-01'),
  'availability at centers': (service) =>
    listCenterAvailability(service, {
      lab: 'quest',
      siteCodes: null,
      zipCode: '85004',
      radius: 25,
      startDate: null,
      allowStale: null,
    }),
  area: (service) => getAreaInfo(service, { zipCode: '85004', radius: 25 }),
  centers: (service) =>
    listServiceCenters(service, { zipCode: '85004', radius: 25, labId: 6, capabilities: [] }),
  "an order's centers": (service, { visit }) =>
    listCentersOfOrder(service, visit, { radius: 25, capabilities: [] }),
  'lab report': (service, { user }) => getLabReport(service, id, user.userId),
  'workout stream': (service, { user }) => health.getWorkoutStream(service, id, { userId: user.userId }),
};

const booking = { bookingKey: 'k', appointmentNotes: null };
const home = ({ visit }: Things) => ({ kind: 'phlebotomy', order: visit }) as const;

/** Every write, on the answer to the read that is named first. */
const writes: Readonly<Record<string, readonly [string, Ask]>> = {
  'create user': ['user', (service) => users.createUser(service, { clientUserId: 'c' })],
  'update user': ['user', (service, { user }) => users.updateUser(service, user.userId, {})],
  'delete user': ['user', (service, { user }) => users.deleteUser(service, user.userId)],
  'undo deletion': ['user', (service) => users.undoUserDeletion(service, { id, clientUserId: null })],
  'update demographics': [
    'demographics',
    (service, { user }) =>
      updateDemographics(service, user.userId, {
        ...person,
        address: { ...place, country: 'US' },
        medicalProxy: null,
        race: null,
        ethnicity: null,
        sexualOrientation: null,
        genderIdentity: null,
      }),
  ],
  'order a kit': [
    'placed',
    (service) =>
      orders.createTestkitOrder(
        service,
        { ...nothing, userId: id, labTestId: id, shipping: { ...address, receiverName: 'Ada' } },
        'r',
      ),
  ],
  'create order': [
    'placed',
    (service) =>
      orders.createOrder(
        service,
        { ...nothing, ...patient, userId: id, orderSet: { labTestIds: [id], addOn: null } },
        'r',
      ),
  ],
  'import order': [
    'placed',
    (service) =>
      orders.importOrder(service, {
        ...patient,
        userId: id,
        orderSet: { labTestIds: [id], addOn: null },
        collectionMethod: 'testkit',
        labAccountId: null,
        billingType: 'client_bill',
        sampleId: 's',
      }),
  ],
  'register kit': [
    'placed',
    (service) => orders.registerTestkit(service, { ...patient, userId: id, sampleId: 's', consents: [] }),
  ],
  'update order': ['placed', (service, { order }) => orderUpdates.updateOrder(service, order, null)],
  'resend events': [
    'resent',
    (service) => orderUpdates.resendEvents(service, { orderIds: [id], startAt: null, endAt: null }),
  ],
  'cancel order': ['placed', (service, { order }) => orderUpdates.cancelOrder(service, order)],
  'simulate order': [
    'placed',
    (service, { order }) =>
      orderUpdates.simulateOrder(service, order, { finalStatus: null, delaySeconds: null }),
  ],
  'create lab report': [
    'lab report',
    (service) => createLabReport(service, { userId: id, needsHumanReview: false, files: [] }),
  ],
  'create portal link': [
    'portal',
    (service) => createPortalUrl(service, { userId: id, context: 'launch', orderId: null }, []),
  ],
  book: ['appointment', (service, things) => visits.bookAppointment(service, home(things), booking)],
  'book at a center': [
    'appointment',
    (service, things) =>
      visits.bookCenterAppointment(service, home(things), {
        ...booking,
        asyncConfirmation: null,
        reference: null,
      }),
  ],
  request: [
    'appointment',
    (service, things) =>
      visits.requestAppointment(service, home(things), {
        address: place,
        provider: 'p',
        appointmentNotes: null,
      }),
  ],
  reschedule: [
    'appointment',
    (service, things) => visits.rescheduleAppointment(service, home(things), booking),
  ],
  'cancel appointment': [
    'appointment',
    (service, things) =>
      visits.cancelAppointment(service, home(things), { cancellationReasonId: id, notes: null }),
  ],
};

/** Answers that the sandbox gives only after something was done. */
const inventedSeeds: Readonly<Record<string, unknown>> = {
  resent: { order_ids: [id, id] },
  portal: { url: 'https://portal.example.com/x', expires_in: 3600 },
  'lab report': {
    id,
    status: 'completed',
    failure_reason: null,
    data: {
      metadata: { patient_first_name: 'Ada', dob: '1990-01-01', date_reported: '2026-01-01' },
      results: [
        {
          test_name: 't',
          value: 1,
          type: 'numeric',
          loinc_matches: [{ loinc_code: 'c', aliases: ['a'], confidence_score: 1 }],
        },
      ],
    },
    needs_human_review: true,
    is_reviewed: false,
  },
  'workout stream': { time: [1, 2], altitude: [1, null], heartrate: [60, 61], lat: [1], lng: [1] },
};

/** Readers of webhook payloads, each with its event type. */
const payloads: Readonly<Record<string, (payload: unknown) => unknown>> = {
  order: readOrder,
  'order version': (payload) => versionOfOrder('labtest.order.updated', payload),
  appointment: readAppointment,
  'critical result': readCriticalResult,
  'lab report': (payload) => readLabReport(payload, null),
  'lab report version': (payload) => versionOfLabReport('lab_report.parsing_job.updated', payload),
  summary: (payload) => health.readSummary('activity', payload),
  sample: (payload) => health.readSample('glucose', payload),
  'sample identity': health.readSampleIdentity,
  batch: health.splitBatch,
  source: health.readSource,
  workout: (payload) => health.readWorkoutEvent('daily.data.workout_stream.created', payload),
  connection: (payload) => health.readConnectionEvent('provider.connection.created', payload),
  pull: (payload) => health.readPullEvent('historical.data.activity.created', payload),
};

const team = { rights: new Rights({ kind: 'TEAM' }) };

/** The service as it would be if every answer were this one. */
function answering(json: (operation: string) => unknown): OperationUpstream {
  return {
    read: async ({ operation }, { reader, onUnreadable }) =>
      readNoting(reader, json(operation), onUnreadable),
    write: ({ operation }) => Promise.resolve(json(operation)),
    open: () => Promise.resolve(undefined),
    now: () => 0,
  };
}

/** Asks the sandbox everything once and records its answers. */
async function collect() {
  await using lab = await startLab();
  const real = new Upstream({ url: lab.serviceUrl, apiKey: serviceKey, apiKeyHeader: 'x-service-api-key' });
  let last: unknown;
  const read: Upstream['read'] = (call, { reader, ...options }) =>
    real.read(call, {
      ...options,
      reader: (json) => {
        last = json;
        return reader(json);
      },
    });
  const service = bindService({ ...answering(() => null), read }, team);
  const find = async (status: string) => {
    const view = lab.sandbox.orders().find((order) => order.status.endsWith(status));
    const order = view && (await getOrder(service, view.orderId));
    if (!order) throw new Error(`The sandbox has no order with the status ${status}.`);
    return order;
  };
  const [user] = lab.sandbox.users();
  const [labTest] = lab.sandbox.labTests();
  const visit = await find('walk_in_test.appointment_scheduled');
  const withResults = await find('completed');
  const things: Things = {
    user: { userId: user?.userId ?? '', clientUserId: user?.clientUserId ?? '' },
    visit,
    withResults,
    order: withResults,
    labTestId: labTest?.labTestId ?? '',
  };
  const seeds: Record<string, unknown> = { ...inventedSeeds };
  for (const [name, ask] of Object.entries(reads)) {
    last = undefined;
    if (!(name in seeds)) await ask(service, things);
    seeds[name] ??= last;
  }
  seeds.placed = { order: seeds.order, status: 'success', message: 'm' };
  await real.close();
  return { things, seeds };
}

const { things, seeds } = await collect();
const asked = new Set<string>();
const asks: readonly (readonly [string, string, Ask])[] = [
  ...Object.entries(reads).map(([name, ask]) => [name, name, ask] as const),
  ...Object.entries(writes).map(([name, [seed, ask]]) => [name, seed, ask] as const),
];

test.each(asks)(
  '%s: an answer of any shape is read or refused as unreadable, and nothing else',
  async (_name, seed, ask) => {
    expect(seeds[seed]).toBeDefined();
    await fc.assert(
      fc.asyncProperty(spoil(seeds[seed]), async (spoiled) => {
        const upstream = answering((operation) => {
          asked.add(operation);
          // Each answer is parsed anew, so no two are the same object.
          return structuredClone(spoiled);
        });
        const paths: string[] = [];
        const onUnreadable = (operation: string, path: string) => void paths.push(`${operation} ${path}`);
        const outcome = await ask(bindService(upstream, { ...team, onUnreadable }), things).catch(
          (error: unknown) => {
            if (isGatewayError(error, 'UPSTREAM_UNREADABLE', 'PORTAL_URL_REFUSED')) return error.code;
            throw error;
          },
        );
        if (outcome === 'UPSTREAM_UNREADABLE' && typeof spoiled === 'object') expect(paths).not.toEqual([]);
        for (const place of paths) expect(place).toMatch(/^[a-z-]+\.[a-z-]+ \$(\.[a-z_]+|\.\*)*$/);
      }),
      { numRuns: 60 },
    );
  },
);

test('an answer that keeps its rows loses none of them to fields that changed', async () => {
  const lists = asks.filter(([, seed]) => ['users', 'orders', 'markers', 'lab tests'].includes(seed));
  for (const [, seed, ask] of lists) {
    const outcome = await ask(
      bindService(
        answering(() => withJunkFields(seeds[seed])),
        team,
      ),
      things,
    );
    const rows: readonly unknown[] = Object.values(Object(outcome)).find(Array.isArray) ?? [];
    expect(rows.length, seed).toBeGreaterThan(0);
    expect(rows.includes(null), seed).toBe(false);
  }
});

/** The same with every field but ids and lists of another type. */
function withJunkFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withJunkFields);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, part]) => {
    if (typeof part === 'object' && part !== null) return [key, withJunkFields(part)];
    return [key, /id$/.test(key) ? part : { unheard: 'of' }];
  });
  return Object.fromEntries([...fields, ['brand_new', [1]]]);
}

test.each(Object.entries(payloads))('a webhook about %s is read in any shape', (_name, read) => {
  const batch = {
    data: [{ timestamp: '2026-03-02T08:00:00Z', value: 1 }],
    source: { slug: 's', provider: 'p' },
  };
  const seed = {
    ...Object(seeds.order),
    ...Object(seeds.appointment),
    ...Object(seeds['lab report']),
    ...batch,
  };
  fc.assert(
    fc.property(spoil(seed), (spoiled) => {
      read(spoiled);
    }),
    { numRuns: 60 },
  );
});

test('no reader is left out: every operation of the source was asked above', () => {
  const root = new URL('../../gateway/domain/', import.meta.url);
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
    // Those of the management interface are in management-drift.test.ts.
    .filter((name) => name.endsWith('.ts') && !name.startsWith('management/'))
    .map((name) => readFileSync(new URL(name, root), 'utf8'));
  // Reads after `as` use the stored events, and ask the service nothing.
  const named = sources.flatMap((source) =>
    [...source.matchAll(/(?<!\bas: '\w+',\s+)operation: '([^']+)'/g)].map(([, name]) => name),
  );
  // Documents pass through unread.
  const unread = new Set(['result.pdf', 'result.requisition-pdf']);
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((name) => name !== undefined && !unread.has(name) && !asked.has(name))).toEqual([]);
  const changes = sources.flatMap((source) => [
    ...source.matchAll(/name: '(book|request|reschedule|cancel)'/g),
  ]);
  expect(changes.filter(([, name]) => !asked.has(`appointment.${name}`))).toEqual([]);
});
