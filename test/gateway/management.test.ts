import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { startLab } from '../support/lab.ts';
import { listenAnywhere } from '../support/listening.ts';
import {
  callerKey,
  manage,
  managementKey,
  org,
  startManagementLab,
  startManagementService,
  team,
  teamId,
} from '../support/management.ts';

const teamQuery = `{ team(teamId: "${teamId}") { id name region regionRaw settings(environment: SANDBOX) { minorOrderingEnabled brand { companyName } } } }`;

describe('the management graph', () => {
  test('reads a team with the key of the gateway, for callers with a management key', async () => {
    await using service = await startManagementService();
    await using lab = await startManagementLab(service.url);
    const shown = {
      ...{ id: teamId, name: 'North', region: 'EU', regionRaw: 'eu' },
      settings: { minorOrderingEnabled: true, brand: { companyName: 'North Labs' } },
    };

    expect(await manage(lab, teamQuery)).toEqual({ status: 200, data: { team: shown } });
    const both = 'include_environment=sandbox&include_environment=production';
    expect(service.seen).toEqual([
      { call: `GET ${org}/team/${teamId}?${both}`, key: managementKey, body: undefined },
    ]);
  });

  test('takes several keys, with labels and as SHA-256', async () => {
    await using service = await startManagementService();
    const hashed = createHash('sha256').update('the-second-management-key').digest('hex');
    const env = { MANAGEMENT_API_KEYS: `ops=${callerKey},next=sha256:${hashed}` };
    await using lab = await startManagementLab(service.url, { env });
    for (const key of [callerKey, 'the-second-management-key'])
      expect(await manage(lab, '{ __typename }', { key })).toEqual({
        status: 200,
        data: { __typename: 'Query' },
      });
    expect((await manage(lab, '{ __typename }', { key: 'another' })).status).toBe(401);
  });

  test('is not there without configuration', async () => {
    await using lab = await startLab();
    expect((await manage(lab, '{ __typename }')).status).toBe(404);
  });

  test('gives its key to no other address: redirects are not followed', async () => {
    const stolen: unknown[] = [];
    const thief = createServer((request, response) => {
      stolen.push(request.headers);
      response.end('{}');
    });
    const thiefUrl = await listenAnywhere(thief);
    const redirecting = createServer((_request, response) => {
      response.writeHead(307, { location: `${thiefUrl}/v1` }).end();
    });
    try {
      await using lab = await startManagementLab(await listenAnywhere(redirecting));
      const { errors } = await manage(lab, teamQuery);
      expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNREADABLE' } }]);
      expect(stolen).toEqual([]);
    } finally {
      for (const server of [thief, redirecting]) {
        server.closeAllConnections();
        server.close();
      }
    }
  });

  test('checks ids and the organization before any call', async () => {
    await using service = await startManagementService();
    await using lab = await startManagementLab(service.url);
    const remove =
      'mutation ($input: DeleteTeamInput!) { deleteTeam(input: $input) { __typename ... on InputRejected { issues { path code } } } }';
    expect(await manage(lab, remove, { input: { teamId: '../../org' } })).toMatchObject({
      data: { deleteTeam: { __typename: 'InputRejected', issues: [{ path: ['teamId'], code: 'INVALID' }] } },
    });
    expect(await manage(lab, '{ team(teamId: "..%2f") { id } }')).toMatchObject({
      errors: [{ extensions: { code: 'BAD_USER_INPUT' } }],
    });
    expect(service.seen).toEqual([]);
  });
});

describe('a change at the management interface', () => {
  const rename = `mutation ($input: UpdateTeamInput!) {
    updateTeam(input: $input) {
      __typename
      ... on TeamUpdated { team { name } }
      ... on TeamReferenceTaken { teamId }
      ... on UserError { code message }
    }
  }`;
  const path = `PATCH ${org}/team/${teamId}`;
  const input = { teamId, integrationTeamId: 'north-1' };

  test('is sent once, in the words of the service, and each outcome is data', async () => {
    await using service = await startManagementService();
    await using lab = await startManagementLab(service.url);
    const outcomeOf = async () => (await manage(lab, rename, { input })).data.updateTeam;
    const otherId = '00000000-0000-4000-8000-000000000001';

    service.answers.set(path, [200, team]);
    expect(await outcomeOf()).toEqual({ __typename: 'TeamUpdated', team: { name: 'North' } });
    expect(service.seen.at(-1)).toEqual({
      ...{ call: path, key: managementKey },
      body: { integration_team_id: 'north-1' },
    });
    service.answers.set(path, [409, { team_id: otherId }]);
    expect(await outcomeOf()).toMatchObject({ __typename: 'TeamReferenceTaken', teamId: otherId });
    service.answers.set(path, [403, { detail: 'This feature is not included in your plan.' }]);
    expect(await outcomeOf()).toMatchObject({
      __typename: 'FeatureNotEnabled',
      code: 'FEATURE_NOT_ENABLED',
    });
    service.answers.set(path, [422, { detail: [{ loc: ['body', 'name'], msg: 'Too long', type: 'x' }] }]);
    expect(await outcomeOf()).toMatchObject({ __typename: 'InputRejected' });
    service.answers.delete(path);
    expect(await outcomeOf()).toMatchObject({ __typename: 'NotFound' });

    const { sandbox: _, ...bare } = team;
    service.answers.set(path, [200, bare]);
    const settings = 'settings(environment: SANDBOX) { minorOrderingEnabled }';
    const shown = await manage(
      lab,
      `mutation ($input: UpdateTeamInput!) { updateTeam(input: $input) { ... on TeamUpdated { team { ${settings} } } } }`,
      { input },
    );
    expect(shown.data.updateTeam).toEqual({ team: { settings: { minorOrderingEnabled: true } } });

    const before = service.seen.length;
    service.answers.set(path, 'lost');
    expect(await manage(lab, rename, { input })).toMatchObject({
      data: { updateTeam: null },
      errors: [{ extensions: { code: 'UPSTREAM_UNAVAILABLE', mayHaveBeenDone: true } }],
    });
    expect(service.seen.length).toBe(before + 1);
  });

  test('that cannot be read afterwards may have been made, also where that is refused', async () => {
    await using service = await startManagementService();
    await using lab = await startManagementLab(service.url);
    const scopes = `${org}/team/${teamId}/scope_requirements`;
    service.answers.set(`POST ${scopes}`, [200, {}]);
    const set = `mutation ($input: SetScopeRequirementsInput!) { setScopeRequirements(input: $input) { __typename } }`;
    const given = { teamId, provider: 'oura', userMustGrant: ['daily'], userMayGrant: [] };
    const answers = [
      ['lost', 'UPSTREAM_UNAVAILABLE'],
      [[403, { detail: 'Not allowed.' }], 'UPSTREAM_FORBIDDEN'],
    ] as const;
    for (const [answer, code] of answers) {
      service.answers.set(`GET ${scopes}`, answer);
      const { errors } = await manage(lab, set, { input: given });
      expect(errors).toMatchObject([{ extensions: { code, mayHaveBeenDone: true } }]);
    }
  });

  test('is refused before any call where the service would lose a part of it', async () => {
    await using service = await startManagementService();
    await using lab = await startManagementLab(service.url);
    const at = { teamId, environment: 'SANDBOX' };
    const header = (name: string) => ({ name, value: 'x' });
    const refused = [
      ['setEventPipeline', { ...at, enabled: ['RABBITMQ'] }, { path: ['preferred'], code: 'REQUIRED' }],
      ['setEventPipeline', { ...at, preferred: 'RABBITMQ' }, { path: ['enabled'], code: 'REQUIRED' }],
      [
        'setWebhookHeaders',
        { ...at, id: 'ep_1', headers: [header('X-Own'), header('x-other'), header('x-own')] },
        { path: ['headers', '2', 'name'], code: 'CONFLICT' },
      ],
    ] as const;
    for (const [name, input, issue] of refused) {
      const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`;
      const query = `mutation ($input: ${type}!) { ${name}(input: $input) { ... on InputRejected { issues { path code } } } }`;
      expect(await manage(lab, query, { input })).toMatchObject({ data: { [name]: { issues: [issue] } } });
    }
    expect(service.seen).toEqual([]);
  });

  test('of a pipeline sends an empty list of prefixes, which means all events', async () => {
    await using service = await startManagementService();
    await using lab = await startManagementLab(service.url);
    const path = `POST ${org}/team_etl_pipelines/sandbox/eu`;
    service.answers.set(path, [200, []]);
    const input = { teamId, environment: 'SANDBOX', eventTypePrefixes: [] };
    await manage(
      lab,
      'mutation ($input: SetEventPipelineInput!) { setEventPipeline(input: $input) { __typename } }',
      { input },
    );
    expect(service.seen.at(-1)).toMatchObject({
      call: path,
      body: { team_ids: [teamId], event_type_prefixes: [] },
    });
  });
});
