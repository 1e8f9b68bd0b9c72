import { expect, test } from 'vitest';
import { type Lab, startLab } from '../support/lab.ts';

const results = `__typename
  ... on UserError { code message }
  ... on InputRejected { issues { path message } }`;
const createUser = `mutation ($input: CreateUserInput!) { createUser(input: $input) { ${results}
  ... on UserCreated { user { ...known } }
  ... on ClientUserIdTaken { existingUserId createdAt existingUser { id clientUserId } } } }
  fragment known on User { id clientUserId createdAt fallbackTimeZone { id } fallbackBirthDate { value }
    ingestionStart ingestionEnd connectedSources { createdAt } }`;
const updateUser = `mutation ($input: UpdateUserInput!) { updateUser(input: $input) { ${results}
  ... on UserUpdated { userId user { clientUserId fallbackTimeZone { id } fallbackBirthDate { value } ingestionEnd } }
  ... on ClientUserIdTaken { existingUserId existingUser { id } } } }`;
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
  return answer.errors ? answer : Object.values(answer.data)[0];
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read like a client reads them, field by field.
const ask: (...args: Parameters<typeof run>) => Promise<any> = run;

test('a new user is made with everything the team says of it', async () => {
  await using lab = await startLab();
  const created = await ask(lab, createUser, {
    input: {
      clientUserId: 'member/new 1',
      fallbackTimeZone: 'America/Denver',
      fallbackBirthDate: '1990-02-03',
      ingestionStart: '2026-01-01',
    },
  });
  expect(created).toEqual({
    __typename: 'UserCreated',
    user: {
      id: person(lab, -1).userId,
      clientUserId: 'member/new 1',
      createdAt: expect.any(String),
      fallbackTimeZone: { id: 'America/Denver' },
      fallbackBirthDate: { value: '1990-02-03' },
      ingestionStart: '2026-01-01',
      ingestionEnd: null,
      connectedSources: [],
    },
  });
  const found = await lab.query('{ userByClientUserId(clientUserId: "member/new 1") { id } }');
  expect(found.data.userByClientUserId.id).toBe(created.user.id);
});

test('a taken reference is answered with the user who has it', async () => {
  await using lab = await startLab();
  const { userId, clientUserId } = person(lab);
  expect(await ask(lab, createUser, { input: { clientUserId } })).toEqual({
    __typename: 'ClientUserIdTaken',
    code: 'CLIENT_USER_ID_TAKEN',
    message: 'Another user of the team has this clientUserId.',
    existingUserId: userId,
    createdAt: '2025-01-06T09:00:00.000Z',
    existingUser: { id: userId, clientUserId },
  });
  expect(lab.sandbox.calls).toEqual(['POST /v2/user', `GET /v2/user/${userId}`]);
});

test('the user who has a reference is named even when it cannot be read', async () => {
  await using lab = await startLab();
  const { userId, clientUserId } = person(lab);
  lab.sandbox.faults.add({ method: 'GET', path: '/v2/user', effect: { kind: 'serverError' } });
  const answer = await lab.query(createUser, { variables: { input: { clientUserId } } });
  expect(answer.data.createUser).toMatchObject({ existingUserId: userId, existingUser: null });
  expect(answer.errors?.[0]?.extensions.code).toBe('UPSTREAM_UNAVAILABLE');
});

test.each(['{"detail":"taken"}', '{"detail":{"error_type":"INVALID_REQUEST"}}', '', '<html>'])(
  'a 400 that names nobody (%s) is looked into',
  async (body) => {
    await using lab = await startLab();
    lab.sandbox.faults.add({
      method: 'POST',
      path: '/v2/user',
      effect: { kind: 'answer', status: 400, body },
    });
    const { userId, clientUserId } = person(lab);
    expect(await ask(lab, createUser, { input: { clientUserId } })).toMatchObject({
      __typename: 'ClientUserIdTaken',
      existingUserId: userId,
    });
    expect(await ask(lab, createUser, { input: { clientUserId: 'nobody-has-it' } })).toMatchObject({
      __typename: 'InputRejected',
      issues: [],
    });
  },
);

test('a wrong input is refused before the service is asked', async () => {
  await using lab = await startLab();
  const rejected = await ask(lab, createUser, {
    input: { clientUserId: ' ', fallbackTimeZone: 'Mars/Base' },
  });
  expect(rejected.issues.map(({ path }: { path: string[] }) => path)).toEqual([
    ['clientUserId'],
    ['fallbackTimeZone'],
  ]);
  expect(JSON.stringify(rejected)).not.toContain('Mars');
  expect(lab.sandbox.calls).toEqual([]);
});

test("the service's own refusal of an input comes in the names of the graph", async () => {
  await using lab = await startLab();
  const detail = [{ type: 'x', loc: ['body', 'fallback_time_zone'], msg: 'No such zone', input: 'secret' }];
  lab.sandbox.faults.add({
    method: 'POST',
    path: '/v2/user',
    effect: { kind: 'answer', status: 422, body: JSON.stringify({ detail }) },
  });
  expect(await ask(lab, createUser, { input: { clientUserId: 'new' } })).toMatchObject({
    __typename: 'InputRejected',
    issues: [{ path: ['fallbackTimeZone'], message: 'No such zone' }],
  });
});

test('a lost answer is an error, and the repeated call returns the one user that was made', async () => {
  await using lab = await startLab();
  lab.sandbox.faults.add({ method: 'POST', path: '/v2/user', times: 1, effect: { kind: 'lostAnswer' } });
  const lost = await ask(lab, createUser, { input: { clientUserId: 'once' } });
  expect(lost.errors[0].extensions.code).toBe('UPSTREAM_UNAVAILABLE');
  const again = await ask(lab, createUser, { input: { clientUserId: 'once' } });
  expect(again).toMatchObject({
    __typename: 'ClientUserIdTaken',
    existingUserId: person(lab, -1).userId,
    existingUser: { clientUserId: 'once' },
  });
  expect(lab.sandbox.users().filter(({ clientUserId }) => clientUserId === 'once')).toHaveLength(1);
});

test('an answer without a user in it is unreadable, and says so', async () => {
  await using lab = await startLab();
  lab.sandbox.faults.add({
    method: 'POST',
    path: '/v2/user',
    effect: { kind: 'answer', status: 200, body: '{"user_id":null}' },
  });
  const answer = await ask(lab, createUser, { input: { clientUserId: 'new' } });
  expect(answer.errors[0].extensions.code).toBe('UPSTREAM_UNREADABLE');
});

test('a change touches what it names, clears what is null, and shows the user as it is then', async () => {
  await using lab = await startLab();
  const { userId } = person(lab);
  const input = { id: userId, clientUserId: 'renamed', fallbackBirthDate: null, ingestionEnd: '2027-01-01' };
  expect(await ask(lab, updateUser, { input })).toEqual({
    __typename: 'UserUpdated',
    userId,
    user: {
      clientUserId: 'renamed',
      fallbackTimeZone: { id: 'America/Phoenix' },
      fallbackBirthDate: null,
      ingestionEnd: '2027-01-01',
    },
  });
});

test('two changes in one operation each show their own outcome', async () => {
  await using lab = await startLab();
  const { userId } = person(lab);
  const change = (name: string) =>
    `updateUser(input: { id: "${userId}", clientUserId: "${name}" }) { ... on UserUpdated { user { clientUserId } } }`;
  const answer = await lab.query(`mutation { one: ${change('one')} two: ${change('two')} }`);
  expect(answer.data).toEqual({
    one: { user: { clientUserId: 'one' } },
    two: { user: { clientUserId: 'two' } },
  });
});

test('a change is refused for a taken reference, for nothing, for null and for nobody', async () => {
  await using lab = await startLab();
  const [one, two] = [person(lab, 0), person(lab, 1)];
  const update = (more: object) => ask(lab, updateUser, { input: { id: one.userId, ...more } });
  expect(await update({ clientUserId: two.clientUserId })).toMatchObject({
    __typename: 'ClientUserIdTaken',
    existingUserId: two.userId,
    existingUser: { id: two.userId },
  });
  lab.sandbox.clearCalls();
  expect(await update({})).toMatchObject({ __typename: 'InputRejected', issues: [{ path: [] }] });
  expect(await update({ clientUserId: null })).toMatchObject({ issues: [{ path: ['clientUserId'] }] });
  expect(lab.sandbox.calls).toEqual([]);
  expect(await update({ id: crypto.randomUUID(), clientUserId: 'x' })).toMatchObject({
    __typename: 'NotFound',
    code: 'NOT_FOUND',
  });
});

test('a change whose outcome cannot be read is still reported as done', async () => {
  await using lab = await startLab();
  const { userId } = person(lab);
  lab.sandbox.faults.add({ method: 'GET', path: '/v2/user', effect: { kind: 'serverError' } });
  const answer = await lab.query(updateUser, {
    variables: { input: { id: userId, clientUserId: 'renamed' } },
  });
  expect(answer.data.updateUser).toEqual({ __typename: 'UserUpdated', userId, user: null });
});

test('a taken reference whose owner cannot be read is still reported as taken', async () => {
  await using lab = await startLab();
  lab.sandbox.faults.add({ method: 'GET', path: '/v2/user', effect: { kind: 'serverError' } });
  const input = { id: person(lab).userId, clientUserId: person(lab, 1).clientUserId };
  expect(await ask(lab, updateUser, { input })).toMatchObject({
    __typename: 'ClientUserIdTaken',
    existingUserId: null,
    existingUser: null,
  });
});

test('a reference that is no text in any encoding is nobody’s', async () => {
  await using lab = await startLab();
  const answer = await lab.query('query ($id: String!) { userByClientUserId(clientUserId: $id) { id } }', {
    variables: { id: 'member-\ud800' },
  });
  expect(answer).toMatchObject({ data: { userByClientUserId: null } });
  expect(answer.errors).toBeUndefined();
  expect(lab.sandbox.calls).toEqual([]);
});
