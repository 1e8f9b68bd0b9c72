import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  getNamedType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from 'graphql';
import { type GraphQLAnswer, gatewayKey, graphqlRequest } from '../../support/lab.ts';
import type { SpoiltLab } from '../../support/spoilt-lab.ts';
import type { Row, Variables } from './row.ts';

const schema = buildSchema(readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8'));
const mutations = schema.getMutationType()?.getFields() ?? {};

/** Every mutation of schema.graphql, and what its result may be. */
export const promised: ReadonlyMap<string, readonly string[]> = new Map(
  Object.values(mutations).map((field) => [field.name, membersOf(field).map(({ name }) => name)]),
);

function membersOf(field: GraphQLField<unknown, unknown>): readonly GraphQLNamedType[] {
  const type = getNamedType(field.type);
  return isUnionType(type) ? type.getTypes() : [type];
}

function fieldOf(mutation: string): GraphQLField<unknown, unknown> {
  const field = mutations[mutation];
  if (field === undefined) throw new Error(`The schema has no mutation ${mutation}.`);
  return field;
}

/** The operation with all arguments as variables, and every refusal with all that it says. */
function documentOf({ mutation, selection }: Row): string {
  const field = fieldOf(mutation);
  const declared = field.args.map(({ name, type }) => `$${name}: ${type}`);
  const passed = field.args.map(({ name }) => `${name}: $${name}`);
  const refusals = membersOf(field).flatMap((type) => {
    if (!isObjectType(type)) return [];
    const names = ['code', 'message'].filter((name) => name in type.getFields());
    const issues = 'issues' in type.getFields() ? ['issues { path message }'] : [];
    return names.length === 0 ? [] : [`... on ${type.name} { ${[...names, ...issues].join(' ')} }`];
  });
  return `mutation (${declared.join(', ')}) { result: ${mutation}(${passed.join(', ')}) { __typename ${refusals.join(' ')} ${selection} } }`;
}

/** What the caller gets: `word` is the type of the result, or the code of the error. */
export interface Result {
  readonly word: string;
  readonly issues: readonly { readonly path: readonly string[]; readonly message: string }[];
  /** Of an error: whether it may have been done all the same, as far as that is said. */
  readonly mayHaveBeenDone: boolean | undefined;
  readonly answer: GraphQLAnswer;
}

/** Calls the row's mutation through the gateway, as a server of the team on behalf of a page. */
export async function ask(lab: SpoiltLab, row: Row, variables: Variables): Promise<Result> {
  const operation = { query: documentOf(row), variables };
  const request = operationRequest(lab.url, operation, gatewayKey);
  request.headers.set('origin', 'https://page.example');
  const response = await lab.gateway.fetch(request);
  const answer: GraphQLAnswer = { ...(await response.json()), status: response.status };
  const [error] = answer.errors ?? [];
  return {
    word: answer.data?.result?.__typename ?? error?.extensions.code,
    issues: answer.data?.result?.issues ?? [],
    mayHaveBeenDone: error?.extensions.mayHaveBeenDone,
    answer,
  };
}

export interface Operation {
  readonly query: string;
  readonly variables: Variables;
}

/** As JSON, or as a multipart request where the input has files. */
export function operationRequest(url: string, { query, variables }: Operation, token: string): Request {
  const { input } = variables as { readonly input?: { readonly files?: readonly File[] } };
  const files = input?.files;
  if (files === undefined) return graphqlRequest(url, { query, variables }, token);
  const body = new FormData();
  const without = { ...variables, input: { ...input, files: files.map(() => null) } };
  body.append('operations', JSON.stringify({ query, variables: without }));
  body.append(
    'map',
    JSON.stringify(Object.fromEntries(files.map((_, n) => [n, [`variables.input.files.${n}`]]))),
  );
  for (const [n, file] of files.entries()) body.append(String(n), file);
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
  return new Request(`${url}/graphql`, { method: 'POST', headers, body });
}

/** Whether the path of an issue names something in the arguments of the mutation, or within its `input`. */
export function isInArguments(mutation: string, path: readonly string[]): boolean {
  const { args } = fieldOf(mutation);
  const [only] = args;
  if (only !== undefined && args.length === 1 && isInputObjectType(getNamedType(only.type)))
    return isWithin(only.type, path);
  const [name, ...rest] = path;
  const argument = args.find((each) => each.name === name);
  return argument !== undefined && isWithin(argument.type, rest);
}

function isWithin(type: GraphQLInputType, path: readonly string[]): boolean {
  const [name, ...rest] = path;
  if (name === undefined) return true;
  if (isNonNullType(type)) return isWithin(type.ofType, path);
  if (isListType(type)) return /^\d+$/.test(name) && isWithin(type.ofType, rest);
  const field = isInputObjectType(type) ? type.getFields()[name] : undefined;
  return field !== undefined && isWithin(field.type, rest);
}
