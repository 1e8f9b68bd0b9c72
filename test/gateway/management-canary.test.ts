import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Collector, startCollector } from '../support/collector.ts';
import { type Folder, makeFolder } from '../support/folder.ts';
import type { GatewayProcess } from '../support/gateway-process.ts';
import {
  type Answer,
  callerKey,
  type ManagementService,
  manage,
  managementKey,
  managementMutations,
  org,
  orgId,
  startManagementService,
  team,
  teamId,
} from '../support/management.ts';
import { casesFor } from '../support/runs.ts';
import { startGateway } from '../support/traced.ts';

const newKey = () => `whsec_${randomBytes(32).toString('base64')}`;
/** What the service shows of secrets, each in the one answer that may show it. */
const shown = {
  key: 'mg_canary-shown-key',
  value: 'sk_canary-shown-value',
  accessToken: 'canary-shown-token',
  webhookSecret: newKey(),
};

/** Every text of an input is a value of its own that is found again in any other place. */
const given: string[] = [];
const mutations = managementMutations((field) => {
  given.push(`canary${given.length}${field}`);
  return `canary${given.length - 1}${field}`;
});
const quoted = `The service has read ${given.join(' and ')}.`;

const id = '0d5f6c1e-5a8f-4b7e-9a53-3a5d0d8d1c11';
const row = { id, team_id: teamId, label: 'x', role: 'org_admin', created_at: '2026-01-01T00:00:00Z' };
/** Everything that an answer may have, with the secrets that the service repeats. */
const everything = {
  ...{ ...row, ...team, id, key: shown.key, value: shown.value, url: `https://me:${given[0]}@hooks.example` },
  ...{ access_token: shown.accessToken, expires_in: 600, client_secret_hash: given[0], details: given },
  ...{ success: [], failure: [], not_found: [], lab_account: null },
  ...{ rabbitmq: { uri: given[0], exchange: 'x' }, preferences: { preferred: 'rabbitmq', enabled: [] } },
};

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(textsOf);
  return typeof value === 'string' ? [value] : [];
}

/** What a service may answer that repeats all it was given. */
const answers: readonly Answer[] = [
  [422, { detail: [{ loc: ['body', 'secret'], msg: quoted, type: 'x', input: given }] }],
  ({ body }) => [
    422,
    { detail: textsOf(body).map((text) => ({ loc: ['body'], msg: `${text} is bad`, type: 'x' })) },
  ],
  ({ body }) => [400, { detail: `Not allowed: ${textsOf(body).join(', ')}` }],
  [400, { detail: { error_type: 'x', error_message: given[0] } }],
  [409, { detail: given[1] }],
  [500, { detail: quoted }],
  [200, quoted],
  [200, everything],
  [200, [everything]],
  'lost',
];

function answerWebhooks({ answers: scripted }: ManagementService): void {
  const webhooks = `GET ${org}/team/${teamId}/sandbox/webhook`;
  const page = { data: [{ ...row, id: 'ep_own', url: 'http://127.0.0.1:9/webhooks' }], next_cursor: null };
  scripted.set(webhooks, [200, page]);
  scripted.set(`${webhooks}/ep_own/secret`, [200, { key: shown.webhookSecret }]);
}

/** The gateway's own files, log, metrics and spans, and the errors and refusals that callers get. */
async function readAll(
  at: GatewayProcess,
  { folder, collector }: { readonly folder: Folder; readonly collector: Collector },
) {
  const metrics = await (await fetch(`${at.url}/metrics`)).text();
  await collector.until(({ name }) => name.includes('management.webhook.create'));
  expect(await at.end('SIGTERM')).toBe(0);
  const files = readdirSync(folder.path, { recursive: true, withFileTypes: true }).filter((each) =>
    each.isFile(),
  );
  const read = files.map((each) => readFileSync(`${each.parentPath}/${each.name}`, 'latin1'));
  return { files: read.join('\n'), log: at.output.join('\n'), metrics, spans: collector.bodies.join('\n') };
}

test('no secret and no other text of a caller is in a log line, metric, span, file, error or refusal', async () => {
  const folder = makeFolder();
  await using collector = await startCollector();
  await using service = await startManagementService();
  answerWebhooks(service);
  const key = randomBytes(32).toString('base64');
  await using gateway = await startGateway(service.url, {
    ...{ SERVICE_MANAGEMENT_URL: service.url, SERVICE_MANAGEMENT_KEY: managementKey, SERVICE_ORG_ID: orgId },
    ...{ MANAGEMENT_API_KEYS: `ops=${callerKey}`, PUBLIC_URL: 'http://127.0.0.1:9' },
    ...{ EVENT_LOG: `sqlite:${folder.file('events.db')}`, EVENT_LOG_KEY: key, LOG_LEVEL: 'debug' },
    ...{ AUDIT_TRAIL: `file:${folder.file('audit')}`, AUDIT_TRAIL_KEY: key },
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, RATE_LIMIT_POINTS: '0' },
  });
  const refused: unknown[] = [];
  for (const [row, { name, query, input }] of mutations.entries()) {
    for (const answer of casesFor(row, answers, 3)) {
      service.answers.set('*', answer);
      const more = '... on UserError { message } ... on InputRejected { issues { path message } }';
      const { data, errors } = await manage(gateway, query.replace('__typename', `__typename ${more}`), {
        input: Object(input),
      });
      refused.push([name, data, errors]);
    }
  }
  service.answers.set('*', [200, everything]);
  const { data } = await manage(
    gateway,
    'mutation ($input: CreateManagementKeyInput!) { createManagementKey(input: $input) { ... on ManagementKeyCreated { key } } }',
    { input: { label: 'x', role: 'ORG_ADMIN' } },
  );
  expect(data.createManagementKey).toEqual({ key: shown.key });

  const places = { refused: JSON.stringify(refused), ...(await readAll(gateway, { folder, collector })) };
  expect(refused.length).toBeGreaterThan(70);
  expect(places.files).toContain('write management.webhook.create');
  expect(places.spans).toContain('management.webhook.create');
  expect(places.refused).toContain('InputRejected');
  const secrets = [...given, ...Object.values(shown), managementKey, callerKey, key];
  const found = Object.entries(places).flatMap(([place, text]) =>
    secrets.filter((secret) => text.includes(secret)).map((secret) => `${place}: ${secret}`),
  );
  expect(found).toEqual([]);
  folder[Symbol.dispose]();
});
