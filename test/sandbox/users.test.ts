import { expect, test } from 'vitest';
import { at, openSandbox } from './support.ts';

interface UserList {
  readonly users: readonly { readonly user_id: string; readonly client_user_id: string }[];
}

test('The user list shows all people, oldest account first, under both spellings of its path', async () => {
  await using service = openSandbox();
  const withSlash = await service.ask<UserList>('GET', '/v2/user/');
  const withoutSlash = await service.ask<UserList>('GET', '/v2/user');
  expect(withSlash.status).toBe(200);
  expect(withSlash).toEqual(withoutSlash);
  expect(withSlash.body).toMatchObject({ total: 20, offset: 0, limit: 100 });
  expect(withSlash.body.users.map((user) => user.user_id)).toEqual(
    service.sandbox.users().map((user) => user.userId),
  );
  expect(service.sandbox.calls).toEqual(['GET /v2/user/', 'GET /v2/user']);
});

test('A user has the fields of the specification', async () => {
  await using service = openSandbox();
  const { body } = await service.ask<UserList>('GET', '/v2/user/?limit=1');
  const source = { name: 'Oura', slug: 'oura', logo: 'https://logos.example.com/oura.png' };
  const withings = { name: 'Withings', slug: 'withings', logo: 'https://logos.example.com/withings.png' };
  const created_on = '2025-01-06T09:00:00+00:00';
  expect(body.users).toEqual([
    {
      user_id: at(service.sandbox.users(), 0).userId,
      team_id: service.sandbox.teamId,
      client_user_id: 'member-0001',
      created_on,
      connected_sources: [
        { created_on, source, provider: source },
        { created_on, source: withings, provider: withings },
      ],
      fallback_time_zone: { id: 'America/Phoenix', source_slug: 'manual', updated_at: created_on },
      fallback_birth_date: { value: '1988-04-12', source_slug: 'manual', updated_at: created_on },
      ingestion_start: null,
      ingestion_end: null,
    },
  ]);
});

test('Offset and limit cut a window out of the user list', async () => {
  await using service = openSandbox();
  const { body } = await service.ask<UserList>('GET', '/v2/user?offset=18&limit=5');
  expect(body).toMatchObject({ total: 20, offset: 18, limit: 5 });
  expect(body.users.map((user) => user.client_user_id)).toEqual(['member-0019', 'member-0020']);
});

test.each([
  ['limit=501', 'less_than_equal', 'limit', '501'],
  ['limit=0', 'greater_than_equal', 'limit', '0'],
  ['offset=-1', 'greater_than_equal', 'offset', '-1'],
  ['offset=x', 'int_parsing', 'offset', 'x'],
])('The user list refuses %s', async (query, type, name, input) => {
  await using service = openSandbox();
  const { status, body } = await service.ask('GET', `/v2/user?${query}`);
  expect(status).toBe(422);
  expect(body).toMatchObject({ detail: [{ type, loc: ['query', name], input }] });
});

test('One user is found by id and by the reference of the client', async () => {
  await using service = openSandbox();
  const { userId } = at(service.sandbox.users(), 3);
  const byId = await service.ask('GET', `/v2/user/${userId}`);
  const byReference = await service.ask('GET', '/v2/user/resolve/member-0004');
  expect(byId.body).toMatchObject({ user_id: userId, client_user_id: 'member-0004' });
  expect(byReference).toEqual(byId);
});

test('Unknown people are 404 and a malformed id is 422 with a sentence', async () => {
  await using service = openSandbox();
  const unknown = await service.ask('GET', '/v2/user/00000000-0000-4000-8000-000000000000');
  const unresolved = await service.ask('GET', '/v2/user/resolve/nobody');
  const malformed = await service.ask('GET', '/v2/user/zzz');
  expect(unknown).toEqual({ status: 404, body: { detail: 'User not found' } });
  expect(unresolved).toEqual({ status: 404, body: { detail: 'User not found' } });
  expect(malformed).toEqual({ status: 422, body: { detail: 'The user id is not a valid UUID.' } });
});

test('Demographics are shown where they are set and 404 where they are not', async () => {
  await using service = openSandbox();
  const users = service.sandbox.users();
  const known = await service.ask('GET', `/v2/user/${at(users, 1).userId}/info/latest`);
  expect(known).toEqual({
    status: 200,
    body: {
      first_name: 'Blake',
      last_name: 'Okereke',
      email: 'blake.okereke@example.com',
      phone_number: '+15125550101',
      gender: 'male',
      dob: '1975-11-30',
      address: {
        first_line: '101 Example Street',
        second_line: null,
        country: 'US',
        zip: '78701',
        city: 'Austin',
        state: 'TX',
        access_notes: null,
      },
    },
  });
  const answers = await Promise.all(
    users.map(({ userId }) => service.ask('GET', `/v2/user/${userId}/info/latest`)),
  );
  expect(answers.map(({ status }) => status === 200)).toEqual(users.map((user) => user.hasDemographics));
  expect(users.filter((user) => !user.hasDemographics)).toHaveLength(3);
});

test.each([undefined, 'another key'])('The key %s is refused everywhere but on portal pages', async (key) => {
  await using service = openSandbox();
  const headers = key === undefined ? {} : { 'x-service-api-key': key };
  for (const path of ['/v2/user/', '/orders', '/sandbox/calls', '/portal-visits', '/nowhere']) {
    const answer = await service.sandbox.fetch(new Request(`http://sandbox.test${path}`, { headers }));
    expect([answer.status, await answer.json()]).toEqual([401, { detail: 'invalid token' }]);
  }
});

test('An unknown route is 404 in JSON', async () => {
  await using service = openSandbox();
  expect(await service.ask('GET', '/v2/nothing')).toEqual({ status: 404, body: { detail: 'Not Found' } });
});
