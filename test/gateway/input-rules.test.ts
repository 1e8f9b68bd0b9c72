import { describe, expect, test } from 'vitest';
import { type Lab, startLab } from '../support/lab.ts';
import { create, labTestOf, patient } from '../support/ordering.ts';

/** Rules that several inputs share: each is tried where a caller meets it. */

const address = { firstLine: '100 Example Street', city: 'Phoenix', state: 'AZ', zip: '85004' };
const isBadInput = { errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] };

const mutate = async (lab: Lab, field: string, type: string, input: unknown) => {
  const answer = await lab.query(
    `mutation ($input: ${type}!) { done: ${field}(input: $input) { __typename ... on InputRejected { issues { path } } } }`,
    { variables: { input } },
  );
  return answer.data?.done ?? answer;
};

const demographics = (lab: Lab, more: object) =>
  mutate(lab, 'updateDemographics', 'UpdateDemographicsInput', {
    userId: lab.sandbox.users()[0]?.userId,
    ...patient.patientDetails,
    gender: 'female',
    address: { ...address, country: 'US' },
    ...more,
  });
const testkit = (lab: Lab, phoneNumber: string) =>
  mutate(lab, 'createTestkitOrder', 'CreateTestkitOrderInput', {
    userId: lab.sandbox.users()[0]?.userId,
    labTestId: labTestOf(lab, 'testkit'),
    idempotencyKey: 'kit-1',
    shippingDetails: { ...address, receiverName: 'Avery Sample', country: 'US', phoneNumber },
  });
const book = (lab: Lab, appointmentNotes: string) =>
  mutate(lab, 'bookPhlebotomyAppointment', 'BookAppointmentInput', {
    orderId: crypto.randomUUID(),
    bookingKey: 'k',
    appointmentNotes,
  });
const request = (lab: Lab, more: object) =>
  mutate(lab, 'requestPhlebotomyAppointment', 'RequestAppointmentInput', {
    orderId: crypto.randomUUID(),
    address,
    ...more,
  });

describe('a bound of 1,000 characters counts what people count, not UTF-16 units', () => {
  // Each is one character, and two units.
  const [fits, tooLong] = ['😀'.repeat(1000), '😀'.repeat(1001)];

  test('in comments and the way to the door of an order', async () => {
    await using lab = await startLab();
    const written = (text: string) => ({
      clinicalNotes: text,
      patientAddress: { ...patient.patientAddress, accessNotes: text },
    });
    expect((await create(lab, written(tooLong))).issues).toMatchObject([
      { path: ['patientAddress', 'accessNotes'] },
      { path: ['clinicalNotes'] },
    ]);
    expect(await create(lab, written(fits))).toMatchObject({ order: { clinicalNotes: fits } });
  });

  test('in demographics', async () => {
    await using lab = await startLab();
    const written = (accessNotes: string) => ({ address: { ...address, country: 'US', accessNotes } });
    expect(await demographics(lab, written(tooLong))).toMatchObject({
      issues: [{ path: ['address', 'accessNotes'] }],
    });
    expect(await demographics(lab, written(fits))).toEqual({ __typename: 'DemographicsUpdated' });
  });

  test('in notes and addresses of appointments', async () => {
    await using lab = await startLab();
    expect(await book(lab, tooLong)).toMatchObject({ issues: [{ path: ['appointmentNotes'] }] });
    expect(await book(lab, fits)).toEqual({ __typename: 'NotFound' });
    const asked = (accessNotes: string) =>
      request(lab, { provider: 'PHLEBFINDERS', address: { ...address, accessNotes } });
    expect(await asked(tooLong)).toMatchObject({ issues: [{ path: ['address', 'accessNotes'] }] });
    expect(await asked(fits)).toEqual({ __typename: 'NotFound' });
  });
});

describe('a known value together with a word of the service for the same thing', () => {
  test('is refused for the provider of a visit', async () => {
    await using lab = await startLab();
    expect(await request(lab, { provider: 'PHLEBFINDERS', providerRaw: 'getlabs' })).toMatchObject({
      __typename: 'InputRejected',
      issues: [{ path: ['providerRaw'] }],
    });
    expect(lab.sandbox.calls).toEqual([]);
  });

  test.each([
    [
      'the lab of service centers',
      'serviceCenterAvailability(input: { lab: QUEST, labRaw: "acme", zipCode: "85004" }) { date }',
    ],
    [
      'the meaning of results',
      'orders(filter: { interpretation: NORMAL, interpretationRaw: "critical" }) { totalCount }',
    ],
  ])('is refused for %s', async (_name, field) => {
    await using lab = await startLab();
    expect(await lab.query(`{ ${field} }`)).toMatchObject(isBadInput);
    expect(lab.sandbox.calls).toEqual([]);
  });
});

describe('a phone number', () => {
  const wrong = ['+1........', '+1 ( ) - - - -', '+1234', '+0 602 555 0100', '+1602555010012345'];
  test.each(wrong)('%s is refused wherever one is given', async (phoneNumber) => {
    await using lab = await startLab();
    const order = await create(lab, { patientDetails: { ...patient.patientDetails, phoneNumber } });
    expect(order).toMatchObject({ issues: [{ path: ['patientDetails', 'phoneNumber'] }] });
    expect(await testkit(lab, phoneNumber)).toMatchObject({
      issues: [{ path: ['shippingDetails', 'phoneNumber'] }],
    });
    expect(await demographics(lab, { phoneNumber })).toMatchObject({ issues: [{ path: ['phoneNumber'] }] });
    expect(lab.sandbox.calls).toEqual([]);
  });

  test.each(['+1 (602) 555-0100', '+44 20 7946 0100', '+16025550100'])('%s is taken', async (phoneNumber) => {
    await using lab = await startLab();
    expect((await demographics(lab, { phoneNumber })).__typename).toBe('DemographicsUpdated');
    expect((await testkit(lab, phoneNumber)).__typename).toBe('OrderCreated');
  });
});

test.each(['+05:30', '-08:00', '+0530', '+05'])(
  '%s is an offset and no name of a time zone',
  async (zone) => {
    await using lab = await startLab();
    const input = { clientUserId: 'zoned', fallbackTimeZone: zone };
    expect(await mutate(lab, 'createUser', 'CreateUserInput', input)).toMatchObject({
      issues: [{ path: ['fallbackTimeZone'] }],
    });
  },
);
