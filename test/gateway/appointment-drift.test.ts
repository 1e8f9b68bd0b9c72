import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Lab, serviceKey, startLab } from '../support/lab.ts';
import { spoil } from '../support/spoil.ts';

const appointment = `{ id type typeRaw provider providerRaw status statusRaw eventStatus eventStatusRaw startAt endAt timeZone
  events { createdAt status statusRaw details } address { firstLine zip accessNotes country } location { longitude latitude }
  canReschedule accessNotes appointmentNotes externalId }`;
const center = `{ siteCode name address { firstLine } location { longitude } distance capabilities capabilitiesRaw
  supportedBillTypes faxNumber website hours }`;

const address = { first_line: '100 Example Street', city: 'Phoenix', state: 'AZ', zip_code: '85004' };

interface Reader {
  readonly name: string;
  readonly path: (lab: Lab) => string;
  readonly query: (lab: Lab) => string;
  readonly body?: unknown;
}

function scheduled(lab: Lab): string {
  const order = lab.sandbox
    .orders()
    .find(({ status }) => status.endsWith('walk_in_test.appointment_scheduled'));
  return order?.orderId ?? '';
}

const readers: readonly Reader[] = [
  {
    name: 'an appointment',
    path: (lab) => `/v3/order/${scheduled(lab)}/psc/appointment`,
    query: (lab) => `{ order(id: "${scheduled(lab)}") { appointment ${appointment} } }`,
  },
  {
    name: 'cancellation reasons',
    path: () => '/v3/order/psc/appointment/cancellation-reasons',
    query: () =>
      '{ appointmentCancellationReasons(type: PATIENT_SERVICE_CENTER) { id name isRefundable needsNotes } }',
  },
  {
    name: 'availability',
    path: () => '/v3/order/phlebotomy/appointment/availability?start_date=2030-01-01',
    body: address,
    query: () => `{ phlebotomyAvailability(input: { startDate: "2030-01-01",
      address: { firstLine: "100 Example Street", city: "Phoenix", state: "AZ", zip: "85004" } }) {
      date timeZone serviceCenter { siteCode name distance } slots { bookingKey startAt price isPriority availableCount } } }`,
  },
  {
    name: 'service centers',
    path: () => '/v3/order/psc/info?zip_code=85004&lab_id=6&radius=25',
    query: () => `{ serviceCenters(zipCode: "85004", labId: 6) ${center} }`,
  },
  {
    name: 'an area',
    path: () => '/v3/order/area/info?zip_code=85004&radius=25',
    query: () => `{ areaInfo(zipCode: "85004") { zipCode
      phlebotomy { isServed providers { provider providerRaw serviceTypes serviceTypesRaw } }
      labs { labSlug labId serviceCenterCount canBookAppointments capabilities supportedBillTypes } } }`,
  },
];

test.each(readers)('$name in any shape is shown as far as it can be read', async ({ path, query, body }) => {
  await using lab = await startLab();
  const answer = await fetch(lab.serviceUrl + path(lab), {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-service-api-key': serviceKey, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(answer.status).toBe(200);
  const faultPath = path(lab).split('?')[0] ?? '';
  await fc.assert(
    fc.asyncProperty(spoil(await answer.json()), async (spoiled) => {
      lab.sandbox.faults.clear();
      const effect = { kind: 'answer', status: 200, body: JSON.stringify(spoiled) } as const;
      lab.sandbox.faults.add({ path: faultPath, effect });
      const { errors = [] } = await lab.query(query(lab));
      expect(
        errors.map(({ extensions }) => extensions.code).filter((code) => code !== 'UPSTREAM_UNREADABLE'),
      ).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test('health data in any shape is shown as far as it can be read', async () => {
  await using lab = await startLab();
  const userId = lab.sandbox.users()[0]?.userId ?? '';
  const source = {
    name: 'Oura',
    slug: 'oura',
    logo: 'https://logos.example.com/o.png',
    provider: 'oura',
    type: 'ring',
  };
  const at = '2026-03-02T08:00:00Z';
  const sample = { timestamp: at, start: at, end: at, timezone_offset: 0, type: 't', unit: 'u', value: 1 };
  const summary = { id: 's', calendar_date: '2026-03-02', date: at, timezone_offset: 0, steps: 1, source };
  await fc.assert(
    fc.asyncProperty(
      spoil({ data: [sample, sample], source, source_id: 1 }),
      spoil(summary),
      async (samples, activity) => {
        lab.sandbox.webhooks.send('daily.data.glucose.created', samples, { userId });
        lab.sandbox.webhooks.send('daily.data.activity.created', activity, { userId });
        await lab.sandbox.webhooks.settled();
        const answer = await lab.query(`{ user(id: "${userId}") {
          healthSamples(resource: "glucose") { timestamp start end timezoneOffset type unit value sourceId source { slug logo provider type } receivedAt }
          healthSummaries(resource: "activity") { id calendarDate date timezoneOffset activity { steps high } payload source { slug logo } receivedAt }
        } }`);
        expect(answer.errors).toBeUndefined();
      },
    ),
    { numRuns: 60 },
  );
  expect(lab.sandbox.webhooks.sent.every(({ outcome }) => outcome === 'delivered')).toBe(true);
});

test('service centers are nearest first, in whatever order and form the service sends their distances', async () => {
  await using lab = await startLab();
  const centers = ['18', null, 2, '3.4', 40, ''].map((distance, place) => ({
    site_code: `C${place}`,
    distance,
  }));
  const body = JSON.stringify({ lab_id: 6, slug: 'lab', patient_service_centers: centers });
  lab.sandbox.faults.add({ path: '/v3/order/psc/info', effect: { kind: 'answer', status: 200, body } });
  const { data } = await lab.query('{ serviceCenters(zipCode: "85004", labId: 6) { siteCode distanceRaw } }');
  expect(data.serviceCenters.map(({ siteCode }: { readonly siteCode: string }) => siteCode)).toEqual([
    'C2',
    'C3',
    'C0',
    'C4',
    'C1',
    'C5',
  ]);
});
