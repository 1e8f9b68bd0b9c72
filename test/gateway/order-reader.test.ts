import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseOrder, readOrder, readOrderAnswer } from '../../gateway/domain/order/read/rest-order.ts';
import { id, integer, number, timestamp } from '../../gateway/domain/parse.ts';
import { Unreadable } from '../../gateway/service/unreadable.ts';

const anything = fc.jsonValue({ maxDepth: 2 });

/** Every day of some years, found by counting. */
const calendar = new Set(
  Array.from({ length: 3000 }, (_, index) =>
    new Date(Date.UTC(1999, 0, 1) + index * 86_400_000).toISOString().slice(0, 10),
  ),
);
const two = (most: number) => fc.nat(most).map((value) => String(value).padStart(2, '0'));
const daylike = fc
  .tuple(
    fc.integer({ min: 1999, max: 2006 }),
    two(14),
    fc.oneof(two(33), fc.constantFrom('29', '30', '31')),
    fc.constantFrom('', 'T00:00:00Z', ' Ada'),
  )
  .map(([year, month, date, rest]) => `${year}-${month}-${date}${rest}`);

/** What is sent, and what is made of it. */
const instants = new Map<unknown, string | null>([
  ['2026-02-03T04:05:06Z', '2026-02-03T04:05:06.000Z'],
  ['2026-02-03T04:05:06.789012', '2026-02-03T04:05:06.789Z'],
  ['2026-02-03T04:05:06+02:00', '2026-02-03T02:05:06.000Z'],
  ['2026-02-03t04:05:06z', '2026-02-03T04:05:06.000Z'],
  ['2026-02-03', null],
  ['Not given 12', null],
  ['2026-13-03T04:05:06Z', null],
  ['', null],
  [1_770_000_000, null],
  [null, null],
]);
const links = new Map<unknown, string | null>([
  ['https://files.example.com/a.pdf?b#c', 'https://files.example.com/a.pdf?b#c'],
  ['http://files.example.com', 'http://files.example.com'],
  ['https://ada@files.example.com/', null],
  ['javascript:alert(1)', null],
  ['files.example.com', null],
  [{ url: 'https://files.example.com' }, null],
]);

const isSafe = (value: number) => value === Math.trunc(value) && Math.abs(value) < 2 ** 53;

/** A kind of field: values of it and near it, and what has to be read of them. */
const kinds = {
  text: { values: fc.oneof(fc.string(), anything), reads: (value: unknown) => only('string', value) },
  flag: { values: fc.oneof(fc.boolean(), anything), reads: (value: unknown) => only('boolean', value) },
  id: {
    values: fc.oneof(fc.uuid(), fc.integer(), fc.constantFrom('', 2 ** 53, 1.5), anything),
    reads: (value: unknown) =>
      typeof value === 'number' && isSafe(value) ? `${value}` : only('string', value) || null,
  },
  day: {
    values: fc.oneof(daylike, anything),
    reads: (value: unknown) =>
      typeof value === 'string' && calendar.has(value.slice(0, 10)) && !value.endsWith('Ada')
        ? value.slice(0, 10)
        : null,
  },
  instant: {
    values: fc.constantFrom(...instants.keys()),
    reads: (value: unknown) => {
      const instant = instants.get(value) ?? null;
      return instant === null ? null : new Date(instant);
    },
  },
  link: { values: fc.constantFrom(...links.keys()), reads: (value: unknown) => links.get(value) ?? null },
} as const;

function only(type: string, value: unknown): unknown {
  return typeof value === type ? value : null;
}

/** The service's name of a field, the gateway's, and the kind. */
type Row = readonly [string, string, keyof typeof kinds];
const orderRows: readonly Row[] = [
  ['team_id', 'teamId', 'id'],
  ['interpretation', 'interpretation', 'text'],
  ['origin', 'origin', 'text'],
  ['sample_id', 'sampleId', 'text'],
  ['notes', 'notes', 'text'],
  ['clinical_notes', 'clinicalNotes', 'text'],
  ['activate_by', 'activateBy', 'day'],
  ['has_abn', 'hasAbn', 'flag'],
  ['health_insurance_id', 'healthInsuranceId', 'id'],
  ['requisition_form_url', 'requisitionFormUrl', 'link'],
  ['billing_type', 'billingType', 'text'],
  ['priority', 'priority', 'flag'],
  ['has_missing_results', 'hasMissingResults', 'flag'],
  ['expected_result_by_date', 'expectedResultBy', 'day'],
  ['worst_case_result_by_date', 'worstCaseResultBy', 'day'],
  ['created_at', 'createdAt', 'instant'],
  ['updated_at', 'updatedAt', 'instant'],
];
const patientRows: readonly Row[] = [
  ['first_name', 'firstName', 'text'],
  ['last_name', 'lastName', 'text'],
  ['dob', 'dob', 'day'],
  ['gender', 'gender', 'text'],
  ['phone_number', 'phoneNumber', 'text'],
  ['email', 'email', 'text'],
  ['race', 'race', 'text'],
  ['ethnicity', 'ethnicity', 'text'],
  ['sexual_orientation', 'sexualOrientation', 'text'],
  ['gender_identity', 'genderIdentity', 'text'],
];

const withRows = (rows: readonly Row[]) =>
  fc.record(Object.fromEntries(rows.map(([sent, , kind]) => [sent, kinds[kind].values])), {
    requiredKeys: [],
  });
const readsOf = (rows: readonly Row[], json: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(rows.map(([sent, read, kind]) => [read, kinds[kind].reads(json[sent])]));

test('each field of an order and of its patient is read as the table says', () => {
  const ids = fc.record({ id: kinds.id.values, user_id: kinds.id.values });
  fc.assert(
    fc.property(ids, withRows(orderRows), withRows(patientRows), (named, fields, patient) => {
      const order = readOrder({ ...fields, ...named, patient_details: patient });

      const [orderId, userId] = [kinds.id.reads(named.id), kinds.id.reads(named.user_id)];
      if (orderId === null || userId === null) {
        expect(order).toBeNull();
        return;
      }
      expect(order).toMatchObject({ id: orderId, userId, ...readsOf(orderRows, fields) });
      expect(order?.patient).toEqual({ ...readsOf(patientRows, patient), medicalProxy: null });
    }),
  );
});

const parts = [
  ...orderRows.map(([sent]) => sent),
  'events',
  'last_event',
  'lab_test',
  'details',
  'physician',
];
const anyOrder = fc.oneof(
  anything,
  fc.record(
    {
      id: kinds.id.values,
      user_id: kinds.id.values,
      ...Object.fromEntries(parts.map((part) => [part, anything])),
    },
    { requiredKeys: [] },
  ),
);

test('any value in the place of an order is read as plain values without holes, or refused with its place', () => {
  fc.assert(
    fc.property(anyOrder, (json) => {
      const order = attempt(() => parseOrder(json));
      if (order instanceof Unreadable) {
        expect([[], ['id'], ['user_id']]).toContainEqual(order.path);
        return;
      }
      // A copy through JSON loses what is undefined, inherited or computed.
      expect(JSON.parse(JSON.stringify(order), revive)).toStrictEqual(order);
    }),
  );
});

function attempt<T>(read: () => T): T | Unreadable {
  try {
    return read();
  } catch (error) {
    if (error instanceof Unreadable) return error;
    throw error;
  }
}

function revive(key: string, value: unknown): unknown {
  return /At$/.test(key) && typeof value === 'string' ? new Date(value) : value;
}

const sentEvent = fc.nat(3).map((eventId) => ({ id: eventId, status: `step-${eventId}` }));
const sentEvents = fc.array(sentEvent);
// In their order, as the service sends them, or in any.
const anyEvents = fc.oneof(
  sentEvents,
  sentEvents.map((events) => events.toSorted((a, b) => a.id - b.id)),
);

test('the events of an order are oldest first and each once, the last event among them', () => {
  fc.assert(
    fc.property(anyEvents, fc.option(sentEvent), (events, last) => {
      const order = readOrder({ id: 'a', user_id: 'b', events, last_event: last });

      const ids = new Set([...events, ...(last === null ? [] : [last])].map((event) => event.id));
      const expected = [...ids].sort((a, b) => a - b).map(String);
      expect(order?.events.map((event) => event.id)).toEqual(expected);
      expect(order?.lastEvent?.id).toBe(expected.at(-1));
    }),
  );
});

test.each([
  [{ id: 'a' }, ['user_id']],
  [{ user_id: 'a' }, ['id']],
  [[], []],
])('an order without what it needs is refused with the place of it: %j', (json, path) => {
  expect(attempt(() => parseOrder(json))).toMatchObject({ path });
  expect(attempt(() => readOrderAnswer({ order: json }))).toMatchObject({ path: ['order', ...path] });
});

test('numbers at the edges of what JSON and GraphQL can say', () => {
  const sent = [2 ** 31 - 1, 2 ** 31, -(2 ** 31), -(2 ** 31) - 1, 1.5, JSON.parse('1e999'), '1'];
  expect(sent.map(integer)).toEqual([2 ** 31 - 1, null, -(2 ** 31), null, null, null, null]);
  expect(sent.map(number)).toEqual([...sent.slice(0, 5), null, null]);
  expect([2 ** 53 - 1, 2 ** 53, 0, -1].map(id)).toEqual([String(2 ** 53 - 1), null, '0', '-1']);
  expect(timestamp('2026-02-03T04:05:06-0130')).toEqual(new Date('2026-02-03T05:35:06Z'));
});
