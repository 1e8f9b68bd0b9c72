import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  parse,
  validate,
} from 'graphql';
import { selectionOf } from '../../support/selection.ts';

export const schema = buildSchema(readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8'));

/** One way to hand an id to the gateway. */
export interface Place {
  /** Where the schema defines it: `Query.order(id:)`, `OrderFilter.orderIds`. */
  readonly coordinate: string;
  /** The field that takes it, such as `Query.orders`. */
  readonly field: string;
  /** Its path in that field's arguments, such as `filter`, `orderIds`. */
  readonly path: readonly string[];
  readonly isRequired: boolean;
  /** What is asked of the answer; everything if left out. */
  readonly selection?: string;
  /** Whether it may be given only without the fields beside it (@oneOf). */
  readonly isAlone: boolean;
  /** Whether it is in an argument that is deprecated: the field then takes `input` in its place. */
  readonly isDeprecated: boolean;
}

/** A String that names a thing, or could: references, keys, cursors, numbers of samples, and search in ids. */
const namesThing = /^(after|search|jti)$|(Id|Ids|Key)$/;

function isId({ name, type }: GraphQLArgument | GraphQLInputField): boolean {
  const named = getNamedType(type).name;
  return named === 'ID' || named === 'EventCursor' || (named === 'String' && namesThing.test(name));
}

/** Every place of the schema that takes an id. */
export const places: readonly Place[] = Object.values(schema.getTypeMap())
  .flatMap((type) =>
    isObjectType(type) || isInterfaceType(type)
      ? Object.values(type.getFields()).flatMap((field) => placesOf(`${type.name}.${field.name}`, field))
      : [],
  )
  .flatMap(placesOfNodes);

/** `Query.node(nodeId:)` takes the ids of all types, each of which is a place of its own: `Query.node(nodeId: Order)`. */
function placesOfNodes(place: Place): readonly Place[] {
  const node = schema.getType('Node');
  if (!isInterfaceType(node) || !/^Query\.nodes?$/.test(place.field)) return [place];
  return schema.getPossibleTypes(node).map((type) => ({
    ...place,
    coordinate: place.coordinate.replace(':)', `: ${type.name})`),
    selection: `{ __typename nodeId ... on ${type.name} ${selectionOf(type, schema)} }`,
  }));
}

function placesOf(field: string, { args }: GraphQLField<unknown, unknown>): readonly Place[] {
  return args.flatMap((argument) =>
    placesIn(argument, {
      field,
      coordinate: `${field}(${argument.name}:)`,
      path: [argument.name],
      isAlone: false,
      isDeprecated: argument.deprecationReason != null,
    }),
  );
}

function placesIn(
  input: GraphQLArgument | GraphQLInputField,
  at: Omit<Place, 'isRequired'>,
): readonly Place[] {
  const type = getNamedType(input.type);
  if (isId(input)) return [{ ...at, isRequired: String(input.type).endsWith('!') }];
  if (!isInputObjectType(type)) return [];
  return Object.values(type.getFields()).flatMap((each) =>
    placesIn(each, {
      ...at,
      coordinate: `${type.name}.${each.name}`,
      path: [...at.path, each.name],
      isAlone: type.isOneOf,
    }),
  );
}

/**
 * The operation that selects everything of one field, with each argument as a variable. The answer is
 * at `result`; for a field of User, `$of` names the user.
 * @param selection in place of everything
 */
export function documentOf(field: string, selection?: string): string {
  const [parent = '', name = ''] = field.split('.');
  const type = schema.getType(parent);
  const asked = isObjectType(type) ? type.getFields()[name] : undefined;
  if (asked === undefined) throw new Error(`The schema has no ${field}.`);
  const isOfUser = parent === 'User';
  const declared = asked.args.map((argument) => `$${argument.name}: ${argument.type}`);
  if (isOfUser) declared.push('$of: ID!');
  const passed = asked.args.map((argument) => `${argument.name}: $${argument.name}`).join(', ');
  const result = `result: ${name}(${passed}) ${selection ?? selectionOf(asked.type, schema)}`;
  const operation = isOfUser ? 'query' : parent.toLowerCase();
  const document = `${operation} (${declared.join(', ')}) { ${isOfUser ? `user(id: $of) { ${result} }` : result} }`;
  // One that is refused as a document would be refused alike with any ids.
  const [fault] = validate(schema, parse(document));
  if (fault !== undefined) throw fault;
  return document;
}

export type Variables = Readonly<Record<string, unknown>>;

/** The value at this path of the variables. */
export function valueAt(variables: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return variables;
  return valueAt(entriesOf(variables)[name], rest);
}

/** The variables with this value in this place. */
export function withValue(variables: Variables, { path, isAlone }: Place, value: unknown): Variables {
  if (!isAlone) return withValueAt(variables, path, value);
  const [name = '', ...parents] = path.toReversed();
  return withValueAt(variables, parents.toReversed(), { [name]: value });
}

function withValueAt(variables: Variables, [name, ...rest]: readonly string[], value: unknown): Variables {
  if (name === undefined) throw new Error('A path has a name.');
  if (rest.length === 0) return { ...variables, [name]: value };
  return { ...variables, [name]: withValueAt(entriesOf(variables[name]), rest, value) };
}

function entriesOf(value: unknown): Variables {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
