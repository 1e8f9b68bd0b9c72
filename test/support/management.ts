import { createServer } from 'node:http';
import {
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
} from 'graphql';
import { request } from 'undici';
import { managementSchema } from '../../gateway/domain/management-schema.ts';
import { type Lab, type LabOptions, startLab } from './lab.ts';
import { listenAnywhere } from './listening.ts';

export const managementKey = 'mg_canary-management-key-51b2';
export const callerKey = 'canary-management-caller-key-77c1';
export const orgId = '0b7c1a52-8d0e-4a55-9d6c-3f2b1c9e7a10';
export const teamId = '6c2f9a31-54d7-4f0e-8f52-0a1d7b3c5e98';

/** A request as the management interface saw it. */
export interface Seen {
  readonly call: string;
  readonly key: string | undefined;
  readonly body: unknown;
}

type Said = readonly [status: number, json?: unknown] | 'lost';

/** The answer to a call: a status and JSON, `lost` for a connection that ends before an answer, or what gives one. */
export type Answer = Said | ((asked: Seen) => Said | Promise<Said>);

export interface ManagementService extends AsyncDisposable {
  readonly url: string;
  readonly seen: Seen[];
  /** By `GET /v1/org/...`, without the query; `*` is for all others, which have 404 without it. */
  readonly answers: Map<string, Answer>;
}

export const org = `/v1/org/${orgId}`;
export const team = {
  id: teamId,
  name: 'North',
  created_on: '2026-01-02T03:04:05+00:00',
  region: 'eu',
  integration_team_id: null,
  sandbox: { minor_ordering_enabled: true, brand_information: { company_name: 'North Labs' } },
  production: null,
};

/** A management interface with scripted answers, on a real port. */
export async function startManagementService(): Promise<ManagementService> {
  const seen: Seen[] = [];
  const answers = new Map<string, Answer>([[`GET ${org}/team/${teamId}`, [200, team]]]);
  const server = createServer(async (incoming, response) => {
    const text = Buffer.concat(await incoming.toArray()).toString();
    const call = `${incoming.method} ${incoming.url}`;
    const key = incoming.headers['x-management-key']?.toString();
    const asked = { call, key, body: text === '' ? undefined : JSON.parse(text) };
    seen.push(asked);
    const scripted = answers.get(call.split('?')[0] ?? '') ?? answers.get('*');
    const answer = (typeof scripted === 'function' ? await scripted(asked) : scripted) ?? [
      404,
      { detail: 'Not found' },
    ];
    if (answer === 'lost') return incoming.socket.destroy();
    const [status, json] = answer;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(json === undefined ? '' : JSON.stringify(json));
  });
  return {
    url: await listenAnywhere(server),
    seen,
    answers,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A gateway whose management graph uses this service. */
export function startManagementLab(url: string, { env, ...options }: LabOptions = {}): Promise<Lab> {
  return startLab({
    ...options,
    env: {
      SERVICE_MANAGEMENT_URL: url,
      SERVICE_MANAGEMENT_KEY: managementKey,
      SERVICE_ORG_ID: orgId,
      MANAGEMENT_API_KEYS: `ops=${callerKey}`,
      ...env,
    },
  });
}

/** Runs an operation at the management graph. */
export async function manage(
  lab: Pick<Lab, 'url'>,
  query: string,
  { input, key = callerKey }: { readonly input?: object; readonly key?: string | null } = {},
  // biome-ignore lint/suspicious/noExplicitAny: answers are read like a client reads them, field by field.
): Promise<{ data?: any; errors?: any[]; status: number }> {
  const { statusCode, body } = await request(`${lab.url}/management/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({ query, variables: input === undefined ? {} : { input } }),
  });
  const answer: object = JSON.parse(await body.text());
  return { ...answer, status: statusCode };
}

/** A value that an input type takes: the least one, or with every field and the texts of `textOf`, by their field. */
export function sampleOf(type: GraphQLInputType, textOf?: (field: string) => string, field = ''): unknown {
  if (isNonNullType(type)) return sampleOf(type.ofType, textOf, field);
  if (isListType(type)) return [sampleOf(type.ofType, textOf, field)];
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).filter((each) => textOf || isRequiredInputField(each));
    return Object.fromEntries(fields.map((each) => [each.name, sampleOf(each.type, textOf, each.name)]));
  }
  const samples: Readonly<Record<string, unknown>> = {
    ID: field === 'orgId' ? orgId : teamId,
    Boolean: true,
    Int: 1,
  };
  return (
    samples[type.name] ?? (type.name === 'JSON' ? { [field]: textOf?.(field) } : (textOf?.(field) ?? 'text'))
  );
}

/** Every mutation of the management graph with an input, as for `sampleOf`. */
export function managementMutations(textOf?: (field: string) => string) {
  return Object.values(managementSchema.getMutationType()?.getFields() ?? {}).map((field) => {
    const type = field.args.find(({ name }) => name === 'input')?.type;
    if (type === undefined) throw new Error(`${field.name} has no input.`);
    return {
      name: field.name,
      query: `mutation ($input: ${String(type)}) { ${field.name}(input: $input) { __typename } }`,
      input: sampleOf(type, textOf),
    };
  });
}
