import { expect, test } from 'vitest';
import { type Lab, startLab } from '../support/lab.ts';

const results = '__typename ... on UserError { code message }';
const createUser = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { __typename } }';
const updateUser = 'mutation ($input: UpdateUserInput!) { updateUser(input: $input) { __typename } }';
const deleteUser = `mutation ($id: ID!) { deleteUser(id: $id) { ${results}
  ... on UserDeleted { userId undoUntil } } }`;
const undo = `mutation ($by: UserReference!) { undoUserDeletion(by: $by) { ${results}
  ... on UserDeletionUndone { user { id clientUserId connectedSources { createdAt } } }
  ... on UndoRefused { user { id } } } }`;

interface Person {
  readonly userId: string;
  readonly clientUserId: string;
}

function person(lab: Lab, index = 0): Person {
  const found = lab.sandbox.users().at(index);
  if (!found) throw new Error(`There is no user ${index}.`);
  return found;
}

async function run(lab: Lab, mutation: string, variables: Readonly<Record<string, unknown>>, token?: string) {
  const answer = await lab.query(mutation, { variables, ...(token === undefined ? {} : { token }) });
  return Object.values(answer.data ?? {})[0] ?? answer;
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read like a client reads them, field by field.
const ask: (...args: Parameters<typeof run>) => Promise<any> = run;
const writes = (lab: Lab) => lab.sandbox.calls.filter((call) => !call.startsWith('GET'));

test('a deleted user is nowhere, and comes back without connections', async () => {
  await using lab = await startLab();
  const { userId, clientUserId } = person(lab);
  const startedAt = Date.now();
  const deleted = await ask(lab, deleteUser, { id: userId });
  expect(deleted).toMatchObject({ __typename: 'UserDeleted', userId });
  const graceMs = Date.parse(deleted.undoUntil) - startedAt;
  expect(Math.round(graceMs / 60_000)).toBe(7 * 24 * 60);
  const gone = await lab.query(`{ user(id: "${userId}") { id } users { totalCount } }`);
  expect(gone.data).toEqual({ user: null, users: { totalCount: 19 } });
  expect(await ask(lab, deleteUser, { id: userId })).toMatchObject({ __typename: 'NotFound' });

  expect(await ask(lab, undo, { by: { id: userId } })).toEqual({
    __typename: 'UserDeletionUndone',
    user: { id: userId, clientUserId, connectedSources: [] },
  });
});

test("a deletion is undone by the team's own reference", async () => {
  await using lab = await startLab();
  const { userId, clientUserId } = person(lab);
  await ask(lab, deleteUser, { id: userId });
  expect(await ask(lab, undo, { by: { clientUserId } })).toMatchObject({ user: { id: userId } });
  expect(writes(lab)).toEqual([
    `DELETE /v2/user/${userId}`,
    `POST /v2/user/undo_delete?client_user_id=${clientUserId}`,
  ]);
});

test('undoing is refused where the user is there or the reference has a new owner, and for nobody', async () => {
  await using lab = await startLab();
  const { userId, clientUserId } = person(lab);
  expect(await ask(lab, undo, { by: { id: userId } })).toMatchObject({
    __typename: 'UndoRefused',
    code: 'UNDO_REFUSED',
    user: { id: userId },
  });
  await ask(lab, deleteUser, { id: userId });
  await ask(lab, createUser, { input: { clientUserId } });
  expect(await ask(lab, undo, { by: { id: userId } })).toMatchObject({ code: 'UNDO_REFUSED', user: null });
  expect(await ask(lab, undo, { by: { id: crypto.randomUUID() } })).toMatchObject({ code: 'NOT_FOUND' });
});

test.each([{}, { id: crypto.randomUUID(), clientUserId: 'x' }, { id: null }])(
  'a reference like %j names nobody and asks nobody',
  async (by) => {
    await using lab = await startLab();
    const answer = await lab.query(undo, { variables: { by } });
    expect(answer.errors?.[0]?.extensions.code).toMatch(/BAD_USER_INPUT|GRAPHQL_VALIDATION_FAILED/);
    expect(lab.sandbox.calls).toEqual([]);
  },
);

test('a deletion whose answer is lost is reported as what it is', async () => {
  await using lab = await startLab();
  const [one, two] = [person(lab, 0), person(lab, 1)];
  const lose = (effect: 'lostAnswer' | 'serverError') =>
    lab.sandbox.faults.add({ method: 'DELETE', path: '/v2/user', times: 1, effect: { kind: effect } });
  lose('lostAnswer');
  expect(await ask(lab, deleteUser, { id: one.userId })).toMatchObject({ __typename: 'UserDeleted' });
  lose('serverError');
  const failed = await ask(lab, deleteUser, { id: two.userId });
  expect(failed.errors[0].extensions.code).toBe('UPSTREAM_UNAVAILABLE');
  expect(writes(lab)).toEqual([`DELETE /v2/user/${one.userId}`, `DELETE /v2/user/${two.userId}`]);

  lose('lostAnswer');
  lab.sandbox.faults.add({ method: 'GET', path: '/v2/user', times: 1 });
  lab.sandbox.faults.add({ method: 'GET', path: '/v2/user', effect: { kind: 'serverError' } });
  const unknown = await ask(lab, deleteUser, { id: two.userId });
  expect(unknown.errors[0].extensions.code).toBe('UPSTREAM_UNAVAILABLE');
});

test('an undoing whose answer is lost is made good by looking; who asks again sees that the user is there', async () => {
  await using lab = await startLab();
  const { userId } = person(lab);
  await ask(lab, deleteUser, { id: userId });
  lab.sandbox.faults.add({ path: /undo_delete/, times: 1, effect: { kind: 'lostAnswer' } });
  expect(await ask(lab, undo, { by: { id: userId } })).toMatchObject({ user: { id: userId } });
  expect(await ask(lab, undo, { by: { id: userId } })).toMatchObject({
    code: 'UNDO_REFUSED',
    user: { id: userId },
  });
});

test('a browser changes no user, not even its own, and the service is not asked', async () => {
  await using lab = await startLab();
  const [mine, theirs] = [person(lab, 0), person(lab, 1)];
  const token = await lab.tokenFor(mine.userId, { scopes: ['read:orders', 'read:profile', 'write:profile'] });
  const ids = [mine.userId, theirs.userId, crypto.randomUUID()];
  const answers = await Promise.all([
    ask(lab, createUser, { input: { clientUserId: theirs.clientUserId } }, token),
    ...ids.map((id) => ask(lab, updateUser, { input: { id, clientUserId: 'x' } }, token)),
    ...ids.map((id) => ask(lab, deleteUser, { id }, token)),
    ...ids.map((id) => ask(lab, undo, { by: { id } }, token)),
  ]);
  for (const answer of answers) expect(answer.errors[0].extensions).toEqual({ code: 'FORBIDDEN' });
  expect(lab.sandbox.calls).toEqual([]);
});
