import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openManaged } from './management-support.ts';
import { apiKey, at, requestTo } from './support.ts';

const managed = openManaged();
const { sandbox, manage, ask } = managed;
afterAll(() => managed[Symbol.asyncDispose]());

const { teamId } = sandbox;
const nobody = '00000000-0000-4000-8000-000000000000';
const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const timestamp = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+\+00:00$/);
const notOnPlan = { status: 403, body: { detail: 'This feature is not included in your plan.' } };
const credentials = '/team_custom_credentials/sandbox/us';
const preparation = '/prepare_team_custom_credentials/sandbox/us';
const pipelines = '/team_etl_pipelines/sandbox/us';
const accounts = '/lab_account/sandbox/us';
const scopes = `/team/${teamId}/scope_requirements`;

test('Credentials are prepared, set, replaced, listed without their secret, and deleted', async () => {
  const prepared = await manage('POST', preparation, { body: { team_id: teamId, provider: 'fitbit' } });
  const step = { key: null, value: expect.stringContaining('fitbit'), description: null };
  expect(prepared.body).toEqual({
    status: 'preparations_required',
    preparation_steps: [
      { ...step, type: 'redirect_uri' },
      { ...step, type: 'webhook_uri' },
    ],
  });
  const lab = await manage('POST', preparation, { body: { team_id: teamId, provider: 'quest' } });
  expect(lab.body).toEqual({ status: 'no_action_needed', preparation_steps: [] });
  const google = await manage('POST', preparation, { body: { team_id: teamId, provider: 'google_health' } });
  expect(google.body.preparation_steps).toMatchObject([{ type: 'iam_principal' }]);

  const body = { team_id: teamId, provider: 'polar', client_id: 'client-1', client_secret: 'canary-secret' };
  const details = { webhook_secret: 'canary-details' };
  const first = await manage('POST', credentials, { body: { ...body, details } });
  expect(first.body).toEqual({
    id: uuid,
    client_id: 'client-1',
    client_secret_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    source: 'polar',
    team_id: teamId,
    created_at: timestamp,
    updated_at: timestamp,
    details,
    app_url: null,
    redirect_url_override: null,
  });
  const second = await manage('POST', credentials, { body: { ...body, client_id: 'client-2' } });
  expect(second.body).toMatchObject({ id: first.body.id, client_id: 'client-2', details: null });
  await manage('POST', credentials, { body: { team_id: teamId, provider: 'oura' } });
  const listed = await manage('GET', `${credentials}?provider=polar&team_id=${teamId}&team_id=${nobody}`);
  expect(listed.body).toEqual({ credentials: [second.body], next_cursor: null });
  expect(JSON.stringify(listed.body)).not.toContain('canary');
  const elsewhere = await manage('GET', '/team_custom_credentials/production/us');
  expect(elsewhere.body).toEqual({ credentials: [], next_cursor: null });

  const path = `${credentials}?credential_id=${first.body.id}&credential_id=${nobody}`;
  const deleted = await manage('DELETE', path);
  expect(deleted.body).toEqual({ success: [first.body.id], failure: [], not_found: [nobody] });
  const left = await manage('GET', credentials);
  expect(left.body.credentials.map(({ source }: { source: string }) => source)).toEqual(['oura']);
  for (const wrong of [{ ...body, provider: 'moon' }, { ...body, team_id: 'none' }, { team_id: teamId }]) {
    expect((await manage('POST', credentials, { body: wrong })).status).toBe(422);
  }
  expect((await manage('POST', credentials, { body: { ...body, team_id: nobody } })).status).toBe(404);
});

test('What users must grant is set by provider, and null removes it', async () => {
  const fitbit = { user_must_grant: ['activity'], user_may_grant: ['sleep', 'profile'] };
  const oura = { user_must_grant: [], user_may_grant: ['daily'] };
  expect((await manage('POST', scopes, { body: { fitbit, oura } })).status).toBe(200);
  const rows = { fitbit: { ...fitbit, team_id: teamId, provider: 'fitbit' } };
  expect((await manage('GET', `${scopes}?provider=fitbit`)).body).toEqual({ requirements: [rows.fitbit] });
  await manage('POST', scopes, { body: { oura: null } });
  expect((await manage('GET', scopes)).body).toEqual({ requirements: [rows.fitbit] });
  expect((await manage('GET', `${scopes}?provider=moon`)).status).toBe(422);
  expect((await manage('POST', scopes, { body: { fitbit: { user_may_grant: [] } } })).status).toBe(422);
});

test('The allow-list of a lab account says which teams see it and order with it', async () => {
  const { body } = await manage('GET', accounts);
  const account = body.data.find(
    (each: { delegated_flow: string }) => each.delegated_flow === 'order_delegated',
  );
  expect(account).toMatchObject({ org_id: sandbox.orgId, team_id_allowlist: [teamId] });
  const own = await ask<{ data: unknown[] }>('GET', '/v3/lab_test/lab_account');
  expect(own.body.data).toEqual(body.data);

  const { body: other } = await manage('POST', '/team', { body: { name: 'Other', region: 'us' } });
  const change = { body: { team_id_allowlist: [other.id] } };
  const changed = await manage('PATCH', `${accounts}/${account.id}`, change);
  expect(changed.body).toEqual({ lab_account: { ...account, team_id_allowlist: [other.id] } });
  const ofOther = await manage('GET', `${accounts}?team_id=${other.id}`);
  expect(ofOther.body).toEqual({ data: [changed.body.lab_account] });
  const narrow = await manage('GET', `${accounts}?lab_account_id=${account.id}&status=pending`);
  expect(narrow.body).toEqual({ data: [] });
  const seen = await ask<{ data: { id: string }[] }>('GET', '/v3/lab_test/lab_account');
  expect(seen.body.data.map(({ id }) => id)).not.toContain(account.id);

  const key = { label: 'Of the other', role: 'team_admin', team_role_bindings: [{ team_id: other.id }] };
  const { body: bound } = await manage('POST', '/management_key', { body: key });
  const headers = { 'x-management-key': bound.key };
  expect((await manage('GET', accounts, { headers })).body).toEqual(ofOther.body);
  expect((await manage('PATCH', `${accounts}/${account.id}`, { headers, ...change })).status).toBe(403);
  expect((await manage('GET', '/lab_account/production/us')).body).toEqual({ data: [] });
  const unknown = { body: { team_id_allowlist: [nobody] } };
  expect((await manage('PATCH', `${accounts}/${account.id}`, unknown)).status).toBe(404);
  expect((await manage('PATCH', `${accounts}/${nobody}`, change)).status).toBe(404);
});

test('A pipeline is set in parts, listed and deleted; what cannot work is refused', async () => {
  const preferences = { preferred: 'rabbitmq', enabled: ['rabbitmq', 'svix'] };
  const rabbitmq = { uri: 'amqps://user:canary@broker.example.com', exchange: 'events' };
  const first = await manage('POST', pipelines, { body: { team_ids: [teamId], preferences, rabbitmq } });
  const pipeline = {
    team_id: teamId,
    push_historical_data: false,
    provider_raw_data: false,
    preferences,
    cloud_pubsub: null,
    rabbitmq,
    svix: null,
    azure_amqp: null,
    event_type_prefixes: null,
  };
  expect(first.body).toEqual([pipeline]);
  const azure = { connection_string: 'Endpoint=sb://canary', default_event_hub: 'hub' };
  const more = {
    team_ids: [teamId],
    azure_amqp: { ...azure, event_hub_matchers: [{ event_type_prefix: 'labtest.', event_hub: 'labs' }] },
    cloud_pubsub: { project: 'p', topic: 't', message_ordering: true },
    event_type_prefixes: ['labtest.'],
    push_historical_data: true,
  };
  const { team_ids: _, ...given } = more;
  const second = await manage('POST', pipelines, { body: more });
  const whole = { ...pipeline, ...given, azure_amqp: { ...given.azure_amqp, compression: 'auto' } };
  expect(second.body).toEqual([whole]);
  const listed = await manage('GET', `${pipelines}?team_id=${teamId}`);
  expect(listed.body).toEqual({ pipelines: [whole], next_cursor: null });
  expect((await manage('GET', '/team_etl_pipelines/production/us')).body.pipelines).toEqual([]);

  const refused = [
    { team_ids: [teamId], preferences: { preferred: 'svix', enabled: ['rabbitmq'] } },
    { preferences },
  ];
  for (const body of refused) expect((await manage('POST', pipelines, { body })).status).toBe(400);
  const malformed = { team_ids: [teamId], rabbitmq: { uri: 'amqp://example.com' } };
  expect((await manage('POST', pipelines, { body: malformed })).status).toBe(422);
  expect((await manage('DELETE', `${pipelines}?team_id=${teamId}`)).body).toEqual([whole]);
  expect((await manage('DELETE', `${pipelines}?team_id=${teamId}`)).body).toEqual([]);
  const bare = await manage('POST', pipelines, { body: { team_ids: [teamId], rabbitmq } });
  expect([bare.status, bare.body]).toEqual([400, { detail: 'A new pipeline needs preferences.' }]);
});

test('What the plan lacks is refused, and nothing else', async () => {
  Object.assign(sandbox.plan, { customCredentials: false, etlPipelines: false });
  const body = { team_id: teamId, provider: 'fitbit' };
  expect(await manage('POST', preparation, { body })).toMatchObject(notOnPlan);
  expect(await manage('GET', credentials)).toMatchObject(notOnPlan);
  expect(await manage('GET', pipelines)).toMatchObject(notOnPlan);
  expect((await manage('GET', scopes)).status).toBe(200);
  const plan = { customCredentials: true, etlPipelines: true };
  const answer = await sandbox.fetch(requestTo('http://sandbox.test', 'POST', '/sandbox/plan', plan));
  expect(await answer.json()).toEqual({ management: true, ...plan });
  expect((await manage('GET', pipelines)).status).toBe(200);
});

test('Keys, webhooks and teams outlive a restart; an address of the process does not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-'));
  const stateFile = join(folder, 'state.json');
  onTestFinished(() => rm(folder, { recursive: true }));
  const before = openManaged({ stateFile });
  const made = await before.manage('POST', '/team', { body: { name: 'Stored', region: 'us' } });
  const { body: key } = await before.manage('POST', '/management_key', {
    body: { label: 'Stored', role: 'org_admin' },
  });
  const webhooks = `/team/${before.sandbox.teamId}/sandbox/webhook`;
  const { body: webhook } = await before.manage('POST', webhooks, { body: { url: 'http://127.0.0.1:9/' } });
  before.sandbox.webhooks.register('http://127.0.0.1:9/process');
  await before.sandbox.close();

  const after = openManaged({ stateFile, managementKey: 'mg_of_the_next_start' });
  const headers = { 'x-management-key': key.key };
  const team = `/team/${made.body.id}?include_environment=sandbox&include_environment=production`;
  expect((await after.manage('GET', team, { headers })).body).toEqual(made.body);
  expect((await after.manage('GET', webhooks, { headers })).body.data).toEqual([webhook]);
  expect((await after.manage('GET', '')).status).toBe(401);
  await after.sandbox.close();
});

test('With its team deleted, the team API is closed', async () => {
  await using alone = openManaged();
  const { sandbox: other } = alone;
  await alone.manage('DELETE', `/team/${other.teamId}`);
  const answer = await other.fetch(requestTo('http://sandbox.test', 'GET', '/v2/user'));
  expect(answer.status).toBe(401);
  const { body } = await alone.manage('GET', '/team');
  expect(at<{ region: string }>(body.teams, 0).region).toBe('eu');
  expect(JSON.stringify(body)).not.toContain(apiKey);
});

test('Every operation of these was answered', () => {
  expect(managed.neverSucceeded(/custom_credentials|scope_|lab_account|etl_/)).toEqual([]);
});
