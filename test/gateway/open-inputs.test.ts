import { describe, expect, test } from 'vitest';
import { startLab } from '../support/lab.ts';
import { json, startMisbehavingService } from '../support/misbehaving-service.ts';
import { patient } from '../support/ordering.ts';

/** A gateway over a service that refuses everything, with the body or the query of what it was sent. */
async function openRefusing() {
  const service = await startMisbehavingService(json({ detail: 'No.' }, 400));
  const lab = await startLab({ serve: async () => service.url });
  return {
    query: lab.query,
    sentTo: (path: string) =>
      service.seen.filter((seen) => seen.path === path).map(({ body }) => JSON.parse(body)),
    calls: service.calls,
    [Symbol.asyncDispose]: async () => {
      await lab[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

const { gender: _, ...withoutGender } = patient.patientDetails;
const rawPatient = {
  ...withoutGender,
  genderRaw: 'New-Gender',
  raceRaw: 'new_race',
  ethnicityRaw: 'new_ethnicity',
  sexualOrientationRaw: 'new_orientation',
  genderIdentityRaw: 'new_identity',
};
const sentPatient = {
  gender: 'New-Gender',
  race: 'new_race',
  ethnicity: 'new_ethnicity',
  sexual_orientation: 'new_orientation',
  gender_identity: 'new_identity',
};
const ids = { userId: crypto.randomUUID(), orderSet: { labTestIds: [crypto.randomUUID()] } };

interface Row {
  readonly path: string;
  readonly mutation: string;
  readonly input: object;
  /** The parts of the input that take a value that the enums lack. */
  readonly open: object;
  /** The same as the service gets them. */
  readonly sent: object;
}

const rows: Readonly<Record<string, Row>> = {
  createOrder: {
    path: '/v3/order',
    mutation: 'createOrder(input: $input)',
    input: { ...ids, ...patient, idempotencyKey: 'order-1' },
    open: {
      collectionMethodRaw: 'by_drone',
      billingTypeRaw: 'Barter',
      consents: [{ consentTypeRaw: 'Data_Sharing' }],
    },
    sent: {
      collection_method: 'by_drone',
      billing_type: 'Barter',
      consents: [{ consentType: 'Data_Sharing' }],
    },
  },
  importOrder: {
    path: '/v3/order/import',
    mutation: 'importOrder(input: $input)',
    input: { ...ids, ...patient, sampleId: 'OWN-1' },
    open: { collectionMethodRaw: 'by_drone', billingTypeRaw: 'Barter' },
    sent: { collection_method: 'by_drone', billing_type: 'Barter' },
  },
  registerTestkit: {
    path: '/v3/order/testkit/register',
    mutation: 'registerTestkit(input: $input)',
    input: { ...patient, sampleId: 'KIT-1' },
    open: { consents: [{ consentTypeRaw: 'Data_Sharing' }] },
    sent: { consents: [{ consentType: 'Data_Sharing' }] },
  },
};

const refusal = '{ __typename ... on InputRejected { issues { path code message } } }';
const typeOf = (name: string) => `${name[0]?.toUpperCase()}${name.slice(1)}Input!`;

describe.each(Object.entries(rows))('%s', (name, { path, mutation, input, open, sent }) => {
  const document = `mutation ($input: ${typeOf(name)}) { ${mutation} ${refusal} }`;

  test('sends values that its enums lack as they were given', async () => {
    await using service = await openRefusing();
    const variables = { input: { ...input, patientDetails: rawPatient, ...open } };
    await service.query(document, { variables });
    const [body] = service.sentTo(path);
    expect(body).toMatchObject({ ...sent, patient_details: sentPatient });
    expect(JSON.stringify(body)).not.toMatch(/_?raw"/i);
  });

  test('refuses a value in both ways, or in none where it is needed, before the service is asked', async () => {
    await using service = await openRefusing();
    const ask = async (more: object) => {
      const answer = await service.query(document, { variables: { input: { ...input, ...open, ...more } } });
      return Object.values(answer.data ?? {})[0];
    };
    expect(await ask({ patientDetails: { ...rawPatient, gender: 'FEMALE' } })).toEqual({
      __typename: 'InputRejected',
      issues: [
        {
          path: ['patientDetails', 'genderRaw'],
          code: 'CONFLICT',
          message: 'Give either gender or genderRaw.',
        },
      ],
    });
    expect(await ask({ patientDetails: withoutGender })).toEqual({
      __typename: 'InputRejected',
      issues: [
        { path: ['patientDetails', 'gender'], code: 'REQUIRED', message: 'Give gender or genderRaw.' },
      ],
    });
    expect(service.calls()).toEqual([]);
  });
});

test('a consent without a type, or with two, is refused with its place in the list', async () => {
  await using service = await openRefusing();
  const { input, mutation } = rows.registerTestkit as Row;
  const ask = async (consent: object) => {
    const consents = [{ consentType: 'PRIVACY_POLICY' }, consent];
    const variables = { input: { ...input, consents } };
    const document = `mutation ($input: RegisterTestkitInput!) { ${mutation} ${refusal} }`;
    return (await service.query(document, { variables })).data?.registerTestkit.issues;
  };
  expect(await ask({})).toEqual([
    {
      path: ['consents', '1', 'consentType'],
      code: 'REQUIRED',
      message: 'Give consentType or consentTypeRaw.',
    },
  ]);
  expect(await ask({ consentType: 'PRIVACY_POLICY', consentTypeRaw: 'other' })).toEqual([
    {
      path: ['consents', '1', 'consentTypeRaw'],
      code: 'CONFLICT',
      message: 'Give either consentType or consentTypeRaw.',
    },
  ]);
  expect(service.calls()).toEqual([]);
});

test('an import without a way of collection and without a payer is refused for both', async () => {
  await using service = await openRefusing();
  const { input, mutation } = rows.importOrder as Row;
  const document = `mutation ($input: ImportOrderInput!) { ${mutation} ${refusal} }`;
  const { data } = await service.query(document, { variables: { input } });
  expect(data?.importOrder.issues).toMatchObject([
    {
      path: ['collectionMethod'],
      code: 'REQUIRED',
      message: 'Give collectionMethod or collectionMethodRaw.',
    },
    { path: ['billingType'], code: 'REQUIRED', message: 'Give billingType or billingTypeRaw.' },
  ]);
  expect(service.calls()).toEqual([]);
});

test.each([
  [
    'orders(filter: { collectionMethods: [TESTKIT], collectionMethodsRaw: ["by_drone"] }) { nodes { id } }',
    'order_type=testkit&order_type=by_drone',
  ],
  ['labTests(filter: { collectionMethodRaw: "by_drone" }) { nodes { id } }', 'collection_method=by_drone'],
  [
    'serviceCenters(zipCode: "85004", labId: 6, capabilities: [STAT], capabilitiesRaw: ["x_ray"]) { siteCode }',
    'capabilities=stat&capabilities=x_ray',
  ],
])('%s asks for values that the enum lacks', async (field, query) => {
  await using service = await openRefusing();
  await service.query(`{ ${field} }`);
  expect(service.calls()[0]).toContain(query);
});
