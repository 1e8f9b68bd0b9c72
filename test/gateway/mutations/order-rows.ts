import { createLabAccounts } from '../../../sandbox/world/lab-accounts.ts';
import { labTestOf } from '../../support/ordering.ts';
import type { SpoiltLab } from '../../support/spoilt-lab.ts';
import { address, after, canary, closed, given, type Input, person, type Row } from './row.ts';

const [open, delegated] = createLabAccounts(1);
const kit = /^POST \/v3\/order\/testkit$/;
const order = /^POST \/v3\/order$/;
const imported = /^POST \/v3\/order\/import$/;

const shippingDetails = {
  receiverName: `${canary} Receiver`,
  firstLine: address.firstLine,
  secondLine: address.secondLine,
  city: address.city,
  state: address.state,
  zip: address.zip,
  country: address.country,
  phoneNumber: person.phoneNumber,
};

/** A patient with every field that the graph takes. */
export const patient = {
  patientDetails: { ...person, gender: 'FEMALE' },
  patientAddress: {
    ...address,
    receiverName: `${canary} Receiver`,
    phoneNumber: person.phoneNumber,
    accessNotes: `${canary} door`,
  },
};

export const physician = {
  firstName: canary,
  lastName: canary,
  npi: '1234567890',
  email: person.email,
  licensedStates: ['AZ'],
};

/** Every order by id, user and status. */
export const allOrders = (lab: SpoiltLab) => lab.sandbox.orders();

export function firstUser(lab: SpoiltLab): string {
  const [user] = lab.sandbox.users();
  if (user === undefined) throw new Error('The world has no users.');
  return user.userId;
}

/** A lab test of the lab whose only account is delegated. */
function ofDelegatedLab(lab: SpoiltLab): Input {
  const labTest = lab.sandbox.labTests().find(({ name }) => name === 'Lipid Check');
  return { orderSet: { labTestIds: [labTest?.labTestId] }, physician: null };
}

const newOrder = (lab: SpoiltLab): Input => ({
  userId: firstUser(lab),
  orderSet: { labTestIds: [labTestOf(lab, 'at_home_phlebotomy')] },
  collectionMethod: 'AT_HOME_PHLEBOTOMY',
  ...patient,
  physician,
  labAccountId: open?.id,
});

const noUser = given(() => ({ userId: crypto.randomUUID() }));
const badAddress = given({
  patientAddress: { ...patient.patientAddress, country: canary, accessNotes: canary.repeat(100) },
});
const placed = { success: 'OrderCreated', selection: '... on OrderCreated { order { id } cursor }' };

/** Orders are placed at most once, because what was placed is looked for. */
export const placingRows: readonly Row[] = [
  {
    mutation: 'createTestkitOrder',
    ...placed,
    arrange: (lab) => ({
      input: {
        userId: firstUser(lab),
        labTestId: labTestOf(lab, 'testkit'),
        labAccountId: open?.id,
        shippingDetails,
        passthrough: canary,
        idempotencyKey: `${canary}-1`,
      },
    }),
    refusals: {
      InputRejected: given({ shippingDetails: { ...shippingDetails, country: canary, phoneNumber: canary } }),
      IdempotencyConflict: after({ passthrough: `${canary} other` }),
      NotFound: noUser,
      FeatureNotEnabled: closed(kit),
      PhysicianRequired: {
        given: given({ labAccountId: delegated?.id }),
        instead: 'InputRejected',
        because: 'A kit is ordered without a physician, who is named when it is registered.',
      },
    },
    asks: { call: kit, kind: 'write', canLook: true, waits: true },
    trace: allOrders,
    again: 'OrderCreated',
  },
  {
    mutation: 'createOrder',
    ...placed,
    arrange: (lab) => ({
      input: {
        ...newOrder(lab),
        clinicalNotes: `${canary} fasts`,
        consents: [{ consentType: 'HIPAA_AUTHORIZATION', timeOfConsent: '2026-01-01T08:00:00Z' }],
        aoeAnswers: [{ markerId: '27016', questionId: '1', answer: canary }],
        activateBy: '2999-01-01',
        updateReason: 'INCORRECT_LAB',
        priority: true,
        billingType: 'PATIENT_BILL',
        icdCodes: ['E78.5'],
        passthrough: canary,
        idempotencyKey: `${canary}-1`,
      },
    }),
    refusals: {
      InputRejected: badAddress,
      IdempotencyConflict: after({ clinicalNotes: `${canary} has eaten` }),
      PhysicianRequired: given(({ lab }) => ({
        ...ofDelegatedLab(lab),
        collectionMethod: null,
        labAccountId: null,
      })),
      NotFound: noUser,
      FeatureNotEnabled: closed(order),
    },
    asks: { call: order, kind: 'write', canLook: true, waits: true },
    trace: allOrders,
    again: 'OrderCreated',
  },
  {
    mutation: 'importOrder',
    ...placed,
    arrange: (lab) => ({
      input: { ...newOrder(lab), billingType: 'CLIENT_BILL', sampleId: `${canary}-1` },
    }),
    refusals: {
      InputRejected: badAddress,
      IdempotencyConflict: {
        given: after({ billingType: 'PATIENT_BILL' }),
        instead: 'InputRejected',
        because: 'An import has no idempotency key: the number of its sample is wrong, and is named.',
      },
      PhysicianRequired: given(({ lab }) => ({
        ...ofDelegatedLab(lab),
        collectionMethod: methodOf(lab, 'Lipid Check'),
        labAccountId: null,
      })),
      NotFound: noUser,
      FeatureNotEnabled: closed(imported),
    },
    asks: { call: imported, kind: 'write', canLook: true, waits: true },
    trace: allOrders,
    again: 'OrderCreated',
  },
];

function methodOf(lab: SpoiltLab, name: string): string | undefined {
  return lab.sandbox
    .labTests()
    .find((each) => each.name === name)
    ?.method.toUpperCase();
}
