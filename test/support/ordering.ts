import { createGateway } from '../../gateway/gateway.ts';
import { createLog } from '../../gateway/log.ts';
import { gatewayKey, graphqlRequest, type Lab, readTestConfig } from './lab.ts';

/** A patient as the graph takes one. */
export const patient = {
  patientDetails: {
    firstName: 'Avery',
    lastName: 'Sample',
    dob: '1988-04-12',
    gender: 'FEMALE',
    phoneNumber: '+16025550100',
    email: 'avery.sample@example.com',
  },
  patientAddress: {
    receiverName: 'Avery Sample',
    firstLine: '100 Example Street',
    city: 'Phoenix',
    state: 'AZ',
    zip: '85004',
    country: 'US',
    accessNotes: 'Blue door.',
  },
};

/** Who answers for a patient under 18. */
export const medicalProxy = {
  firstName: 'Jordan',
  lastName: 'Sample',
  phoneNumber: '+16025550101',
  email: 'jordan.sample@example.com',
  address: { firstLine: '100 Example Street', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' },
  householdSize: 3,
};

/** A day that makes a person this old today. */
export function bornYearsAgo(years: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear() - years, now.getUTCMonth(), now.getUTCDate()))
    .toISOString()
    .slice(0, 10);
}

export const physician = { firstName: 'Robin', lastName: 'Careful', npi: '1234567890' };

/** What is asked of an order that was placed, and of a refusal. */
export const placed = `{
  __typename
  ... on OrderCreated { cursor serviceStatus serviceMessage order {
    id userId passthrough status { raw } origin activateBy clinicalNotes sampleId billingType priority icdCodes
    patient { firstName dob gender email race ethnicity sexualOrientation genderIdentity
      medicalProxy { firstName lastName phoneNumber email householdSize address { firstLine zip } } } patientAddress { country accessNotes }
    physician { firstName lastName npi } labTest { id name } markers(first: 100) { nodes { id } }
  } }
  ... on UserError { code message }
  ... on InputRejected { issues { path message } }
}`;
const createOrder = `mutation ($input: CreateOrderInput!) { createOrder(input: $input) ${placed} }`;
/** The first lab test of this collection method. */
export function labTestOf(lab: Lab, method: string): string {
  const labTest = lab.sandbox.labTests().find((each) => each.method === method);
  if (labTest === undefined) throw new Error(`The world has no lab test of method ${method}.`);
  return labTest.labTestId;
}

function orderInput(lab: Lab, more: Readonly<Record<string, unknown>> = {}) {
  return {
    userId: lab.sandbox.users()[0]?.userId,
    orderSet: { labTestIds: [labTestOf(lab, 'at_home_phlebotomy')] },
    idempotencyKey: 'order-1',
    ...patient,
    ...more,
  };
}

/** Places an order: what the mutation says, or the whole answer where it says nothing. */
export async function create(lab: Lab, more: Readonly<Record<string, unknown>> = {}, token?: string) {
  const answer = await lab.query(createOrder, {
    variables: { input: orderInput(lab, more) },
    ...(token === undefined ? {} : { token }),
  });
  return answer.data?.createOrder ?? answer;
}

/** How often the service was asked to do something at this path. */
export const posts = (lab: Lab, path = '/v3/order') =>
  lab.sandbox.calls.filter((call) => call === `POST ${path}`).length;

/** A gateway over any service at all, asked for orders. */
export async function openGateway(serviceUrl: string) {
  const config = readTestConfig({ SERVICE_URL: serviceUrl, EVENT_LOG: 'memory:' });
  const gateway = await createGateway({ config, log: createLog({ level: 'silent' }), serviceUrl });
  const { url } = await gateway.listen();
  return {
    query: async (input: object) => {
      const request = graphqlRequest(url, { query: createOrder, variables: { input } }, gatewayKey);
      return await (await gateway.fetch(request)).json();
    },
    [Symbol.asyncDispose]: gateway.close,
  };
}
