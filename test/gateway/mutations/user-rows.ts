import type { SpoiltLab } from '../../support/spoilt-lab.ts';
import { firstUser } from './order-rows.ts';
import { address, canary, closed, given, person, type Row, type Variables } from './row.ts';

const create = /^POST \/v2\/user$/;
const update = /^PATCH \/v2\/user\/[^/]+$/;
const remove = /^DELETE \/v2\/user\/[^/]+$/;
const undo = /^POST \/v2\/user\/undo_delete/;
const demographics = /^PATCH \/v2\/user\/[^/]+\/info$/;

const allUsers = (lab: SpoiltLab) => lab.sandbox.users();
const takenReference = given(({ lab }) => ({ clientUserId: lab.sandbox.users()[1]?.clientUserId }));
const noUser = given(() => ({ id: crypto.randomUUID() }));
const write = { kind: 'write', canLook: false, waits: false } as const;

const profile = {
  clientUserId: `${canary}-1`,
  fallbackTimeZone: 'America/Phoenix',
  fallbackBirthDate: person.dob,
  ingestionStart: '2026-01-01',
  ingestionEnd: '2999-01-01',
};

/** A record with every field that the graph takes. */
const record = {
  ...person,
  gender: canary,
  address: { ...address, accessNotes: `${canary} door` },
  medicalProxy: {
    firstName: canary,
    lastName: canary,
    phoneNumber: person.phoneNumber,
    email: person.email,
    address: { ...address, accessNotes: `${canary} door` },
    householdIncome: 1000,
    householdSize: 3,
  },
  race: 'ASIAN',
  ethnicityRaw: canary,
  sexualOrientationRaw: canary,
  genderIdentityRaw: canary,
};

const idIn = ({ input }: Variables) => (input as { readonly id?: string; readonly userId?: string }) ?? {};

async function deleted(lab: SpoiltLab): Promise<string> {
  const userId = firstUser(lab);
  await lab.query(`mutation { deleteUser(id: "${userId}") { __typename } }`);
  return userId;
}

export const userRows: readonly Row[] = [
  {
    mutation: 'createUser',
    success: 'UserCreated',
    selection: '... on UserCreated { user { id } } ... on ClientUserIdTaken { existingUserId }',
    arrange: () => ({ input: profile }),
    refusals: {
      InputRejected: given({ fallbackTimeZone: canary }),
      ClientUserIdTaken: takenReference,
      FeatureNotEnabled: closed(create),
    },
    asks: { call: create, ...write },
    trace: allUsers,
    again: 'ClientUserIdTaken',
  },
  {
    mutation: 'updateUser',
    success: 'UserUpdated',
    selection: '... on UserUpdated { userId }',
    arrange: (lab) => ({ input: { id: firstUser(lab), ...profile } }),
    refusals: {
      InputRejected: given({ fallbackTimeZone: canary }),
      ClientUserIdTaken: takenReference,
      NotFound: noUser,
      FeatureNotEnabled: closed(update),
    },
    asks: { call: update, ...write },
    trace: (lab, variables) => lab.peek(`/v2/user/${idIn(variables).id}`),
    again: 'UserUpdated',
  },
  {
    mutation: 'deleteUser',
    success: 'UserDeleted',
    selection: '... on UserDeleted { userId undoUntil }',
    arrange: (lab) => ({ id: firstUser(lab) }),
    refusals: {
      InputRejected: () => ({ id: canary }),
      NotFound: () => ({ id: crypto.randomUUID() }),
      FeatureNotEnabled: closed(remove),
    },
    asks: { call: remove, ...write, canLook: true },
    trace: allUsers,
    again: 'NotFound',
  },
  {
    mutation: 'undoUserDeletion',
    success: 'UserDeletionUndone',
    selection: '... on UserDeletionUndone { user { id } } ... on UndoRefused { user { id } }',
    arrange: async (lab) => ({ by: { id: await deleted(lab) } }),
    refusals: {
      InputRejected: () => ({ by: { id: canary } }),
      UndoRefused: ({ lab }) => ({ by: { id: lab.sandbox.users()[1]?.userId } }),
      NotFound: () => ({ by: { clientUserId: `${canary}-nobody` } }),
      FeatureNotEnabled: closed(undo),
    },
    asks: { call: undo, ...write, canLook: true },
    trace: allUsers,
    again: 'UndoRefused',
  },
  {
    mutation: 'updateDemographics',
    success: 'DemographicsUpdated',
    selection: '... on DemographicsUpdated { demographics { firstName } }',
    arrange: (lab) => ({ input: { userId: firstUser(lab), ...record } }),
    refusals: {
      InputRejected: given({ email: canary, raceRaw: canary }),
      NotFound: given(() => ({ userId: crypto.randomUUID() })),
      FeatureNotEnabled: closed(demographics),
    },
    asks: { call: demographics, ...write },
    trace: (lab, variables) => lab.peek(`/v2/user/${idIn(variables).userId}/info/latest`),
    again: 'DemographicsUpdated',
  },
];
