import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Lab, startLab } from '../support/lab.ts';
import { callerKey, manage } from '../support/management.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab({ managementCaller: callerKey });
});
afterAll(() => lab[Symbol.asyncDispose]());

/** Runs a query, and fails with its errors. */
async function ask(query: string) {
  const answer = await manage(lab, query);
  expect(answer.errors).toBeUndefined();
  return answer.data;
}

/** Runs a mutation; the selection is of its type for what was done. */
async function act(name: string, input: object, done: string) {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`;
  const query = `mutation ($input: ${type}!) { ${name}(input: $input) { __typename ... on ${done} ... on UserError { code message } ... on InputRejected { issues { path code message } } } }`;
  const answer = await manage(lab, query, { input });
  expect(answer.errors).toBeUndefined();
  return answer.data[name];
}

async function createTeam(name: string, more: object = {}): Promise<string> {
  const made = await act('createTeam', { name, region: 'US', ...more }, 'TeamCreated { team { id } }');
  expect(made).toMatchObject({ __typename: 'TeamCreated' });
  return made.team.id;
}

describe('the organization and its teams', () => {
  test('are read and changed', async () => {
    const { organization } = await ask('{ organization { id name expiresAt } }');
    expect(organization).toMatchObject({ id: lab.sandbox.orgId });
    expect(
      await act('updateOrganization', { name: 'Renamed' }, 'OrganizationUpdated { organization { name } }'),
    ).toEqual({
      __typename: 'OrganizationUpdated',
      organization: { name: 'Renamed' },
    });
    const settings = {
      minorOrderingEnabled: true,
      logoUrl: 'https://x.example/l.png',
      brand: { companyName: 'North' },
    };
    const id = await createTeam('North Labs', { integrationTeamId: 'north', settings });
    expect(
      await act(
        'createTeam',
        { name: 'Other', region: 'EU', integrationTeamId: 'north' },
        'TeamReferenceTaken { teamId team { name } }',
      ),
    ).toMatchObject({
      ...{ __typename: 'TeamReferenceTaken', code: 'TEAM_REFERENCE_TAKEN' },
      ...{ teamId: id, team: { name: 'North Labs' } },
    });
    const update = { teamId: id, name: 'South Labs', sandbox: { minorOrderingEnabled: false } };
    expect(
      await act(
        'updateTeam',
        update,
        'TeamUpdated { team { name settings(environment: SANDBOX) { minorOrderingEnabled brand { companyName } } } }',
      ),
    ).toEqual({
      __typename: 'TeamUpdated',
      team: {
        name: 'South Labs',
        settings: { minorOrderingEnabled: false, brand: { companyName: 'North' } },
      },
    });
    const found = await ask(`{
      organization { teams(first: 1, search: "South") { nodes { id name region settings(environment: PRODUCTION) { minorOrderingEnabled } } pageInfo { hasNextPage } } }
      teamByReference(integrationTeamId: "north") { id }
      missing: teamByReference(integrationTeamId: "nobody") { id }
    }`);
    expect(found).toMatchObject({
      organization: { teams: { nodes: [{ id, region: 'US', settings: { minorOrderingEnabled: true } }] } },
      teamByReference: { id },
      missing: null,
    });
    const token = await act(
      'createTeamAccessToken',
      { teamId: id, environment: 'SANDBOX' },
      'TeamAccessTokenCreated { token expiresInSeconds }',
    );
    expect(token).toMatchObject({ __typename: 'TeamAccessTokenCreated', expiresInSeconds: 600 });
    expect(await act('deleteTeam', { teamId: id }, 'TeamDeleted { teamId }')).toMatchObject({ teamId: id });
    expect(await act('deleteTeam', { teamId: id }, 'TeamDeleted { teamId }')).toMatchObject({
      code: 'NOT_FOUND',
    });
  });

  test('have lists in pages whose cursors belong to one list', async () => {
    for (const name of ['Page one', 'Page two', 'Page three']) await createTeam(name);
    const page = (after: string | null) =>
      manage(
        lab,
        `{ organization { teams(search: "Page", first: 2${after === null ? '' : `, after: "${after}"`}) { nodes { name } pageInfo { hasNextPage endCursor } } } }`,
      );
    const { data: first } = await page(null);
    expect(first.organization.teams).toMatchObject({ nodes: [{}, {}], pageInfo: { hasNextPage: true } });
    const { data: second } = await page(first.organization.teams.pageInfo.endCursor);
    const names = [...first.organization.teams.nodes, ...second.organization.teams.nodes].map(
      ({ name }) => name,
    );
    expect(names.toSorted()).toEqual(['Page one', 'Page three', 'Page two']);
    const other = await manage(
      lab,
      `{ organization { teams(search: "x", after: "${first.organization.teams.pageInfo.endCursor}") { nodes { name } } } }`,
    );
    expect(other.errors).toMatchObject([{ extensions: { code: 'BAD_CURSOR' } }]);
  });
});

describe('keys', () => {
  test('of the management interface are shown once', async () => {
    const teamId = await createTeam('Keys');
    const made = await act(
      'createManagementKey',
      { label: 'ci', role: 'TEAM_ADMIN', teamIds: [teamId] },
      'ManagementKeyCreated { key managementKey { id label role teamIds creatorType } }',
    );
    expect(made).toMatchObject({ managementKey: { label: 'ci', role: 'TEAM_ADMIN', teamIds: [teamId] } });
    expect(made.key).toMatch(/^mg_/);
    const { id } = made.managementKey;
    expect(
      await act(
        'updateManagementKey',
        { id, label: 'build' },
        'ManagementKeyUpdated { managementKey { label teamIds } }',
      ),
    ).toMatchObject({
      managementKey: { label: 'build', teamIds: [teamId] },
    });
    const { organization } = await ask(
      `{ organization { managementKeys(teamId: "${teamId}", role: TEAM_ADMIN) { nodes { id label roleRaw } } } }`,
    );
    expect(organization.managementKeys.nodes).toEqual([{ id, label: 'build', roleRaw: 'team_admin' }]);
    expect(await act('deleteManagementKey', { id }, 'ManagementKeyDeleted { id }')).toMatchObject({ id });
    expect(await act('deleteManagementKey', { id }, 'ManagementKeyDeleted { id }')).toEqual({
      ...{ __typename: 'NotFound', code: 'NOT_FOUND', message: 'There is no such management key.' },
    });
  });

  test('of a team are shown once', async () => {
    const teamId = await createTeam('Team keys');
    const place = { teamId, environment: 'SANDBOX' };
    const made = await act(
      'createTeamApiKey',
      { ...place, label: 'server' },
      'TeamApiKeyCreated { value apiKey { id label } }',
    );
    expect(made.value).toMatch(/^sk_us_/);
    const { team } = await ask(
      `{ team(teamId: "${teamId}") { apiKeys(environment: SANDBOX) { nodes { id label createdAt } } } }`,
    );
    expect(team.apiKeys.nodes).toEqual([{ ...made.apiKey, createdAt: expect.any(String) }]);
    const other = '00000000-0000-4000-8000-00000000000f';
    expect(
      await act(
        'deleteTeamApiKeys',
        { ...place, ids: [made.apiKey.id, other] },
        'TeamApiKeysDeleted { deletedIds failedIds missingIds }',
      ),
    ).toMatchObject({
      ...{ deletedIds: [made.apiKey.id], failedIds: [], missingIds: [other] },
    });
    expect(
      await act('deleteTeamApiKeys', { ...place, ids: [] }, 'TeamApiKeysDeleted { deletedIds }'),
    ).toMatchObject({
      issues: [{ path: ['ids'], code: 'REQUIRED' }],
    });
  });
});

test('a client can create a webhook with null for each field that it leaves out', async () => {
  const place = { teamId: await createTeam('Nulls'), environment: 'SANDBOX' };
  const nothing = { description: null, isDisabled: null, rateLimit: null, eventTypes: null, secret: null };
  const made = await act(
    'createWebhook',
    { ...place, url: 'https://hooks.example/in', ...nothing },
    'WebhookCreated { webhook { description isDisabled rateLimit eventTypes } }',
  );
  expect(made.webhook).toEqual({ description: '', isDisabled: false, rateLimit: null, eventTypes: null });
});

test('webhooks are made, changed, given headers and secrets, and deleted', async () => {
  const teamId = await createTeam('Webhooks');
  const place = { teamId, environment: 'SANDBOX' };
  const secret = `whsec_${Buffer.from('a secret of more than 24 bytes').toString('base64')}`;
  const made = await act(
    'createWebhook',
    { ...place, url: 'https://hooks.example/in', secret, eventTypes: ['labtest.order.updated'] },
    'WebhookCreated { webhook { id url eventTypes isDisabled } }',
  );
  expect(made.webhook).toMatchObject({
    url: 'https://hooks.example/in',
    isDisabled: false,
    eventTypes: ['labtest.order.updated'],
  });
  const named = { ...place, id: made.webhook.id };

  expect(
    await act(
      'updateWebhook',
      { ...named, isDisabled: true, eventTypes: null },
      'WebhookUpdated { webhook { isDisabled eventTypes url } }',
    ),
  ).toMatchObject({
    webhook: { isDisabled: true, eventTypes: null, url: 'https://hooks.example/in' },
  });
  expect(
    await act(
      'setWebhookHeaders',
      { ...named, headers: [{ name: 'X-Own-Header', value: 'yes' }] },
      'WebhookHeadersSet { id }',
    ),
  ).toMatchObject({ id: named.id });
  const { team } = await ask(`{ team(teamId: "${teamId}") {
    webhooks(environment: SANDBOX) { nodes { id } }
    webhook(environment: SANDBOX, id: "${named.id}") { headers { name value } }
    none: webhook(environment: PRODUCTION, id: "${named.id}") { id }
    deliveryMetrics(environment: SANDBOX, interval: DAY) { labels { name value } points { time value } }
  } }`);
  expect(team).toMatchObject({
    webhooks: { nodes: [{ id: named.id }] },
    webhook: { headers: [{ name: expect.stringMatching(/^x-own-header$/i), value: 'yes' }] },
    none: null,
  });
  expect(Array.isArray(team.deliveryMetrics)).toBe(true);
  const reveal = async () =>
    (await act('revealWebhookSecret', named, 'WebhookSecretRevealed { secret }')).secret;
  expect(await reveal()).toBe(secret);
  expect(await act('rotateWebhookSecret', named, 'WebhookSecretRotated { id }')).toMatchObject({
    id: named.id,
  });
  expect(await reveal()).not.toBe(secret);
  expect(await act('deleteWebhook', named, 'WebhookDeleted { id }')).toMatchObject({ id: named.id });
  expect(await act('deleteWebhook', named, 'WebhookDeleted { id }')).toMatchObject({ code: 'NOT_FOUND' });
  expect(await act('deleteWebhook', { ...named, id: '../x' }, 'WebhookDeleted { id }')).toMatchObject({
    issues: [{ path: ['id'] }],
  });
});

test('custom credentials are prepared, set and deleted, and their secrets are never shown', async () => {
  const teamId = await createTeam('Credentials');
  const place = { teamId, environment: 'SANDBOX' };
  const prepared = await act(
    'prepareCustomCredentials',
    { ...place, provider: 'fitbit' },
    'CustomCredentialsPrepared { status steps { typeRaw value } }',
  );
  expect(prepared.__typename).toBe('CustomCredentialsPrepared');
  const made = await act(
    'setCustomCredentials',
    { ...place, provider: 'fitbit', clientId: 'me', clientSecret: 'canary-client-secret' },
    'CustomCredentialsSet { credentials { id providerRaw clientId } }',
  );
  expect(made.credentials).toMatchObject({ providerRaw: 'fitbit', clientId: 'me' });
  const { team } = await ask(
    `{ team(teamId: "${teamId}") { customCredentials(environment: SANDBOX, provider: "fitbit") { nodes { id } } } }`,
  );
  expect(team.customCredentials.nodes).toEqual([{ id: made.credentials.id }]);
  expect(
    await act(
      'deleteCustomCredentials',
      { ...place, ids: [made.credentials.id] },
      'CustomCredentialsDeleted { deletedIds }',
    ),
  ).toMatchObject({ deletedIds: [made.credentials.id] });
  expect(lab.logged.join('\n')).not.toContain('canary-client-secret');
});

test('scope requirements and lab accounts are read and set', async () => {
  const teamId = await createTeam('Scopes');
  const wanted = { provider: 'oura', userMustGrant: ['daily'], userMayGrant: ['email'] };
  expect(
    await act(
      'setScopeRequirements',
      { teamId, ...wanted },
      'ScopeRequirementsSet { requirements { providerRaw userMustGrant userMayGrant } }',
    ),
  ).toMatchObject({
    requirements: [{ providerRaw: 'oura', userMustGrant: ['daily'], userMayGrant: ['email'] }],
  });
  const { organization } = await ask(
    '{ organization { labAccounts(environment: SANDBOX, region: US) { account { id labSlug } teamIds } } }',
  );
  const accountId = organization.labAccounts[0].account.id;
  expect(
    await act(
      'setLabAccountTeams',
      { environment: 'SANDBOX', region: 'US', accountId, teamIds: [teamId] },
      'LabAccountTeamsSet { labAccount { account { id } teamIds } }',
    ),
  ).toMatchObject({
    labAccount: { account: { id: accountId }, teamIds: [teamId] },
  });
});

test('a pipeline to a broker is set, shown without its password, and deleted; a plan may lack it', async () => {
  const teamId = await createTeam('Pipelines');
  const place = { teamId, environment: 'SANDBOX' };
  const rabbitmq = { uri: 'amqps://me:canary-password@broker.example', exchange: 'events' };
  const set = { ...place, preferred: 'RABBITMQ', enabled: ['RABBITMQ'], rabbitmq };
  const shown = 'EventPipelineSet { pipeline { preferred enabled rabbitmq { exchange } } }';
  expect(await act('setEventPipeline', set, shown)).toMatchObject({
    pipeline: { preferred: 'RABBITMQ', enabled: ['RABBITMQ'], rabbitmq: { exchange: 'events' } },
  });
  const { team } = await ask(
    `{ team(teamId: "${teamId}") { eventPipelines(environment: SANDBOX) { nodes { preferredRaw } } } }`,
  );
  expect(team.eventPipelines.nodes).toEqual([{ preferredRaw: 'rabbitmq' }]);
  expect(await act('deleteEventPipeline', place, 'EventPipelineDeleted { teamId }')).toMatchObject({
    teamId,
  });
  lab.sandbox.plan.etlPipelines = false;
  try {
    expect(await act('setEventPipeline', set, shown)).toMatchObject({ code: 'FEATURE_NOT_ENABLED' });
  } finally {
    lab.sandbox.plan.etlPipelines = true;
  }
  expect(lab.logged.join('\n')).not.toContain('canary-password');
});
