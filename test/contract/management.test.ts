import {
  type GraphQLArgument,
  type GraphQLInputField,
  getNamedType,
  isInputObjectType,
  isObjectType,
  parse,
  TypeInfo,
  visit as visitDocument,
  visitWithTypeInfo,
} from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { managementSchema } from '../../gateway/domain/management-schema.ts';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { type Lab, serviceKey, webhookSecret } from '../support/lab.ts';
import { manage, startManagementLab } from '../support/management.ts';
import { selectionOf } from '../support/selection.ts';
import { asAllowed, compare, managementDifferences } from './differences.ts';
import { createRecorder, type Exchange } from './exchange.ts';
import { routeOf } from './routes.ts';
import { openServiceDocument, type ServiceDocument } from './service-document.ts';

/** What was asked of the management graph, and all that the gateway and the service said to one another for it. */
interface Visit {
  readonly exchanges: readonly Exchange[];
  readonly routes: readonly string[];
  /** `Team.webhooks`, `Team.webhooks.first` and `CreateTeamInput.name` for each that was asked or given. */
  readonly named: ReadonlySet<string>;
  /** The mutations that were done. */
  readonly done: ReadonlySet<string>;
}

/** The names of the fields that a value of an input has, at any depth. */
function inputsOf({ type }: GraphQLArgument | GraphQLInputField, value: unknown): readonly string[] {
  const named = getNamedType(type);
  if (Array.isArray(value)) return value.flatMap((item) => inputsOf({ type } as GraphQLArgument, item));
  if (!isInputObjectType(named) || typeof value !== 'object' || value === null) return [];
  const fields = named.getFields();
  return Object.entries(value).flatMap(([key, item]) => {
    const field = fields[key];
    return field === undefined ? [] : [`${named.name}.${key}`, ...inputsOf(field, item)];
  });
}

/** Fields and arguments of a document, by the types that have them. */
function namesIn(query: string): readonly string[] {
  const info = new TypeInfo(managementSchema);
  const names: string[] = [];
  const note = () => {
    const field = `${info.getParentType()?.name}.${info.getFieldDef()?.name}`;
    const argument = info.getArgument();
    names.push(argument ? `${field}.${argument.name}` : field);
  };
  visitDocument(parse(query), visitWithTypeInfo(info, { Field: { enter: note }, Argument: { enter: note } }));
  return names;
}

class Visitor {
  readonly named = new Set<string>();
  readonly done = new Set<string>();
  readonly #lab: Lab;

  constructor(lab: Lab) {
    this.#lab = lab;
  }

  async ask(query: string) {
    const { data, errors } = await manage(this.#lab, query);
    expect([query, errors]).toEqual([query, undefined]);
    for (const name of namesIn(query)) this.named.add(name);
    return data;
  }

  /** Runs a mutation with everything under it. @returns what was done */
  async act(name: string, input: object) {
    const field = managementSchema.getMutationType()?.getFields()[name];
    const argument = field?.args[0];
    if (field === undefined || argument === undefined) throw new Error(`There is no mutation ${name}.`);
    const query = `mutation ($input: ${String(argument.type)}) { ${name}(input: $input) ${selectionOf(field.type, managementSchema)} }`;
    const { data, errors } = await manage(this.#lab, query, { input });
    expect([name, errors]).toEqual([name, undefined]);
    for (const each of [...namesIn(query), ...inputsOf(argument, input)]) this.named.add(each);
    if (data[name].code === undefined) this.done.add(name);
    return data[name];
  }
}

const settings = {
  labTestsPatientSmsCommunicationEnabled: false,
  labTestsPatientEmailCommunicationEnabled: true,
  criticalResultNotificationEmail: 'critical@example.com',
  partialWebhooksEnabled: true,
  minorOrderingEnabled: true,
  rejectDuplicateConnection: true,
  sdkPerDeviceActivityTimeseries: true,
  logoUrl: 'https://example.com/logo.png',
  brand: {
    companyName: 'North Labs',
    companyWebsite: 'https://example.com',
    supportEmail: 'help@example.com',
    supportContact: '+16025550100',
    companyAddress: '1 Example Road',
    brandColor: '#112233',
  },
};

async function visitTeams(to: Visitor, orgId: string): Promise<string> {
  await to.act('updateOrganization', { orgId, name: 'Example Health' });
  const made = { orgId, name: 'North', region: 'US', integrationTeamId: 'north-1', settings };
  const { team } = await to.act('createTeam', made);
  const taken = await to.act('createTeam', made);
  expect(taken.code).toBe('TEAM_REFERENCE_TAKEN');
  const changes = {
    name: 'North Labs',
    integrationTeamId: 'north-2',
    sandbox: settings,
    production: settings,
  };
  await to.act('updateTeam', { orgId, teamId: team.id, ...changes });
  await to.act('updateTeam', { teamId: team.id, integrationTeamId: null });
  await to.act('updateTeam', { teamId: team.id, integrationTeamId: 'north-3' });
  await to.act('createTeamAccessToken', { orgId, teamId: team.id, environment: 'SANDBOX' });
  return team.id;
}

async function visitKeys(to: Visitor, { orgId, teamId }: Place): Promise<void> {
  const bound = { role: 'TEAM_ADMIN', teamIds: [teamId] };
  const { managementKey } = await to.act('createManagementKey', { orgId, label: 'ci', ...bound });
  await to.act('createManagementKey', { label: 'all', role: 'ORG_ADMIN' });
  await to.act('updateManagementKey', { orgId, id: managementKey.id, label: 'build', teamIds: [teamId] });
  await to.ask(`{ organization(orgId: "${orgId}") {
    managementKeys(first: 1, teamId: "${teamId}", role: TEAM_ADMIN) { totalCount edges { cursor node { id } }
      nodes { id label createdAt role roleRaw creatorType creatorTypeRaw creatorName teamIds } }
  } }`);
  await to.act('deleteManagementKey', { orgId, id: managementKey.id });
  const at = { orgId, teamId, environment: 'SANDBOX' };
  const { apiKey } = await to.act('createTeamApiKey', { ...at, label: 'server' });
  await to.act('deleteTeamApiKeys', { ...at, ids: [apiKey.id] });
}

async function visitWebhooks(to: Visitor, { orgId, teamId }: Place): Promise<string> {
  const at = { orgId, teamId, environment: 'SANDBOX' };
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const settings = { description: 'Mine.', rateLimit: 50, isDisabled: false };
  const types = { eventTypes: ['labtest.order.updated'] };
  const { webhook } = await to.act('createWebhook', {
    ...{ ...at, url: 'https://hooks.example.com/in', secret },
    ...{ ...settings, ...types },
  });
  await to.act('createWebhook', { ...at, url: 'https://hooks.example.com/other' });
  const named = { ...at, id: webhook.id };
  const moved = { url: 'https://hooks.example.com/moved', ...settings };
  await to.act('updateWebhook', { ...named, ...moved, eventTypes: null });
  await to.act('setWebhookHeaders', { ...named, headers: [{ name: 'X-Mine', value: 'yes' }] });
  await to.act('revealWebhookSecret', named);
  await to.act('rotateWebhookSecret', named);
  await to.act('rotateWebhookSecret', { ...named, secret });
  await to.act('registerGatewayWebhook', at);
  await to.act('rotateGatewayWebhookSecret', at);
  return webhook.id;
}

async function visitIntegrations(to: Visitor, { orgId, teamId }: Place): Promise<void> {
  const at = { orgId, teamId, environment: 'SANDBOX' };
  await to.act('prepareCustomCredentials', { ...at, provider: 'fitbit' });
  const tokens = { workout_verify_token: 'a', sleep_verify_token: 'b', body_verify_token: 'c' };
  const { credentials } = await to.act('setCustomCredentials', {
    ...{ ...at, provider: 'fitbit', clientId: 'mine', clientSecret: 'secret' },
    ...{ redirectUrlOverride: 'https://example.com/back', details: { fitbit: tokens } },
  });
  await to.act('deleteCustomCredentials', { ...at, ids: [credentials.id] });
  const scopes = { provider: 'oura', userMustGrant: ['daily'], userMayGrant: ['email'] };
  await to.act('setScopeRequirements', { orgId, teamId, ...scopes });
  const place = { orgId, environment: 'SANDBOX', region: 'US' };
  const { organization } = await to.ask(
    '{ organization { labAccounts(environment: SANDBOX, region: US) { account { id } } } }',
  );
  const accountId = organization.labAccounts[0].account.id;
  await to.act('setLabAccountTeams', { ...place, accountId, teamIds: [teamId] });
  await to.ask(`{ organization {
    labAccounts(environment: SANDBOX, region: US, id: "${accountId}", teamId: "${teamId}", status: "active") { teamIds }
  } }`);
}

const destinations = {
  cloudPubsub: { project: 'mine', topic: 'events', messageOrdering: true },
  rabbitmq: { uri: 'amqps://me:password@mq.example.com', exchange: 'events' },
  azureAmqp: {
    ...{ connectionString: 'Endpoint=sb://mine/;SharedAccessKey=secret', defaultEventHub: 'all' },
    compression: 'ALWAYS',
    eventHubMatchers: [
      { eventTypePrefix: 'daily.', eventHub: 'daily' },
      { eventTypeRegex: '^labtest', blobStorage: { connectionString: 'secret', containerName: 'lab' } },
    ],
  },
};

async function visitPipelines(to: Visitor, { orgId, teamId }: Place): Promise<void> {
  const at = { orgId, teamId, environment: 'SANDBOX' };
  const options = { pushHistoricalData: true, providerRawData: false, eventTypePrefixes: ['labtest.'] };
  const enabled = ['CLOUD_PUBSUB', 'RABBITMQ', 'SVIX', 'AZURE_AMQP'];
  await to.act('setEventPipeline', { ...at, preferred: 'RABBITMQ', enabled, ...destinations, ...options });
  for (const preferred of enabled) await to.act('setEventPipeline', { ...at, preferred, enabled });
}

interface Place {
  readonly orgId: string;
  readonly teamId: string;
}

/** Every list and every field that needs an argument. */
async function visitReads(to: Visitor, { orgId, teamId }: Place, webhookId: string): Promise<void> {
  const rows = (fields: string) =>
    `{ totalCount edges { cursor node { id } } nodes { ${fields} } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`;
  const settingsOf = (environment: string) =>
    `settings(environment: ${environment}) ${selectionOf(managementSchema.getType('TeamSettings') as never, managementSchema)}`;
  await to.ask(`{
    organization(orgId: "${orgId}") { id name expiresAt
      teams(first: 1, search: "North", region: US, teamId: "${teamId}") ${rows(`id ${settingsOf('PRODUCTION')}`)} }
    teamByReference(orgId: "${orgId}", integrationTeamId: "north-3") { id ${settingsOf('SANDBOX')} }
  }`);
  const pipeline = selectionOf(managementSchema.getType('EventPipeline') as never, managementSchema).slice(
    1,
    -1,
  );
  const { team } = await to.ask(`{ team(orgId: "${orgId}", teamId: "${teamId}") {
    id orgId name createdAt region regionRaw integrationTeamId ${settingsOf('SANDBOX')}
    apiKeys(environment: SANDBOX, first: 1) ${rows('id label createdAt')}
    customCredentials(environment: SANDBOX, first: 1, provider: "fitbit") ${rows('id providerRaw clientId redirectUrlOverride createdAt updatedAt')}
    deliveryMetrics(environment: SANDBOX, interval: MINUTES_5) { labels { name value } points { time value } }
    eventPipelines(environment: SANDBOX, first: 1) ${rows(pipeline).replace('node { id }', 'node { preferredRaw }')}
    scopeRequirements(provider: "oura") { providerRaw userMustGrant userMayGrant }
    webhook(environment: SANDBOX, id: "${webhookId}") { id headers { name value } }
    webhooks(environment: SANDBOX, first: 1) ${rows('id url description rateLimit isDisabled eventTypes createdAt updatedAt')}
  } }`);
  expect(team.settings).toMatchObject(settings);
  const next = (list: { readonly pageInfo: { readonly endCursor: string } }) =>
    `(environment: SANDBOX, first: 1, after: "${list.pageInfo.endCursor}")`;
  await to.ask(`{ team(teamId: "${teamId}") { webhooks${next(team.webhooks)} { nodes { id } } } }`);
}

/** The lists that the service pages itself, from their first row on and once more. */
async function visitPages(to: Visitor, lab: Lab, { orgId, teamId }: Place): Promise<void> {
  const at = { orgId, teamId, environment: 'SANDBOX' };
  const add = async (count: number, one: (n: number) => Promise<unknown>) => {
    for (let n = 0; n < count; n += 1) await one(n);
  };
  // The service has 50 on a page.
  await add(51, (n) => to.act('createTeamApiKey', { ...at, label: `page ${n}` }));
  for (const provider of ['fitbit', 'oura'])
    await to.act('setCustomCredentials', { ...at, provider, clientId: 'mine', clientSecret: 'secret' });
  const lists = ['apiKeys', 'customCredentials', 'eventPipelines'];
  for (const name of lists)
    await askOnwards(
      to,
      (args) => `team(teamId: "${teamId}") { rows: ${name}(environment: SANDBOX, first: 50 ${args})`,
    );
  for (const name of ['teams', 'managementKeys'])
    await askOnwards(to, (args) => `organization { rows: ${name}(first: 1 ${args})`);
  expect(lab.logged.filter((line) => line.includes('"level":50'))).toEqual([]);
}

async function askOnwards(to: Visitor, start: (args: string) => string): Promise<void> {
  const read = async (args: string) => {
    const data = await to.ask(`{ ${start(args)} { pageInfo { endCursor } } } }`);
    return Object(Object.values(data)[0]).rows.pageInfo.endCursor;
  };
  const cursor = await read('');
  expect(cursor).toEqual(expect.any(String));
  await read(`after: "${cursor}"`);
}

async function visitManagement(): Promise<Visit> {
  const sandbox: Sandbox = createSandbox({ apiKey: serviceKey, webhookSecret, speed: 1000 });
  await using recorder = createRecorder();
  const url = `${await recorder.listen(sandbox)}/management`;
  const { managementKey, orgId } = sandbox;
  const env = {
    SERVICE_MANAGEMENT_KEY: managementKey,
    SERVICE_ORG_ID: orgId,
    PUBLIC_URL: 'http://127.0.0.1:9',
  };
  await using lab = await startManagementLab(url, { env });
  const to = new Visitor(lab);
  const at = { orgId, teamId: await visitTeams(to, orgId) };
  await visitKeys(to, at);
  const webhookId = await visitWebhooks(to, at);
  await visitIntegrations(to, at);
  await visitPipelines(to, at);
  await visitPages(to, lab, at);
  await visitReads(to, at, webhookId);
  await to.act('deleteEventPipeline', { ...at, environment: 'SANDBOX' });
  await to.act('deleteWebhook', { ...at, environment: 'SANDBOX', id: webhookId });
  await to.act('deleteTeam', at);
  await sandbox.close();
  const exchanges = recorder.exchanges.map((each) => ({
    ...each,
    path: each.path.replace(/^\/management/, ''),
  }));
  return { exchanges, routes: sandbox.managementRoutes, named: to.named, done: to.done };
}

let visit: Visit;
beforeAll(async () => {
  visit = await visitManagement();
});

test('every field was read, every argument and every field of every input was given, and every mutation was done', () => {
  const types = Object.values(managementSchema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  const refusals =
    /^(FeatureNotEnabled|GatewayAddressUnknown|InputIssue|InputRejected|NotFound|TeamReferenceTaken)$/;
  const all = types.flatMap((type) => {
    if (isInputObjectType(type)) return Object.keys(type.getFields()).map((name) => `${type.name}.${name}`);
    if (!isObjectType(type) || refusals.test(type.name)) return [];
    return Object.values(type.getFields()).flatMap(({ name, args }) => [
      `${type.name}.${name}`,
      ...args.map((argument) => `${type.name}.${name}.${argument.name}`),
    ]);
  });
  expect(all.length).toBeGreaterThan(300);
  expect(all.filter((name) => !visit.named.has(name))).toEqual([]);
  const mutations = Object.keys(managementSchema.getMutationType()?.getFields() ?? {});
  expect(mutations.filter((name) => !visit.done.has(name))).toEqual([]);
});

test('the gateway asks every operation of the management interface, and none that there is not', () => {
  const asked = visit.exchanges.map((each) => routeOf(visit.routes, each));
  expect(asked).not.toContain(undefined);
  expect(visit.routes.filter((route) => !asked.includes(route))).toEqual([]);
});

const document = openServiceDocument();
if (document) describe("the public service's document", () => holdAgainst(document));

function holdAgainst(document: ServiceDocument): void {
  test('allows every request to the management interface and every answer', () => {
    const faults = visit.exchanges.flatMap((each) => [
      ...document.findRequestFaults(each),
      ...document.findResponseFaults(each),
    ]);
    expect(compare(faults, managementDifferences)).toEqual(asAllowed);
  });
}
