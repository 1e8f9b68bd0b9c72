import { afterAll, expect, test, vi } from 'vitest';
import { fill } from '../contract/routes.ts';
import { managementKey, openManaged } from './management-support.ts';
import { apiKey, requestTo } from './support.ts';

// One sandbox for the file: each test makes teams and keys of its own.
const managed = openManaged();
const { sandbox, manage } = managed;
afterAll(() => managed[Symbol.asyncDispose]());

const nobody = '00000000-0000-4000-8000-000000000000';
const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
const timestamp = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+\+00:00$/);
const usualSettings = {
  lab_tests_patient_sms_communication_enabled: true,
  lab_tests_patient_email_communication_enabled: true,
  critical_result_notification_email: null,
  brand_information: null,
  logo_url: null,
  reject_duplicate_connection: false,
  sdk_per_device_activity_timeseries: false,
  partial_webhooks_enabled: false,
  minor_ordering_enabled: false,
};
const keysPath = '/team_api_keys/sandbox/us';

async function createTeam(more: object = {}): Promise<string> {
  const { body } = await manage('POST', '/team', { body: { name: 'Team', region: 'us', ...more } });
  return body.id;
}

const askTeam = async (headers: Readonly<Record<string, string>>) => {
  const { status } = await sandbox.fetch(new Request('http://sandbox.test/v2/user', { headers }));
  return status;
};

test('Only a management key opens the interface, in the header of today or the deprecated one', async () => {
  const ask = async (headers: Readonly<Record<string, string>>) =>
    (await manage('GET', '', { headers })).status;
  expect(await ask({ 'x-management-key': managementKey })).toBe(200);
  expect(await ask({ 'x-service-org-key': managementKey })).toBe(200);
  for (const headers of [
    {},
    { 'x-management-key': apiKey },
    { 'x-service-api-key': managementKey },
    { 'x-service-api-key': apiKey },
    { authorization: `Bearer ${managementKey}` },
  ]) {
    expect(await ask(headers)).toBe(401);
  }
  expect(await askTeam({ 'x-service-api-key': managementKey })).toBe(401);
  expect(await askTeam({ 'x-management-key': managementKey })).toBe(401);
  expect(await askTeam({ authorization: `Bearer ${managementKey}` })).toBe(401);
});

test('The org is shown and renamed; another org is not found', async () => {
  const org = { id: sandbox.orgId, name: 'Example Health', expires_at: null };
  expect((await manage('GET', '')).body).toEqual(org);
  const renamed = await manage('PATCH', '', { body: { name: 'Example Health (2)' } });
  expect(renamed.body).toEqual({ ...org, name: 'Example Health (2)' });
  expect((await manage('PATCH', '', { body: { name: 'no #' } })).status).toBe(422);
  const headers = { 'x-management-key': managementKey };
  const elsewhere = await sandbox.fetch(
    new Request(`http://sandbox.test/management/v1/org/${nobody}/team`, { headers }),
  );
  expect(elsewhere.status).toBe(404);
});

test('A team is created with its settings, found by its reference and deleted', async () => {
  const body = {
    name: 'Clinic (West)',
    region: 'us',
    integration_team_id: 'crm-1',
    minor_ordering_enabled: true,
  };
  const created = await manage('POST', '/team', { body });
  const settings = { ...usualSettings, minor_ordering_enabled: true };
  const listed = {
    id: uuid,
    name: 'Clinic (West)',
    created_on: timestamp,
    region: 'us',
    integration_team_id: 'crm-1',
  };
  expect(created.body).toEqual({
    ...listed,
    environments: ['production', 'sandbox'],
    sandbox: settings,
    production: settings,
  });
  const { id } = created.body;
  const bare = { ...created.body, sandbox: null, production: null };
  expect((await manage('GET', `/team/${id}`)).body).toEqual(bare);
  const both = 'include_environment=sandbox&include_environment=production';
  expect((await manage('GET', `/team/${id}?${both}`)).body).toEqual(created.body);
  const narrow = await manage('GET', `/team/${id}?include_environment=sandbox`);
  expect(narrow.body).toEqual({ ...created.body, production: null });
  const resolved = await manage('POST', '/resolve_team', { body: { integration_team_id: 'crm-1' } });
  expect(resolved.body).toEqual(created.body);
  for (const query of [`team_id=${id}`, 'search_query=clinic (w', 'region=us&search_query=crm-1']) {
    const found = await manage('GET', `/team?${query}`);
    expect(found.body).toEqual({ teams: [listed], next_cursor: null });
  }

  expect((await manage('DELETE', `/team/${id}`)).status).toBe(200);
  expect((await manage('GET', `/team/${id}`)).status).toBe(404);
  expect((await manage('POST', '/resolve_team', { body: { integration_team_id: 'crm-1' } })).status).toBe(
    404,
  );
});

test('A reference or an id that is taken is a conflict that names the team', async () => {
  const id = await createTeam({ integration_team_id: 'crm-2' });
  const other = await createTeam({ integration_team_id: 'crm-3' });
  const again = { name: 'Team', region: 'eu', integration_team_id: 'crm-2' };
  expect(await manage('POST', '/team', { body: again })).toMatchObject({
    status: 409,
    body: { team_id: id },
  });
  const sameId = { name: 'Team', region: 'eu', id };
  expect(await manage('POST', '/team', { body: sameId })).toMatchObject({
    status: 409,
    body: { team_id: id },
  });
  const patch = { integration_team_id: 'crm-2' };
  const patched = await manage('PATCH', `/team/${other}`, { body: patch });
  expect([patched.status, patched.body]).toEqual([409, { team_id: id }]);
  expect((await manage('PATCH', `/team/${id}`, { body: patch })).status).toBe(200);
});

test('A team changes by environment; a brand needs a logo; null clears', async () => {
  const id = await createTeam();
  const brand = { company_name: 'Clinic', support_email: 'care@example.com' };
  const noLogo = await manage('PATCH', `/team/${id}`, { body: { sandbox: { brand_information: brand } } });
  expect([noLogo.status, noLogo.body.detail]).toEqual([
    422,
    [{ type: 'missing', loc: ['body', 'sandbox', 'logo_url'], msg: 'Field required', input: null }],
  ]);
  const withLogo = { brand_information: brand, logo_url: 'https://example.com/logo.png' };
  const body = { name: 'Renamed', sandbox: { ...withLogo, partial_webhooks_enabled: true } };
  const patched = await manage('PATCH', `/team/${id}`, { body });
  expect(patched.body).toMatchObject({ name: 'Renamed', production: usualSettings });
  expect(patched.body.sandbox).toEqual({
    ...usualSettings,
    ...withLogo,
    brand_information: {
      ...{ ...brand, company_website: '', support_contact: '', company_address: '', brand_color: '' },
    },
    partial_webhooks_enabled: true,
  });
  const cleared = { brand_information: null, logo_url: null, partial_webhooks_enabled: null };
  const { body: after } = await manage('PATCH', `/team/${id}`, { body: { name: null, sandbox: cleared } });
  expect(after).toMatchObject({
    name: 'Renamed',
    sandbox: { ...usualSettings, partial_webhooks_enabled: true },
  });

  const created = await manage('POST', '/team', {
    body: { name: 'T', region: 'us', brand_information: brand },
  });
  expect(created.status).toBe(422);
  const unknownField = await manage('POST', '/team', { body: { name: 'T', region: 'us', colour: 'red' } });
  expect(unknownField.status).toBe(422);
});

test('Lists go on with their cursor', async () => {
  for (let count = 0; count < 51; count += 1) await createTeam({ name: 'Paged', region: 'eu' });
  const first = await manage('GET', '/team?search_query=Paged');
  const second = await manage('GET', `/team?search_query=Paged&next_cursor=${first.body.next_cursor}`);
  expect([first.body.teams.length, second.body.teams.length, second.body.next_cursor]).toEqual([50, 1, null]);
});

test('A management key is shown once, works until it is deleted, and reaches only its teams', async () => {
  const [mine, others] = [await createTeam(), await createTeam()];
  const body = { label: 'Of one team', role: 'team_admin', team_role_bindings: [{ team_id: mine }] };
  const created = await manage('POST', '/management_key', { body });
  const { key, ...shown } = created.body;
  expect(key).toMatch(/^mg_[\w-]{32}$/);
  expect(shown).toEqual({ ...body, id: uuid, created_at: timestamp, creator: { type: 'management_key' } });
  const listed = await manage('GET', `/management_key?role=team_admin&team_id=${mine}`);
  expect(listed.body).toEqual({ data: [shown], next_cursor: null });

  const as = async (method: string, path: string, sent?: object) =>
    (await manage(method, path, { headers: { 'x-management-key': key }, ...(sent ? { body: sent } : {}) }))
      .status;
  expect(await as('GET', `/team/${mine}`)).toBe(200);
  expect(await as('GET', `/team/${others}`)).toBe(404);
  expect(await as('GET', '/management_key')).toBe(403);
  expect(await as('POST', '/team', { name: 'T', region: 'us' })).toBe(403);
  expect(await as('POST', keysPath, { label: 'x', team_id: others })).toBe(404);

  const patch = { label: 'Of two', team_role_bindings: [{ team_id: mine }, { team_id: others }] };
  const patched = await manage('PATCH', `/management_key/${shown.id}`, { body: patch });
  expect(patched.body).toEqual({ ...shown, ...patch });
  expect(await as('GET', `/team/${others}`)).toBe(200);
  const deleted = await manage('DELETE', `/management_key/${shown.id}`);
  expect(deleted.body).toEqual({ ...shown, ...patch });
  expect((await manage('DELETE', `/management_key/${shown.id}`)).body).toBeNull();
  expect(await as('GET', `/team/${mine}`)).toBe(401);
  const unbound = await manage('POST', '/management_key', { body: { label: 'x', role: 'team_admin' } });
  expect(unbound.status).toBe(422);
});

test('A team API key works from its creation to its deletion', async () => {
  const { teamId } = sandbox;
  const created = await manage('POST', keysPath, { body: { label: 'Second', team_id: teamId } });
  const { value } = created.body;
  expect(created.body).toEqual({ id: uuid, label: 'Second', value, team_id: teamId, created_at: timestamp });
  expect(value).toMatch(/^sk_us_[\w-]{32}$/);
  expect(await askTeam({ 'x-service-api-key': value })).toBe(200);
  const listed = await manage('GET', `${keysPath}?team_id=${teamId}`);
  expect(listed.body.api_keys.map((key: { value: string }) => key.value)).toEqual([apiKey, value]);
  const deleted = await manage('DELETE', `${keysPath}?api_key_id=${created.body.id}&api_key_id=${nobody}`);
  expect(deleted.body).toEqual({ success: [created.body.id], failure: [], not_found: [nobody] });
  expect(await askTeam({ 'x-service-api-key': value })).toBe(401);
  expect(await askTeam({ 'x-service-api-key': apiKey })).toBe(200);

  const otherTeam = await createTeam();
  const foreign = await manage('POST', keysPath, { body: { label: 'x', team_id: otherTeam } });
  expect(await askTeam({ 'x-service-api-key': foreign.body.value })).toBe(403);
  const body = { label: 'x', team_id: teamId };
  const production = await manage('POST', '/team_api_keys/production/us', { body });
  expect(production.body.value).toMatch(/^pk_us_/);
  expect(await askTeam({ 'x-service-api-key': production.body.value })).toBe(403);
  expect((await manage('POST', '/team_api_keys/sandbox/eu', { body })).status).toBe(404);
  expect((await manage('GET', '/team_api_keys/moon/us')).status).toBe(422);
  expect((await manage('DELETE', keysPath)).status).toBe(422);
});

test('A team access token opens the team API for ten minutes, and minting is limited', async () => {
  const path = `/team/${sandbox.teamId}/create_api_access_token`;
  const minted = await manage('POST', path, { body: { env: 'sandbox' } });
  expect(minted.body).toEqual({ access_token: expect.stringMatching(/^tat_/), expires_in: 600 });
  const headers = { authorization: `Bearer ${minted.body.access_token}` };
  expect(await askTeam(headers)).toBe(200);
  const production = await manage('POST', path, { body: { env: 'production' } });
  expect(await askTeam({ authorization: `Bearer ${production.body.access_token}` })).toBe(403);
  for (let count = 2; count < 10; count += 1) await manage('POST', path, { body: { env: 'sandbox' } });
  const refused = await manage('POST', path, { body: { env: 'sandbox' } });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 601_000 });
  expect(await askTeam(headers)).toBe(401);
  vi.useRealTimers();
});

test('The plan may lack the interface; calls are recorded and faults apply', async () => {
  sandbox.clearCalls();
  sandbox.plan.management = false;
  const refused = await manage('GET', '');
  expect([refused.status, refused.body]).toEqual([
    403,
    { detail: 'This feature is not included in your plan.' },
  ]);
  sandbox.plan.management = true;
  sandbox.faults.add({ path: '/management/v1/org', times: 1, effect: { kind: 'featureNotEnabled' } });
  expect((await manage('GET', '')).status).toBe(403);
  expect((await manage('GET', '')).status).toBe(200);
  const path = `GET /management/v1/org/${sandbox.orgId}`;
  expect(sandbox.calls).toEqual([path, path, path]);
  const unknown = await sandbox.fetch(
    new Request('http://sandbox.test/management/v2', { headers: { 'x-management-key': managementKey } }),
  );
  expect(unknown.status).toBe(404);
});

const team = '/v1/org/:org_id/team';
const webhook = `${team}/:team_id/:environment/webhook`;
const at = (list: string) => `/v1/org/:org_id/${list}/:env/:region`;
/** All operations of the public service's management interface. */
const operations: Readonly<Record<string, readonly string[]>> = {
  '/v1/org/:org_id': ['GET', 'PATCH'],
  [team]: ['GET', 'POST'],
  [`${team}/:team_id`]: ['GET', 'PATCH', 'DELETE'],
  [`${team}/:team_id/scope_requirements`]: ['GET', 'POST'],
  [`${team}/:team_id/create_api_access_token`]: ['POST'],
  '/v1/org/:org_id/resolve_team': ['POST'],
  [`${team}/:team_id/:environment/event_delivery_metric`]: ['GET'],
  [webhook]: ['GET', 'POST'],
  [`${webhook}/:webhook_id`]: ['GET', 'PATCH', 'DELETE'],
  [`${webhook}/:webhook_id/headers`]: ['GET', 'PUT'],
  [`${webhook}/:webhook_id/secret`]: ['GET'],
  [`${webhook}/:webhook_id/secret/rotate`]: ['POST'],
  '/v1/org/:org_id/management_key': ['GET', 'POST'],
  '/v1/org/:org_id/management_key/:key_id': ['PATCH', 'DELETE'],
  [at('lab_account')]: ['GET'],
  [`${at('lab_account')}/:account_id`]: ['PATCH'],
  [at('team_api_keys')]: ['GET', 'POST', 'DELETE'],
  [at('team_custom_credentials')]: ['GET', 'POST', 'DELETE'],
  [at('prepare_team_custom_credentials')]: ['POST'],
  [at('team_etl_pipelines')]: ['GET', 'POST', 'DELETE'],
};

test('All operations of the public service are there, and the team API has none of them', async () => {
  const wanted = Object.entries(operations).flatMap(([path, methods]) =>
    methods.map((method) => `${method} ${path}`),
  );
  expect(sandbox.managementRoutes.toSorted()).toEqual(wanted.toSorted());
  expect(sandbox.routes.filter((route) => route.includes('/org/'))).toEqual([]);
  const answer = await sandbox.fetch(requestTo('http://sandbox.test', 'GET', `/v1/org/${sandbox.orgId}`));
  expect(answer.status).toBe(404);
  expect(managed.neverSucceeded(/org_id$|team$|team_id$|token|resolve|_key/)).toEqual([]);
});

test('Every operation refuses a request without a key, and an id that is none', async () => {
  for (const route of sandbox.managementRoutes) {
    const [method, path] = fill(route, 'none');
    const request = (headers: Readonly<Record<string, string>>) =>
      sandbox.fetch(new Request(`http://sandbox.test/management${path}`, { method, headers }));
    const [closed, open] = [await request({}), await request({ 'x-management-key': managementKey })];
    expect([route, closed.status, await closed.json()]).toEqual([route, 401, { detail: 'invalid token' }]);
    expect([route, open.status]).toEqual([route, 422]);
  }
});

test('Webhooks of partial results are sent if the team wants them, as the first team does until it is changed', async () => {
  await using own = openManaged();
  const orderAt = (step: string) =>
    own.sandbox.orders().find(({ status }) => status === `received.walk_in_test.${step}`)?.orderId;
  const messagesOf = async (orderId = '') => {
    const before = own.sandbox.webhooks.sent.length;
    const query = 'final_status=sample_with_lab.walk_in_test.partial_results';
    await own.ask('POST', `/v3/order/${orderId}/test?${query}`);
    return own.sandbox.webhooks.sent.length - before;
  };
  const path = `/team/${own.sandbox.teamId}`;
  const shown = await own.manage('GET', `${path}?include_environment=sandbox`);
  expect(shown.body.sandbox.partial_webhooks_enabled).toBe(true);
  expect(await messagesOf(orderAt('ordered'))).toBe(4);
  await own.manage('PATCH', path, { body: { sandbox: { partial_webhooks_enabled: false } } });
  expect(await messagesOf(orderAt('requisition_created'))).toBe(2);
});
