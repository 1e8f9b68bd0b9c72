import { type GraphQLInputType, getNamedType, isInputObjectType } from 'graphql';
import { schema } from '../../gateway/domain/schema.ts';
import { gatewayKey, type Lab } from '../support/lab.ts';
import { selectionOf } from '../support/selection.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are read like a client reads them, field by field.
export type Ask = (field: string, args?: Readonly<Record<string, unknown>>) => Promise<any>;

function rootOf(field: string) {
  const type = [schema.getQueryType(), schema.getMutationType()].find((each) => each?.getFields()[field]);
  const definition = type?.getFields()[field];
  if (!type || !definition) throw new Error(`The graph has no field ${field}.`);
  return { type, definition };
}

/** The field with everything under it; each argument goes over a variable, as clients send them. */
function documentOf(field: string, args: Readonly<Record<string, unknown>>): string {
  const { type, definition } = rootOf(field);
  const given = definition.args.filter(({ name }) => name in args);
  const declared = given.map((arg) => `$${arg.name}: ${String(arg.type)}`).join(', ');
  const passed = given.map(({ name }) => `${name}: $${name}`).join(', ');
  const wrap = (text: string) => (text === '' ? '' : `(${text})`);
  const operation = type.name.toLowerCase();
  const selection = selectionOf(definition.type, schema);
  return `${operation} ${wrap(declared)} { answer: ${field}${wrap(passed)} ${selection} }`;
}

/** Names of the fields that a value of an input has, at any depth. */
function fieldsGiven(type: GraphQLInputType, value: unknown): readonly string[] {
  const named = getNamedType(type);
  if (Array.isArray(value)) return value.flatMap((item) => fieldsGiven(named, item));
  if (!isInputObjectType(named) || typeof value !== 'object' || value === null) return [];
  return Object.entries(named.getFields()).flatMap(([key, field]) => {
    const given = (value as Record<string, unknown>)[key];
    return given === undefined ? [] : [`${named.name}.${key}`, ...fieldsGiven(field.type, given)];
  });
}

function inputsOf(field: string, args: Readonly<Record<string, unknown>>): readonly string[] {
  const { type, definition } = rootOf(field);
  return definition.args
    .filter(({ name }) => args[name] !== undefined)
    .flatMap((arg) => [`${type.name}.${field}.${arg.name}`, ...fieldsGiven(arg.type, args[arg.name])]);
}

/** What was asked for and what came of it, as it grows. */
export interface Asked {
  readonly fields: Set<string>;
  readonly succeeded: Set<string>;
  readonly inputs: Set<string>;
  readonly errors: unknown[];
}

/** The same question as a multipart request, which carries the files. */
async function upload(lab: Lab, query: string, input: { readonly files: readonly File[] }) {
  const form = new FormData();
  const files = input.files.map(() => null);
  form.append('operations', JSON.stringify({ query, variables: { input: { ...input, files } } }));
  form.append(
    'map',
    JSON.stringify(Object.fromEntries(files.map((_, n) => [n, [`variables.input.files.${n}`]]))),
  );
  for (const [n, file] of input.files.entries()) form.append(String(n), file);
  const headers = { authorization: `Bearer ${gatewayKey}` };
  return await (await fetch(`${lab.url}/graphql`, { method: 'POST', headers, body: form })).json();
}

function hasFiles(input: unknown): input is { readonly files: readonly File[] } {
  return typeof input === 'object' && input !== null && 'files' in input;
}

/** Asks for one field with everything under it, and resolves with its value. */
export function createAsk(lab: Lab, into: Asked): Ask {
  return async (field, args = {}) => {
    const name = `${rootOf(field).type.name}.${field}`;
    const query = documentOf(field, args);
    const { data, errors } = hasFiles(args.input)
      ? await upload(lab, query, args.input)
      : await lab.query(query, { variables: args, origin: 'https://page.example' });
    into.fields.add(name);
    for (const input of inputsOf(field, args)) into.inputs.add(input);
    if (data?.answer && data.answer.code === undefined) into.succeeded.add(name);
    into.errors.push(...(errors ?? []).map((error: unknown) => ({ name, error })));
    return data?.answer;
  };
}

/** The first rows and those after them. */
export async function askTwoPages(
  ask: Ask,
  field: string,
  args: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { pageInfo } = await ask(field, args);
  await ask(field, { ...args, after: pageInfo.endCursor });
}
