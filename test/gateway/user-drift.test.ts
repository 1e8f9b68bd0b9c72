import fc from 'fast-check';
import { expect, test } from 'vitest';
import { serviceKey, startLab } from '../support/lab.ts';

/** Fields that read one answer of the service each, down to everything that is read of it. */
const readers: readonly (readonly [field: string, query: string, path: string])[] = [
  [
    'connections',
    `{ user(id: "ID") { connections { source { name slug logo } createdAt status statusRaw externalUserId
      error { type typeRaw message occurredAt } resources { resource status statusRaw } } } }`,
    '/v2/user/providers/ID',
  ],
  [
    'historicalPulls',
    `{ historicalPulls { nodes { userId providers { providerSlug notPulled pulls { resource status statusRaw
      rangeStart rangeEnd scheduledAt startedAt endedAt daysWithData error errorRaw } } } } }`,
    '/v2/introspect/historical_pull',
  ],
  [
    'demographics',
    `{ user(id: "ID") { demographics { firstName lastName email phoneNumber gender dob race raceRaw
      address { firstLine zip country countryCode accessNotes }
      medicalProxy { firstName householdIncome householdSize address { city } } } } }`,
    '/v2/user/ID/info/latest',
  ],
  [
    'labAccounts',
    `{ labAccounts { id labSlug orgId status statusRaw delegatedFlow delegatedFlowRaw suppliesOwnPhysicians
      providerAccountId accountName businessUnits allowedBilling { typeRaw states } } }`,
    '/v3/lab_test/lab_account',
  ],
  [
    'questions',
    `{ markers(name: "Insulin") { nodes { id labId questions { id code text isRequired type typeRaw sequence
      constraint defaultAnswer answers { id code value } } } } }`,
    '/v3/lab_tests/markers?name=Insulin',
  ],
];

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The answer with one of its values replaced, or taken out where the replacement is undefined. */
function alter(json: Json, path: readonly number[], replacement: Json | undefined): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined || typeof json !== 'object' || json === null) return replacement;
  const keys = Object.keys(json);
  const key = keys[step % Math.max(1, keys.length)];
  if (key === undefined) return replacement;
  const entries = Object.entries(json).map(([name, value]) => [
    name,
    name === key ? alter(value, rest, replacement) : value,
  ]);
  return Array.isArray(json) ? entries.map(([, value]) => value as Json) : Object.fromEntries(entries);
}

/** Something inside the list; without the list itself an answer is unreadable. */
const drift = fc.record({
  path: fc.array(fc.nat(20), { minLength: 2, maxLength: 8 }),
  replacement: fc.oneof(
    fc.constantFrom<Json | undefined>(undefined, null, 2 ** 40, -1.5, '', 'a new word', [], {}, [null], true),
    fc.jsonValue().map((value) => value as Json),
  ),
});

test.each(readers)(
  '%s are shown as far as they can be read, for any answer of the service',
  async (_field, query, path) => {
    await using lab = await startLab();
    const userId = lab.sandbox.users()[2]?.userId ?? '';
    const request = new Request(`${lab.serviceUrl}${path.replace('ID', userId)}`, {
      headers: { 'x-service-api-key': serviceKey },
    });
    const answer: Json = await (await lab.sandbox.fetch(request)).json();
    const [pattern = ''] = path.replace('ID', userId).split('?');
    await fc.assert(
      fc.asyncProperty(drift, async ({ path: place, replacement }) => {
        lab.sandbox.faults.clear();
        const body = JSON.stringify(alter(answer, place, replacement) ?? null);
        lab.sandbox.faults.add({ path: pattern, effect: { kind: 'answer', status: 200, body } });
        const { data, errors } = await lab.query(query.replace('ID', userId));
        expect(errors).toBeUndefined();
        expect(data).not.toBeNull();
      }),
      { numRuns: 200 },
    );
  },
);

test.each(readers.filter(([field]) => field !== 'demographics'))(
  '%s of an answer that is no object are reported as unreadable',
  async (_field, query, path) => {
    await using lab = await startLab();
    const userId = lab.sandbox.users()[2]?.userId ?? '';
    const [pattern = ''] = path.replace('ID', userId).split('?');
    lab.sandbox.faults.add({ path: pattern, effect: { kind: 'answer', status: 200, body: '"nothing"' } });
    const { errors } = await lab.query(query.replace('ID', userId));
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['UPSTREAM_UNREADABLE']);
  },
);
