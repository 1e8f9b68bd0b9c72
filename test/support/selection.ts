import {
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';

/** The gateway takes 1,000 tokens a document; a token has five letters or more on the average. */
const longest = 5000;

interface Way {
  readonly schema: GraphQLSchema;
  /** How far the selection goes: objects in objects. */
  readonly depth: number;
  /** Names of the types that lead here; none is entered twice. */
  readonly through: readonly string[];
}

type Field = GraphQLField<unknown, unknown>;

function selectField(field: Field, way: Way): string {
  if (field.args.some(isRequiredArgument)) return '';
  const rows = field.args.some(({ name }) => name === 'first') ? '(first: 2)' : '';
  if (!isCompositeType(getNamedType(field.type))) return field.name;
  const selection = select(field.type, way);
  return selection === '' ? '' : `${field.name}${rows} ${selection}`;
}

/** Everything that can be read of a type without arguments, as deep as a document may be long; '' for a scalar. */
export function selectionOf(output: GraphQLOutputType, schema: GraphQLSchema): string {
  const selections = [7, 6, 5, 4, 3, 2].map((depth) => select(output, { schema, depth, through: [] }));
  return selections.find((selection) => selection.length < longest) ?? '';
}

function select(output: GraphQLOutputType, { schema, depth, through }: Way): string {
  const type = getNamedType(output);
  if (through.length >= depth || through.includes(type.name)) return '';
  const way = { schema, depth, through: [...through, type.name] };
  // Its types have fields of the same names that cannot be asked together.
  if (type.name === 'Node') return '{ __typename nodeId }';
  if (isAbstractType(type)) {
    // Refusals share names with answers but not types, so only what they have in common is read of them.
    const members = schema.getPossibleTypes(type);
    const answers = members.filter((member) => !isRefusal(schema, member.name));
    const parts = answers.map((member) => `... on ${member.name} ${select(member, way)}`);
    const refusals = answers.length < members.length ? '... on UserError { code message }' : '';
    return `{ __typename ${parts.filter((part) => part.endsWith('}')).join(' ')} ${refusals} }`;
  }
  if (!isObjectType(type)) return '';
  const fields = Object.values(type.getFields()).map((field) => selectField(field, way));
  const selected = fields.filter((field) => field !== '').join(' ');
  return selected === '' ? '' : `{ ${selected} }`;
}

function isRefusal(schema: GraphQLSchema, name: string): boolean {
  const [type, refusal] = [schema.getType(name), schema.getType('UserError')];
  return isObjectType(type) && isInterfaceType(refusal) && type.getInterfaces().includes(refusal);
}
