import { expect, test } from 'vitest';
import { type Lab, startLab } from '../support/lab.ts';
import { json, text } from '../support/misbehaving-service.ts';
import { startSpoiltLab } from '../support/spoilt-lab.ts';

const fields = `firstName lastName email phoneNumber gender dob race raceRaw ethnicity ethnicityRaw
  sexualOrientationRaw genderIdentity
  address { firstLine secondLine city state zip country countryCode accessNotes }
  medicalProxy { firstName lastName phoneNumber email householdIncome householdSize address { city } }`;
const mutation = `mutation ($input: UpdateDemographicsInput!) { updateDemographics(input: $input) {
  __typename
  ... on DemographicsUpdated { demographics { ${fields} } user { id } }
  ... on UserError { code message }
  ... on InputRejected { issues { path message } } } }`;

const address = {
  firstLine: '1 Example Street',
  city: 'Phoenix',
  state: 'AZ',
  zip: '85004',
  country: 'US',
};
const person = {
  firstName: 'Jamie',
  lastName: "O'Sample-Doe Jr.",
  email: 'jamie@example.com',
  phoneNumber: '+16025550123',
  gender: 'female',
  dob: '1990-02-03',
  address,
};
const proxy = {
  firstName: 'Robin',
  lastName: 'Sample',
  phoneNumber: '+16025550124',
  address,
  householdSize: 3,
};

const nameless = (lab: Lab) =>
  lab.sandbox.users().find(({ hasDemographics }) => !hasDemographics)?.userId ?? '';
const writes = (lab: Lab) => lab.sandbox.calls.filter((call) => !call.startsWith('GET'));

async function set(lab: Lab, more: Readonly<Record<string, unknown>> = {}, token?: string) {
  const answer = await lab.query(mutation, {
    variables: { input: { userId: nameless(lab), ...person, ...more } },
    ...(token === undefined ? {} : { token }),
  });
  return answer.data?.updateDemographics ?? answer;
}

const pathsOf = (rejected: { issues: { path: string[] }[] }) => rejected.issues.map(({ path }) => path);

test('demographics are set as a whole, and shown as the service then has them', async () => {
  await using lab = await startLab();
  const userId = nameless(lab);
  const updated = await set(lab, { race: 'ASIAN', ethnicityRaw: 'hispanic', medicalProxy: proxy });
  expect(updated).toEqual({
    __typename: 'DemographicsUpdated',
    user: { id: userId },
    demographics: {
      ...person,
      address: {
        ...address,
        secondLine: null,
        country: 'United States',
        countryCode: 'US',
        accessNotes: null,
      },
      race: 'ASIAN',
      raceRaw: 'asian',
      ethnicity: 'HISPANIC',
      ethnicityRaw: 'hispanic',
      sexualOrientationRaw: null,
      genderIdentity: null,
      medicalProxy: {
        firstName: 'Robin',
        lastName: 'Sample',
        phoneNumber: '+16025550124',
        email: null,
        householdIncome: null,
        householdSize: 3,
        address: { city: 'Phoenix' },
      },
    },
  });
  const read = await lab.query(`{ user(id: "${userId}") { demographics { ${fields} } } }`);
  expect(read.data.user.demographics).toEqual(updated.demographics);
});

test('what a second record leaves out is gone', async () => {
  await using lab = await startLab();
  await set(lab, { race: 'ASIAN', medicalProxy: proxy });
  const second = await set(lab);
  expect(second.demographics).toMatchObject({ raceRaw: null, medicalProxy: null });
});

test('demographics open the portal to a user who had none', async () => {
  await using lab = await startLab();
  const launch = () =>
    lab.query(`mutation { createPortalUrl(input: { userId: "${nameless(lab)}" }) { __typename } }`);
  const userId = nameless(lab);
  expect((await launch()).data.createPortalUrl.__typename).toBe('PortalUrlRejected');
  await set(lab, { userId });
  const answer = await lab.query(
    `mutation { createPortalUrl(input: { userId: "${userId}" }) { __typename } }`,
  );
  expect(answer.data.createPortalUrl.__typename).toBe('PortalUrl');
});

const launch = `mutation ($userId: ID) { createPortalUrl(input: { userId: $userId }) {
  ... on PortalUrlRejected { code demographicsMissing } } }`;

test.each([
  ['a record without a single value', json({ first_name: null, last_name: null, address: null }), true],
  ['an empty record', json({}), true],
  ['204', text('', 204), true],
  ['the body of an error', json({ detail: 'Not available.' }), null],
])('%s is no demographics', async (_name, answer, demographicsMissing) => {
  await using lab = await startSpoiltLab();
  const userId = nameless(lab);
  lab.spoil({ at: /info.latest/, isDone: false, answer, times: 9 });

  const read = await lab.query(`{ user(id: "${userId}") { demographics { lastName } } }`);
  const launched = await lab.query(launch, { variables: { userId } });

  expect(read.data.user.demographics).toBeNull();
  expect(launched.data.createPortalUrl).toMatchObject({ demographicsMissing });
});

test('all faults of the input are reported at once, before the service is asked and without the value', async () => {
  await using lab = await startLab();
  const rejected = await set(lab, {
    firstName: 'Zoë-canary',
    lastName: 'double  space',
    email: 'canary',
    phoneNumber: '602 555 0100',
    gender: ' ',
    dob: '2999-01-01',
    address: {
      firstLine: ' ',
      city: '',
      state: 'Canary',
      zip: '8500',
      country: 'US',
      accessNotes: 'x'.repeat(1001),
    },
    race: 'ASIAN',
    raceRaw: 'other',
  });
  expect(rejected).toMatchObject({ __typename: 'InputRejected', code: 'INPUT_REJECTED' });
  expect(pathsOf(rejected)).toEqual([
    ['firstName'],
    ['lastName'],
    ['email'],
    ['phoneNumber'],
    ['gender'],
    ['dob'],
    ['address', 'firstLine'],
    ['address', 'city'],
    ['address', 'state'],
    ['address', 'zip'],
    ['address', 'accessNotes'],
    ['raceRaw'],
  ]);
  expect(JSON.stringify(rejected).toLowerCase()).not.toContain('canary');
  expect(lab.sandbox.calls).toEqual([]);
});

test.each([
  ['the area that is nobody’s', { phoneNumber: '+1 (555) 555-0100' }, [['phoneNumber']]],
  ['a name of 51 characters', { lastName: 'x'.repeat(51) }, [['lastName']]],
  ['a name that begins with a dash', { firstName: '-Jamie' }, [['firstName']]],
  ['a country that is none', { address: { ...address, country: 'Atlantis' } }, [['address', 'country']]],
  [
    'a region of the United States in words',
    { address: { ...address, state: 'Arizona' } },
    [['address', 'state']],
  ],
  [
    'a region of Canada in words',
    { address: { ...address, country: 'Canada', state: 'Ontario' } },
    [['address', 'state']],
  ],
  ['a person under 18 alone', { dob: '2020-01-01' }, [['medicalProxy']]],
  [
    'a proxy with faults of its own',
    {
      medicalProxy: { ...proxy, firstName: '', phoneNumber: '602', address: { ...address, state: '' } },
    },
    [
      ['medicalProxy', 'firstName'],
      ['medicalProxy', 'phoneNumber'],
      ['medicalProxy', 'address', 'state'],
    ],
  ],
])('%s is refused', async (_name, more, paths) => {
  await using lab = await startLab();
  expect(pathsOf(await set(lab, more))).toEqual(paths);
  expect(lab.sandbox.calls).toEqual([]);
});

test.each([
  ['a name of one letter', { firstName: 'J' }],
  ['a name of 50 characters', { lastName: 'x'.repeat(50) }],
  ['a child with a proxy', { dob: '2020-01-01', medicalProxy: proxy }],
  [
    'a proxy whose name has accents',
    {
      medicalProxy: { ...proxy, firstName: 'José', email: 'o&b', address: { ...address, state: 'Arizona' } },
    },
  ],
  ['an e-mail address with &', { email: 'o&b@example.com' }],
  ['an e-mail address with an umlaut', { email: 'jörg@exämple.de' }],
  ['an e-mail address in Punycode', { email: 'a@b.xn--p1ai' }],
  ['a postal code of nine digits', { address: { ...address, zip: '85004-1234' } }],
  [
    'an address elsewhere',
    { address: { ...address, country: 'CA', state: 'ON', zip: 'K1A 0B1' }, phoneNumber: '+44 20 7946 0100' },
  ],
  [
    'a region code of three letters',
    { address: { ...address, country: 'GB', state: 'LND', zip: 'EC1A 1BB', city: 'London' } },
  ],
  ['a region in words', { address: { ...address, country: 'France', state: 'Île-de-France', zip: '75001' } }],
  ['a word for race that the enum does not have', { raceRaw: 'a new word' }],
])('%s is taken', async (_name, more) => {
  await using lab = await startLab();
  expect((await set(lab, more)).__typename).toBe('DemographicsUpdated');
});

test("the service's own refusals come back in the names of the graph, without the value", async () => {
  await using lab = await startLab();
  const detail = [
    { type: 'x', loc: ['body', 'medical_proxy', 'first_name'], msg: 'Not canary here', input: 'canary' },
  ];
  lab.sandbox.faults.add({
    method: 'PATCH',
    path: /info$/,
    effect: { kind: 'answer', status: 422, body: JSON.stringify({ detail }) },
  });
  expect(await set(lab)).toMatchObject({
    __typename: 'InputRejected',
    issues: [{ path: ['medicalProxy', 'firstName'], message: 'x' }],
  });
});

test.each([
  ['featureNotEnabled', 'FeatureNotEnabled'],
  ['serverError', 'UPSTREAM_UNAVAILABLE'],
  ['lostAnswer', 'UPSTREAM_UNAVAILABLE'],
  ['truncatedBody', 'UPSTREAM_UNREADABLE'],
] as const)('a service in the state %s is reported as %s, and asked once', async (kind, outcome) => {
  await using lab = await startLab();
  lab.sandbox.faults.add({ method: 'PATCH', path: /info$/, effect: { kind } });
  const userId = nameless(lab);
  const answer = await set(lab);
  expect(answer.__typename ?? answer.errors[0].extensions.code).toBe(outcome);
  expect(writes(lab)).toEqual([`PATCH /v2/user/${userId}/info`]);
});

test('a browser sets its own with the right scope, and needs no id for it', async () => {
  await using lab = await startLab();
  const userId = nameless(lab);
  const token = await lab.tokenFor(userId, { scopes: ['write:profile', 'read:orders'] });
  expect(await set(lab, { userId: null }, token)).toMatchObject({
    __typename: 'DemographicsUpdated',
    user: { id: userId },
  });
  const other = await lab.tokenFor(userId);
  const refused = await set(lab, { userId }, other);
  expect(refused.errors[0]).toMatchObject({ extensions: { code: 'FORBIDDEN' } });
  expect(refused.errors[0].message).toContain('write:profile');
});

test("another's and a random user get the same answer, and the service is not asked", async () => {
  await using lab = await startLab();
  const [mine, theirs] = lab.sandbox.users();
  const token = await lab.tokenFor(mine?.userId ?? '', { scopes: ['write:profile'] });
  const foreign = await set(lab, { userId: theirs?.userId }, token);
  const random = await set(lab, { userId: crypto.randomUUID() }, token);
  expect(foreign).toEqual(random);
  expect(foreign.__typename).toBe('NotFound');
  expect(lab.sandbox.calls).toEqual([]);
});

test('a gateway key must say for whom, and nobody is nobody', async () => {
  await using lab = await startLab();
  expect(await set(lab, { userId: null })).toMatchObject({
    code: 'INPUT_REJECTED',
    issues: [{ path: ['userId'] }],
  });
  expect(await set(lab, { userId: crypto.randomUUID() })).toMatchObject({ code: 'NOT_FOUND' });
});

test('a record with new words and broken parts is shown as far as it can be read', async () => {
  await using lab = await startLab();
  const body = { first_name: 7, dob: 'someday', race: 'new', medical_proxy: 'mother', address: [] };
  lab.sandbox.faults.add({
    path: /info\/latest/,
    effect: { kind: 'answer', status: 200, body: JSON.stringify(body) },
  });
  const answer = await lab.query(`{ user(id: "${nameless(lab)}") { demographics {
    firstName dob race raceRaw medicalProxy { firstName } address { city } } } }`);
  expect(answer.data.user.demographics).toEqual({
    firstName: null,
    dob: null,
    race: null,
    raceRaw: 'new',
    medicalProxy: null,
    address: null,
  });
});
