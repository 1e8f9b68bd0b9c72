import { isGatewayError } from '../../errors.ts';
import type { GraphContext } from '../../graph/context.ts';
import { findIssues, type InputRule, isGiven } from '../../graph/input-rules.ts';
import {
  type FeatureNotEnabled,
  type InputIssue,
  type InputRejected,
  inputRejected,
  isRefusal,
  type NotFound,
  notFound,
  toRefusal,
  type UserError,
  withReason,
} from '../../graph/user-error.ts';
import { settleLost } from '../settle.ts';
import {
  createUser,
  deleteUser,
  getUser,
  getUserByClientUserId,
  type User,
  type UserName,
  type UserProfile,
  undoUserDeletion,
  updateUser,
} from './rest.ts';

export interface UserCreated {
  readonly kind: 'UserCreated';
  readonly user: User;
}

export interface ClientUserIdTaken extends UserError<'ClientUserIdTaken'> {
  readonly existingUserId: string | null;
  readonly createdAt: Date | null;
}

export interface UserUpdated {
  readonly kind: 'UserUpdated';
  readonly userId: string;
}

export interface UserDeleted {
  readonly kind: 'UserDeleted';
  readonly userId: string;
  readonly undoUntil: Date;
}

export interface UserDeletionUndone {
  readonly kind: 'UserDeletionUndone';
  readonly name: UserName;
}

export interface UndoRefused extends UserError<'UndoRefused'> {
  readonly name: UserName;
}

/** How long a deletion can be undone (specification, Limits). */
const gracePeriodMs = 7 * 24 * 60 * 60 * 1000;

/**
 * Makes a user. The team's own reference is its natural key: a repeated call whose first answer was
 * lost is answered with the user that is there.
 * @throws GatewayError FORBIDDEN for viewer tokens, UPSTREAM_*
 */
export async function requestUser(
  context: GraphContext,
  profile: UserProfile & { readonly clientUserId: string },
): Promise<UserCreated | ClientUserIdTaken | InputRejected | FeatureNotEnabled> {
  const issues = findIssues(profileRules, profile);
  if (issues.length > 0) return inputRejected(issues);
  try {
    const answer = await createUser(context.service, profile);
    return answer.kind === 'taken' ? taken(answer) : { kind: 'UserCreated', user: answer.user };
  } catch (error) {
    return await explainRefusal(context, profile.clientUserId, error);
  }
}

/** Changes the given fields of a user. @throws GatewayError FORBIDDEN for viewer tokens, UPSTREAM_* */
export async function requestUpdate(
  context: GraphContext,
  userId: string,
  profile: UserProfile,
): Promise<UserUpdated | ClientUserIdTaken | InputRejected | NotFound | FeatureNotEnabled> {
  const issues = [...findIssues(profileRules, profile), ...findNothing(profile)];
  if (issues.length > 0) return inputRejected(issues);
  try {
    const isDone = await updateUser(context.service, userId, profile);
    return isDone === null ? notFound('user') : { kind: 'UserUpdated', userId };
  } catch (error) {
    return await explainRefusal(context, profile.clientUserId, error, userId);
  }
}

/**
 * Deletes a user. If the answer is lost, the user is read again: a user who existed before and no longer does was
 * deleted.
 * @throws GatewayError FORBIDDEN for viewer tokens, UPSTREAM_*
 */
export async function requestDeletion(
  context: GraphContext,
  userId: string,
): Promise<UserDeleted | InputRejected | NotFound | FeatureNotEnabled> {
  const { service } = context;
  if ((await getUser(service, userId)) === null) return notFound('user');
  const undoUntil = new Date(Date.now() + gracePeriodMs);
  try {
    if ((await deleteUser(service, userId)) === null) return notFound('user');
  } catch (error) {
    if (isRefusal(error)) return toRefusal(error, { user_id: 'id' });
    await settleLost(error, async () => ((await getUser(service, userId)) === null ? true : null));
  }
  return { kind: 'UserDeleted', userId, undoUntil };
}

/**
 * Brings a deleted user back. If the answer is lost, the user is read again: a user who did not exist before and does
 * now is back.
 * @throws GatewayError FORBIDDEN for viewer tokens, UPSTREAM_*
 */
export async function requestUndo(
  context: GraphContext,
  name: UserName,
): Promise<UserDeletionUndone | UndoRefused | InputRejected | NotFound | FeatureNotEnabled> {
  const wasThere = (await findUser(context, name)) !== null;
  const undone = { kind: 'UserDeletionUndone', name } as const;
  try {
    const isDone = await undoUserDeletion(context.service, name);
    return isDone === null ? notFound('deleted user') : undone;
  } catch (error) {
    if (!isRefusal(error)) {
      return await settleLost(error, async () =>
        !wasThere && (await findUser(context, name)) !== null ? undone : null,
      );
    }
    if (isGatewayError(error, 'UPSTREAM_FORBIDDEN')) return toRefusal(error);
    return {
      kind: 'UndoRefused',
      code: 'UNDO_REFUSED',
      message: withReason(undoRefused, error),
      name,
    };
  }
}

const undoRefused =
  'The deletion cannot be undone: the user is there, or another user has the reference by now.';

/** The user of that name as the service has it now, or null. */
export function findUser({ service }: GraphContext, name: UserName): Promise<User | null> {
  return name.id === null ? getUserByClientUserId(service, name.clientUserId) : getUser(service, name.id);
}

/** A refusal of a reference may name the user who has it; otherwise that user is looked up. */
async function explainRefusal(
  context: GraphContext,
  clientUserId: string | null | undefined,
  error: unknown,
  ownId?: string,
): Promise<ClientUserIdTaken | InputRejected | FeatureNotEnabled> {
  const refusal = toRefusal(error, { user_id: 'id' });
  if (!isGatewayError(error, 'UPSTREAM_REJECTED')) return refusal;
  const isConflict = error.status === 400 || error.status === 409;
  if (isConflict && typeof clientUserId === 'string') {
    const existing = await getUserByClientUserId(context.service, clientUserId).catch(() => null);
    if (existing !== null && existing.id.toLowerCase() !== ownId) {
      return taken({ userId: existing.id, createdAt: existing.createdAt });
    }
    // A 409 means that the reference is taken (public service), but the user who has it could not be read.
    if (error.status === 409) return taken(null);
  }
  return refusal;
}

function taken(
  existing: { readonly userId: string; readonly createdAt: Date | null } | null,
): ClientUserIdTaken {
  return {
    kind: 'ClientUserIdTaken',
    code: 'CLIENT_USER_ID_TAKEN',
    message: 'Another user of the team has this clientUserId.',
    existingUserId: existing?.userId ?? null,
    createdAt: existing?.createdAt ?? null,
  };
}

const profileRules: readonly InputRule<UserProfile>[] = [
  [
    'clientUserId',
    "Give the team's own reference of the user.",
    ({ clientUserId }) => clientUserId === undefined || isGiven(clientUserId ?? ''),
    'REQUIRED',
  ],
  [
    'fallbackTimeZone',
    'Give the name of a time zone, such as America/New_York.',
    ({ fallbackTimeZone: zone }) => zone === undefined || zone === null || isTimeZone(zone),
  ],
];

function findNothing(profile: UserProfile): readonly InputIssue[] {
  const isEmpty = Object.values(profile).every((value) => value === undefined);
  return isEmpty ? [{ path: [], code: 'REQUIRED', message: 'Give something to change.' }] : [];
}

/** Whether the text is a name such as America/New_York. An offset such as +05:30 is not, although Intl accepts it. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
