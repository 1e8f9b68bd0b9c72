import { describe, expect, test } from 'vitest';
import { type Lab, serviceKey, startLab } from '../support/lab.ts';
import { bornYearsAgo, create, medicalProxy, patient, posts } from '../support/ordering.ts';

const minor = { ...patient.patientDetails, dob: bornYearsAgo(12) };
const order = (lab: Lab, patientDetails: object) => create(lab, { patientDetails });

describe('an order for a person under 18', () => {
  test('is placed with a medical proxy, and shows who answers for the patient', async () => {
    await using lab = await startLab();
    expect(await order(lab, { ...minor, medicalProxy })).toMatchObject({
      __typename: 'OrderCreated',
      order: {
        patient: {
          dob: minor.dob,
          medicalProxy: {
            firstName: 'Jordan',
            lastName: 'Sample',
            phoneNumber: '+16025550101',
            email: 'jordan.sample@example.com',
            householdSize: 3,
            address: { firstLine: '100 Example Street', zip: '85004' },
          },
        },
      },
    });
  });

  test('is refused without one before the service is asked; a person who is 18 today needs none', async () => {
    await using lab = await startLab();
    expect(await order(lab, minor)).toMatchObject({
      __typename: 'InputRejected',
      issues: [{ path: ['patientDetails', 'medicalProxy'] }],
    });
    expect(posts(lab)).toBe(0);
    const adult = { ...patient.patientDetails, dob: bornYearsAgo(18) };
    expect((await order(lab, adult)).__typename).toBe('OrderCreated');
  });

  test('gets all faults of the proxy at once', async () => {
    await using lab = await startLab();
    const proxy = {
      ...medicalProxy,
      firstName: '',
      phoneNumber: '602 555 0100',
      address: { ...medicalProxy.address, zip: ' ' },
    };
    const { issues } = await order(lab, { ...minor, medicalProxy: proxy });
    expect(issues.map(({ path }: { path: string[] }) => path.join('.'))).toEqual([
      'patientDetails.medicalProxy.firstName',
      'patientDetails.medicalProxy.phoneNumber',
      'patientDetails.medicalProxy.address.zip',
    ]);
  });

  test('is placed with a proxy of any name and address, because the rules for patients do not apply to proxies', async () => {
    await using lab = await startLab();
    const proxy = {
      ...medicalProxy,
      ...{ firstName: 'José', lastName: 'Núñez  Ávila', email: 'o&b@example.com' },
      phoneNumber: '+1 555 010 0100',
      address: { ...medicalProxy.address, state: 'Arizona', zip: '85004 1234' },
    };
    const placed = await order(lab, { ...minor, medicalProxy: proxy });
    expect(placed.order.patient.medicalProxy).toMatchObject({
      ...{ firstName: 'José', lastName: 'Núñez  Ávila', email: 'o&b@example.com' },
      ...{ phoneNumber: '+1 555 010 0100', address: { zip: '85004 1234' } },
    });
  });

  test('is refused by the sandbox as the service refuses it', async () => {
    await using lab = await startLab();
    const response = await fetch(`${lab.serviceUrl}/v3/order`, {
      method: 'POST',
      headers: { 'x-service-api-key': serviceKey, 'content-type': 'application/json' },
      body: JSON.stringify({
        user_id: lab.sandbox.users()[0]?.userId,
        order_set: { lab_test_ids: [lab.sandbox.labTests()[0]?.labTestId] },
        patient_details: {
          first_name: 'Avery',
          last_name: 'Sample',
          dob: minor.dob,
          gender: 'female',
          phone_number: '+16025550100',
          email: 'avery.sample@example.com',
        },
        patient_address: {
          first_line: '100 Example Street',
          city: 'Phoenix',
          state: 'AZ',
          zip: '85004',
          country: 'US',
        },
      }),
    });
    expect(response.status).toBe(422);
    expect((await response.json()).detail).toMatchObject([
      { loc: ['body', 'patient_details', 'medical_proxy'] },
    ]);
  });
});

test('what patients say of themselves reaches the lab, and is shown with the order', async () => {
  await using lab = await startLab();
  const said = {
    race: 'ASIAN',
    ethnicity: 'NON_HISPANIC',
    sexualOrientation: 'BISEXUAL',
    genderIdentity: 'GENDERQUEER',
  };
  const placed = await order(lab, {
    ...patient.patientDetails,
    ...said,
    householdIncome: 50_000,
    householdSize: 2,
  });
  expect(placed).toMatchObject({
    __typename: 'OrderCreated',
    order: { patient: { ...said, medicalProxy: null } },
  });
});

test('a word that no enum has is shown as it was sent, and is no label of a metric', async () => {
  await using lab = await startLab();
  const [first] = lab.sandbox.orders();
  const read = '{ order(id: "ID") { patient { race raceRaw genderIdentity genderIdentityRaw } } }';
  const shown = await (
    await fetch(`${lab.serviceUrl}/v3/order/${first?.orderId}`, {
      headers: { 'x-service-api-key': serviceKey },
    })
  ).json();
  const body = JSON.stringify({
    ...shown,
    patient_details: { ...shown.patient_details, race: 'martian', gender_identity: 'agender' },
  });
  lab.sandbox.faults.add({ path: '/v3/order/', effect: { kind: 'answer', status: 200, body } });
  expect((await lab.query(read.replace('ID', first?.orderId ?? ''))).data.order.patient).toEqual({
    race: null,
    raceRaw: 'martian',
    genderIdentity: null,
    genderIdentityRaw: 'agender',
  });
  const metrics = await (await fetch(`${lab.url}/metrics`)).text();
  expect(metrics).toContain('field="PatientDetails.race",value="other"');
  expect(metrics).not.toMatch(/martian|agender/);
});
