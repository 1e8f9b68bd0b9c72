import { readInput, readOptionalUuid, readUuid, useInput } from '../../graph/arguments.ts';
import { builder, type InputFields } from '../../graph/builder.ts';
import {
  featureNotEnabledRef,
  inputRejectedRef,
  mutationResult,
  userErrorRef,
  usualRefusals,
} from '../../graph/mutation-result.ts';
import { findContradictions } from '../../graph/open-enum.ts';
import { needs } from '../../graph/permissions.ts';
import { toDay } from '../../parse/dates.ts';
import {
  type ClientUserIdTaken,
  findUser,
  requestDeletion,
  requestUndo,
  requestUpdate,
  requestUser,
  type UndoRefused,
  type UserCreated,
  type UserDeleted,
  type UserDeletionUndone,
  type UserUpdated,
} from './actions.ts';
import { type DemographicsUpdated, requestDemographics } from './actions-demographics.ts';
import { loadUser, userRef } from './graph.ts';
import {
  demographicsRef,
  openFields,
  readDemographics,
  updateDemographicsInput,
} from './graph-demographics.ts';
import type { UserName } from './rest.ts';

function profileFields(t: InputFields) {
  return {
    fallbackTimeZone: t.string({
      description: 'Name of the time zone used where a source gives none, such as America/New_York.',
    }),
    fallbackBirthDate: t.field({
      type: 'Date',
      description: 'The birth date used where demographics give none.',
    }),
    ingestionStart: t.field({ type: 'Date', description: 'The first day whose data is taken in.' }),
    ingestionEnd: t.field({ type: 'Date', description: 'The last day whose data is taken in.' }),
  };
}

const createUserInput = builder.inputType('CreateUserInput', {
  description: 'A new user.',
  fields: (t) => ({
    clientUserId: t.string({
      required: true,
      description: "The team's own reference, the natural key of the user; it must tell nothing personal.",
    }),
    ...profileFields(t),
  }),
});

const updateUserInput = builder.inputType('UpdateUserInput', {
  description: 'What is to change of a user: what is left out stays as it is, null clears.',
  fields: (t) => ({
    id: t.id({ required: true, description: "The user's id (uuid)." }),
    clientUserId: t.string({ description: "The team's own new reference; it cannot be cleared." }),
    ...profileFields(t),
  }),
});

const userReference = builder.inputType('UserReference', {
  description: 'How to name a user: give exactly one of these.',
  isOneOf: true,
  fields: (t) => ({
    id: t.id({ description: "The user's id (uuid)." }),
    clientUserId: t.string({ description: "The team's own reference of the user." }),
  }),
});

const userCreatedRef = builder.objectRef<UserCreated>('UserCreated').implement({
  description: 'The user was made.',
  fields: (t) => ({
    user: t.expose('user', {
      type: userRef,
      nullable: false,
      description: 'The user as the service answered it.',
    }),
  }),
});

const clientUserIdTakenRef = builder.objectRef<ClientUserIdTaken>('ClientUserIdTaken').implement({
  description: 'Another user of the team has this reference; nothing was done.',
  interfaces: [userErrorRef],
  fields: (t) => ({
    existingUserId: t.exposeID('existingUserId', {
      description: 'Id of the user who has it; null when that could not be read.',
    }),
    existingUser: t.field({
      type: userRef,
      description: 'The user who has it; null when that could not be read.',
      resolve: ({ existingUserId }, _args, context, info) =>
        existingUserId === null ? null : loadUser(context, existingUserId, info),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When that user was created.' }),
  }),
});

const userUpdatedRef = builder.objectRef<UserUpdated>('UserUpdated').implement({
  description: 'The user was changed.',
  fields: (t) => ({
    userId: t.exposeID('userId', { nullable: false, description: 'Id of the user.' }),
    user: t.field({
      type: userRef,
      description: 'The user as it is now, read after the change.',
      resolve: ({ userId }, _args, context, info) => loadUser(context, userId, info),
    }),
  }),
});

const userDeletedRef = builder.objectRef<UserDeleted>('UserDeleted').implement({
  description: 'The user is gone from every list; connections to providers have ended.',
  fields: (t) => ({
    userId: t.exposeID('userId', { nullable: false, description: 'Id of the user.' }),
    undoUntil: t.expose('undoUntil', {
      type: 'DateTime',
      nullable: false,
      description: "Until about when the deletion can be undone: seven days, by the gateway's clock.",
    }),
  }),
});

const userDeletionUndoneRef = builder.objectRef<UserDeletionUndone>('UserDeletionUndone').implement({
  description: 'The user is back, without connections to providers.',
  fields: (t) => ({
    user: t.field({
      type: userRef,
      description: 'The user, read after the deletion was undone.',
      resolve: ({ name }, _args, context) => findUser(context, name),
    }),
  }),
});

const undoRefusedRef = builder.objectRef<UndoRefused>('UndoRefused').implement({
  description: 'The deletion cannot be undone.',
  interfaces: [userErrorRef],
  fields: (t) => ({
    user: t.field({
      type: userRef,
      description: 'Who is there under the given name; null when there is nobody.',
      resolve: ({ name }, _args, context) => findUser(context, name),
    }),
  }),
});

const demographicsUpdatedRef = builder.objectRef<DemographicsUpdated>('DemographicsUpdated').implement({
  description: 'The demographics were set.',
  fields: (t) => ({
    demographics: t.expose('demographics', {
      type: demographicsRef,
      nullable: false,
      description: 'The whole record as the service answered it.',
    }),
    user: t.field({
      type: userRef,
      extensions: needs('read:orders'),
      description: 'The user.',
      resolve: ({ userId }, _args, context, info) => loadUser(context, userId, info),
    }),
  }),
});

const createUserResult = mutationResult('CreateUserResult', 'The result of creating a user.', [
  userCreatedRef,
  clientUserIdTakenRef,
  inputRejectedRef,
  featureNotEnabledRef,
]);

const updateUserResult = mutationResult('UpdateUserResult', 'The result of changing a user.', [
  userUpdatedRef,
  clientUserIdTakenRef,
  ...usualRefusals,
]);

const deleteUserResult = mutationResult('DeleteUserResult', 'The result of deleting a user.', [
  userDeletedRef,
  ...usualRefusals,
]);

const undoUserDeletionResult = mutationResult('UndoUserDeletionResult', 'The result of undoing a deletion.', [
  userDeletionUndoneRef,
  undoRefusedRef,
  ...usualRefusals,
]);

const updateDemographicsResult = mutationResult(
  'UpdateDemographicsResult',
  'The result of setting demographics.',
  [demographicsUpdatedRef, ...usualRefusals],
);

/** Undefined and null stay as they are: the one leaves the value, the other clears it. */
function readProfile(input: Omit<(typeof updateUserInput)['$inferInput'], 'id'>) {
  return {
    clientUserId: input.clientUserId,
    fallbackTimeZone: input.fallbackTimeZone,
    fallbackBirthDate: input.fallbackBirthDate && toDay(input.fallbackBirthDate),
    ingestionStart: input.ingestionStart && toDay(input.ingestionStart),
    ingestionEnd: input.ingestionEnd && toDay(input.ingestionEnd),
  };
}

/** The type of the input, of which exactly one field is given. */
function readReference(by: (typeof userReference)['$inferInput']): UserName {
  return typeof by.id === 'string'
    ? { id: readUuid('by.id', by.id), clientUserId: null }
    : { id: null, clientUserId: by.clientUserId ?? '' };
}

const deleteUserInput = builder.inputType('DeleteUserInput', {
  description: 'A user to delete.',
  fields: (t) => ({ id: t.id({ required: true, description: "The user's id (uuid)." }) }),
});
type DeleteUserInput = typeof deleteUserInput.$inferInput;

const undoUserDeletionInput = builder.inputType('UndoUserDeletionInput', {
  description: 'A user whose deletion is undone.',
  fields: (t) => ({ by: t.field({ type: userReference, required: true, description: 'Which user.' }) }),
});
type UndoUserDeletionInput = typeof undoUserDeletionInput.$inferInput;

builder.mutationFields((t) => ({
  createUser: t.field({
    type: createUserResult,
    extensions: needs('gateway-key'),
    description:
      'Creates a user. A repeated call creates no second one: the answer to a taken reference names its user.',
    args: { input: t.arg({ type: createUserInput, required: true, description: 'The user.' }) },
    resolve: (_root, { input }, context) =>
      requestUser(context, { ...readProfile(input), clientUserId: input.clientUserId }),
  }),
  updateUser: t.field({
    type: updateUserResult,
    extensions: needs('gateway-key'),
    description: 'Changes a user.',
    args: { input: t.arg({ type: updateUserInput, required: true, description: 'What is to change.' }) },
    resolve: (_root, { input }, context) =>
      requestUpdate(context, readUuid('input.id', input.id), readProfile(input)),
  }),
  deleteUser: t.field({
    type: deleteUserResult,
    extensions: needs('gateway-key'),
    description: 'Deletes a user: hidden and disconnected at once, erased after seven days.',
    args: {
      input: t.arg({ type: deleteUserInput, description: 'Which user.' }),
      id: t.arg.id({ description: "The user's id (uuid).", deprecationReason: useInput }),
    },
    resolve: (_root, args, context) =>
      requestDeletion(context, readUuid('id', readInput<DeleteUserInput>(args, 'id').id)),
  }),
  undoUserDeletion: t.field({
    type: undoUserDeletionResult,
    extensions: needs('gateway-key'),
    description: 'Brings a user back within seven days of the deletion; connections stay ended.',
    args: {
      input: t.arg({ type: undoUserDeletionInput, description: 'Which user.' }),
      by: t.arg({ type: userReference, description: 'Which user.', deprecationReason: useInput }),
    },
    resolve: (_root, args, context) =>
      requestUndo(context, readReference(readInput<UndoUserDeletionInput>(args, 'by').by)),
  }),
  updateDemographics: t.field({
    type: updateDemographicsResult,
    extensions: needs('write:profile'),
    description: 'Replaces the whole demographics record of a user. A viewer sets only their own.',
    args: { input: t.arg({ type: updateDemographicsInput, required: true, description: 'The record.' }) },
    resolve: (_root, { input }, context) =>
      requestDemographics(context, {
        userId: readOptionalUuid('input.userId', input.userId) ?? context.service.rights.userId,
        person: readDemographics(input),
        more: findContradictions(input, openFields),
      }),
  }),
}));
