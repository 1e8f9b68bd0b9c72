import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Rights } from '../../gateway/auth/rights.ts';
import * as credentials from '../../gateway/domain/management/rest-credentials.ts';
import * as delivery from '../../gateway/domain/management/rest-delivery.ts';
import * as keys from '../../gateway/domain/management/rest-keys.ts';
import * as teams from '../../gateway/domain/management/rest-teams.ts';
import * as webhooks from '../../gateway/domain/management/rest-webhooks.ts';
import { isGatewayError } from '../../gateway/errors.ts';
import { bindService, type OperationUpstream, type Service } from '../../gateway/service/service.ts';
import { readNoting } from '../../gateway/service/unreadable.ts';
import { spoil } from '../support/spoil.ts';

const id = '0d5f6c1e-5a8f-4b7e-9a53-3a5d0d8d1c11';
const at = { orgId: id, teamId: id, region: 'us', environment: 'sandbox' };
const start = { cursor: null, limit: 3 };
const webhook = { at, webhookId: 'ep_1' };

/** Every call of the management interface. */
const calls: readonly ((service: Service) => Promise<unknown>)[] = [
  (service) => teams.getOrganization(service, id),
  (service) => teams.updateOrganization(service, id, 'North'),
  (service) => teams.listTeams(service, { orgId: id, teamId: null, region: null, search: null }, start),
  (service) => teams.getTeam(service, at),
  (service) => teams.resolveTeam(service, id, 'north-1'),
  (service) => teams.createTeam(service, id, { name: 'North', region: 'us' }),
  (service) => teams.updateTeam(service, at, { name: 'North' }),
  (service) => teams.deleteTeam(service, at),
  (service) => teams.createAccessToken(service, at),
  (service) => keys.listManagementKeys(service, { orgId: id, teamId: null, role: null }, start),
  (service) => keys.createManagementKey(service, id, { label: 'ops', role: 'org_admin', teamIds: null }),
  (service) => keys.updateManagementKey(service, { orgId: id, id }, { label: 'ops', teamIds: [id] }),
  (service) => keys.deleteManagementKey(service, { orgId: id, id }),
  (service) => keys.listTeamApiKeys(service, at, start),
  (service) => keys.createTeamApiKey(service, at, 'ops'),
  (service) => keys.deleteTeamApiKeys(service, at, [id]),
  (service) => webhooks.listWebhooks(service, at, start),
  (service) => webhooks.getWebhook(service, at, 'ep_1'),
  (service) => webhooks.createWebhook(service, at, { url: 'https://gateway.example/webhooks' }),
  (service) => webhooks.updateWebhook(service, webhook, { isDisabled: true }),
  (service) => webhooks.deleteWebhook(service, webhook),
  (service) => webhooks.listWebhookHeaders(service, webhook),
  (service) => webhooks.setWebhookHeaders(service, webhook, [{ name: 'x', value: 'y' }]),
  (service) => webhooks.getWebhookSecret(service, webhook),
  (service) => webhooks.rotateWebhookSecret(service, webhook, null),
  (service) => credentials.listCustomCredentials(service, { ...at, provider: null }, start),
  (service) => credentials.setCustomCredentials(service, at, { provider: 'fitbit' }),
  (service) => credentials.deleteCustomCredentials(service, at, [id]),
  (service) => credentials.prepareCustomCredentials(service, at, 'fitbit'),
  (service) => credentials.listOrgLabAccounts(service, at, { id: null, teamId: null, status: null }),
  (service) => credentials.setLabAccountTeams(service, { ...at, accountId: id }, [id]),
  (service) => delivery.listDeliveryMetrics(service, at, '1h'),
  (service) => delivery.listScopeRequirements(service, at, null),
  (service) =>
    delivery.setScopeRequirements(service, at, { provider: 'fitbit', userMustGrant: [], userMayGrant: [] }),
  (service) => delivery.listEventPipelines(service, at, start),
  (service) => delivery.setEventPipeline(service, at, {}),
  (service) => delivery.deleteEventPipeline(service, at),
];

const pipeline = {
  team_id: id,
  preferences: { preferred: 'rabbitmq', enabled: ['rabbitmq'] },
  rabbitmq: { exchange: 'events' },
  azure_amqp: { event_hub_matchers: [{ event_type_prefix: 'daily.' }] },
};
const row = {
  id,
  team_id: id,
  label: 'ops',
  created_at: '2026-01-02T03:04:05+00:00',
  team_role_bindings: [{ team_id: id }],
  creator: { type: 'member' },
  filter_types: ['labtest.order.updated'],
};
/** All that any of the calls reads, because each reader takes its own keys. */
const everything = {
  ...row,
  ...{ name: 'North', region: 'us', key: 'k', value: 'v', provider: 'fitbit', url: 'https://x.example' },
  ...{ access_token: 't', expires_in: 600, headers: { 'x-a': 'b' }, sensitive: ['x-c'] },
  sandbox: { brand_information: { company_name: 'North Labs' } },
  ...{ success: [id], failure: [], not_found: [], preparation_steps: [{ type: 'set', key: 'k' }] },
  lab_account: { ...row, team_id_allowlist: [id] },
  requirements: [{ provider: 'fitbit', user_must_grant: ['a'], user_may_grant: [] }],
  ...{ teams: [{ ...row, region: 'us' }], api_keys: [row], credentials: [row], pipelines: [pipeline] },
};
const metrics = { data: { result: [{ metric: { code: '200' }, values: [[1_767_225_600, '3']] }] } };

const asked = new Set<string>();

/** The service as it would be if every answer were this one. */
function serviceWith(answer: (operation: string) => unknown): Service {
  const give = ({ operation }: { readonly operation: string }) => {
    asked.add(operation.replace(/^management\./, ''));
    return structuredClone(answer(operation));
  };
  const asking: OperationUpstream = {
    read: async (call, { reader }) => readNoting(reader, give(call)),
    write: (call) => Promise.resolve(give(call)),
    open: () => Promise.resolve(undefined),
    now: () => 0,
  };
  return bindService(asking, { rights: new Rights({ kind: 'TEAM' }) });
}

function answerOf(operation: string): unknown {
  if (operation.endsWith('delivery-metrics.list')) return metrics;
  if (operation.endsWith('event-pipeline.set')) return [pipeline];
  return { ...everything, data: [row] };
}

test('the answers below can be read', async () => {
  for (const call of calls) expect(await call(serviceWith(answerOf)), String(call)).toBeTruthy();
});

test.each(calls.map((call) => [String(call).replace(/\s+/g, ' '), call] as const))(
  '%s: an answer of any shape is read or refused as unreadable, and nothing else',
  async (_name, call) => {
    let operation = '';
    await call(
      serviceWith((name) => {
        operation = name;
        return answerOf(name);
      }),
    );
    await fc.assert(
      fc.asyncProperty(spoil(answerOf(operation)), async (spoiled) => {
        const read = await call(serviceWith(() => spoiled)).catch((error: unknown) => {
          if (!isGatewayError(error, 'UPSTREAM_UNREADABLE')) throw error;
        });
        // A date that is none has no text.
        expect(() => JSON.stringify(read)).not.toThrow();
        expect(JSON.stringify(read) ?? '').not.toContain('"time":null');
      }),
      { numRuns: 60 },
    );
  },
);

test('no call is left out: every operation of the source was asked above', () => {
  const root = new URL('../../gateway/domain/management/', import.meta.url);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const named = files.flatMap((name) =>
    [...readFileSync(new URL(name, root), 'utf8').matchAll(/operation: '([^']+)'/g)].map(([, found]) =>
      found?.replace(/^management\./, ''),
    ),
  );
  expect([...asked].sort()).toEqual(named.sort());
});
