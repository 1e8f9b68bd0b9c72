import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeFolder } from '../support/folder.ts';
import { apiKey, at, type OpenSandbox, openSandbox, requestTo } from './support.ts';

interface UserBody {
  readonly user_id: string;
  readonly created_on: string;
}

/** The status of an answer that has no body. */
async function statusOf({ sandbox }: OpenSandbox, method: string, path: string, body?: unknown) {
  const answer = await sandbox.fetch(requestTo('http://sandbox.test', method, path, body));
  return [answer.status, await answer.text()];
}

const person = {
  first_name: 'Jamie',
  last_name: 'Sample',
  email: 'jamie@example.com',
  phone_number: '+16025550123',
  gender: 'female',
  dob: '1990-02-03',
  address: {
    first_line: '1 Example Street',
    country: 'US',
    zip: '85004',
    city: 'Phoenix',
    state: 'AZ',
  },
};

test('A new user is shown by id, by reference and at the end of the list', async () => {
  await using service = openSandbox();
  const created = await service.ask<UserBody>('POST', '/v2/user', {
    client_user_id: 'member-new',
    fallback_time_zone: 'America/Denver',
    fallback_birth_date: '1990-02-03',
    ingestion_start: '2026-01-01',
  });
  expect(created.status).toBe(200);
  expect(created.body).toMatchObject({
    team_id: service.sandbox.teamId,
    client_user_id: 'member-new',
    connected_sources: [],
    fallback_time_zone: { id: 'America/Denver' },
    fallback_birth_date: { value: '1990-02-03' },
    ingestion_start: '2026-01-01',
    ingestion_end: null,
  });
  expect(await service.ask('GET', `/v2/user/${created.body.user_id}`)).toEqual(created);
  expect(await service.ask('GET', '/v2/user/resolve/member-new')).toEqual(created);
  expect(at(service.sandbox.users(), -1)).toEqual({
    userId: created.body.user_id,
    clientUserId: 'member-new',
    name: 'member-new',
    hasDemographics: false,
  });
});

test('A reference that is taken is 400 and names the user who has it', async () => {
  await using service = openSandbox();
  const { userId } = at(service.sandbox.users(), 0);
  expect(await service.ask('POST', '/v2/user', { client_user_id: 'member-0001' })).toEqual({
    status: 400,
    body: {
      detail: {
        error_type: 'INVALID_REQUEST',
        error_message: 'Client user id already exists.',
        user_id: userId,
        created_on: '2025-01-06T09:00:00+00:00',
      },
    },
  });
});

test.each([
  [{}, 'client_user_id'],
  [{ client_user_id: 'x', fallback_time_zone: 'Mars/Olympus' }, 'fallback_time_zone'],
  [{ client_user_id: 'x', fallback_birth_date: '1990-13-01' }, 'fallback_birth_date'],
])('A new user like %j is refused for its %s', async (body, name) => {
  await using service = openSandbox();
  const answer = await service.ask('POST', '/v2/user', body);
  expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', name] }] } });
});

test('A change is 204 without a body and changes only what it names', async () => {
  await using service = openSandbox();
  const { userId } = at(service.sandbox.users(), 0);
  const before = await service.ask<Record<string, unknown>>('GET', `/v2/user/${userId}`);
  const patch = { client_user_id: 'renamed', fallback_birth_date: null };
  expect(await statusOf(service, 'PATCH', `/v2/user/${userId}`, patch)).toEqual([204, '']);
  const after = await service.ask('GET', `/v2/user/${userId}`);
  expect(after.body).toEqual({ ...before.body, client_user_id: 'renamed', fallback_birth_date: null });
});

test('A change of nothing, to a taken reference, to null and of nobody is refused', async () => {
  await using service = openSandbox();
  const path = `/v2/user/${at(service.sandbox.users(), 0).userId}`;
  const nobody = '/v2/user/00000000-0000-4000-8000-000000000000';
  const change = { client_user_id: 'member-0002' };
  expect(await service.ask('PATCH', path, {})).toEqual({ status: 400, body: { detail: 'Nothing to patch' } });
  expect(await service.ask('PATCH', path, change)).toEqual({
    status: 409,
    body: { detail: 'Client user id already exists' },
  });
  expect((await service.ask('PATCH', path, { client_user_id: null })).status).toBe(422);
  expect((await service.ask('PATCH', nobody, change)).status).toBe(404);
});

test('A deleted user is nowhere, sends nothing, and comes back without connections', async () => {
  await using service = openSandbox();
  const { userId, clientUserId } = at(service.sandbox.users(), 0);
  expect(await service.ask('DELETE', `/v2/user/${userId}`)).toEqual({ status: 200, body: { success: true } });
  const gone = [
    `/v2/user/${userId}`,
    `/v2/user/resolve/${clientUserId}`,
    `/v2/user/${userId}/info/latest`,
    `/v2/user/providers/${userId}`,
    `/orders?user_id=${userId}`,
  ];
  for (const path of gone) expect((await service.ask('GET', path)).status).toBe(404);
  expect((await service.ask('DELETE', `/v2/user/${userId}`)).status).toBe(404);
  expect((await service.ask('GET', '/v2/user/')).body).toMatchObject({ total: 19 });
  expect(service.sandbox.webhooks.sent).toEqual([]);

  expect(await service.ask('POST', `/v2/user/undo_delete?user_id=${userId}`)).toEqual({
    status: 200,
    body: { success: true },
  });
  const back = await service.ask('GET', `/v2/user/${userId}`);
  expect(back.body).toMatchObject({ client_user_id: clientUserId, connected_sources: [] });
  expect((await service.ask('GET', `/v2/user/${userId}/info/latest`)).status).toBe(200);
});

test('A deletion is undone by reference, unless somebody else took it meanwhile', async () => {
  await using service = openSandbox();
  const [one, two] = [at(service.sandbox.users(), 0), at(service.sandbox.users(), 1)];
  await service.ask('DELETE', `/v2/user/${one.userId}`);
  await service.ask('DELETE', `/v2/user/${two.userId}`);
  await service.ask('POST', '/v2/user', { client_user_id: two.clientUserId });
  const undo = (query: string) => service.ask('POST', `/v2/user/undo_delete?${query}`);
  expect((await undo(`client_user_id=${one.clientUserId}`)).status).toBe(200);
  expect((await undo(`user_id=${two.userId}`)).status).toBe(400);
  expect((await undo(`user_id=${one.userId}`)).body).toEqual({ detail: 'The user is not deleted.' });
  expect((await undo(`user_id=${crypto.randomUUID()}`)).status).toBe(404);
  expect((await undo('')).status).toBe(400);
  expect((await undo(`user_id=${one.userId}&client_user_id=x`)).status).toBe(400);
});

test('After seven days a deletion is final; until then it outlives a restart', async () => {
  using folder = makeFolder();
  const stateFile = folder.file('state.json');
  await using before = openSandbox({ stateFile });
  const [one, two] = [at(before.sandbox.users(), 0), at(before.sandbox.users(), 1)];
  await before.ask('DELETE', `/v2/user/${one.userId}`);
  await before.ask('DELETE', `/v2/user/${two.userId}`);
  await before.sandbox.close();
  const state = JSON.parse(readFileSync(stateFile, 'utf8'));
  state.users[0].deletedAt -= 7 * 24 * 60 * 60 * 1000;
  writeFileSync(stateFile, JSON.stringify(state));

  await using after = openSandbox({ stateFile });
  const undo = (userId: string) => after.ask('POST', `/v2/user/undo_delete?user_id=${userId}`);
  expect((await undo(one.userId)).status).toBe(404);
  expect((await undo(two.userId)).status).toBe(200);
});

test('Demographics are replaced as a whole', async () => {
  await using service = openSandbox();
  const path = `/v2/user/${at(service.sandbox.users(), 9).userId}/info`;
  const set = await service.ask('PATCH', path, { ...person, race: 'asian' });
  expect(set).toMatchObject({ status: 200, body: { ...person, race: 'asian', medical_proxy: null } });
  await service.ask('PATCH', path, person);
  expect((await service.ask('GET', `${path}/latest`)).body).toMatchObject({ ...person, race: null });
});

test.each([
  ['first_name', 'Zoë'],
  ['last_name', ' Sample'],
  ['last_name', 'x'.repeat(51)],
  ['email', 'jamie'],
  ['phone_number', '602 555 0123'],
  ['phone_number', '+15555550123'],
  ['dob', '2999-01-01'],
  ['gender', undefined],
  ['address', { ...person.address, state: 'Arizona' }],
  ['address', { ...person.address, country: 'CA', state: 'Ontario' }],
])('Demographics with the %s %j are refused', async (name, value) => {
  await using service = openSandbox();
  const path = `/v2/user/${at(service.sandbox.users(), 0).userId}/info`;
  const answer = await service.ask<{ detail: { loc: string[] }[] }>('PATCH', path, {
    ...person,
    [name]: value,
  });
  expect(answer.status).toBe(422);
  expect(answer.body.detail.map(({ loc }) => loc.slice(0, 2))).toEqual([['body', name]]);
});

test('Changes need the key like everything else', async () => {
  await using service = openSandbox();
  const request = requestTo(
    'http://sandbox.test',
    'DELETE',
    `/v2/user/${at(service.sandbox.users(), 0).userId}`,
  );
  request.headers.set('x-service-api-key', `${apiKey}x`);
  expect((await service.sandbox.fetch(request)).status).toBe(401);
});
