/** A node of a parsed document, as far as it is printed. */
interface Node {
  readonly kind: string;
  readonly [part: string]: unknown;
}

const maxLineLength = 80;

/** By kind of node: the kinds of operations and fragments. Those that are left out are printed as their `value`. */
const printers: Readonly<Record<string, (node: Node) => string>> = {
  Document: ({ definitions }) => join(definitions, '\n\n'),
  OperationDefinition: ({ operation, name, variableDefinitions, directives, selectionSet }) => {
    const head = print(name) + wrap('(', join(variableDefinitions, ', '), ')');
    const before = [operation, head, join(directives, ' ')].filter(Boolean).join(' ');
    return (before === 'query' ? '' : `${before} `) + print(selectionSet);
  },
  VariableDefinition: ({ variable, type, defaultValue, directives }) =>
    `${print(variable)}: ${print(type)}${wrap(' = ', print(defaultValue))}${wrap(' ', join(directives, ' '))}`,
  FragmentDefinition: ({ name, typeCondition, directives, selectionSet }) =>
    `fragment ${print(name)} on ${print(typeCondition)} ${wrap('', join(directives, ' '), ' ')}${print(selectionSet)}`,
  SelectionSet: ({ selections }) => indent('{', join(selections, '\n'), '}'),
  Field: ({ alias, name, arguments: args, directives, selectionSet }) => {
    const head = wrap('', print(alias), ': ') + print(name);
    const line = head + wrap('(', join(args, ', '), ')');
    const field = line.length > maxLineLength ? head + indent('(', join(args, '\n'), ')') : line;
    return field + wrap(' ', join(directives, ' ')) + wrap(' ', print(selectionSet));
  },
  Argument: ({ name, value }) => `${print(name)}: ${print(value)}`,
  FragmentSpread: ({ name, directives }) => `...${print(name)}${wrap(' ', join(directives, ' '))}`,
  InlineFragment: ({ typeCondition, directives, selectionSet }) =>
    `...${wrap(' on ', print(typeCondition))}${wrap(' ', join(directives, ' '))} ${print(selectionSet)}`,
  Directive: ({ name, arguments: args }) => `@${print(name)}${wrap('(', join(args, ', '), ')')}`,
  Variable: ({ name }) => `$${print(name)}`,
  NamedType: ({ name }) => print(name),
  ListType: ({ type }) => `[${print(type)}]`,
  NonNullType: ({ type }) => `${print(type)}!`,
  StringValue: ({ value }) => JSON.stringify(value),
  NullValue: () => 'null',
  ListValue: ({ values }) => `[${join(values, ', ')}]`,
  ObjectValue: ({ fields }) => `{ ${join(fields, ', ')} }`,
  ObjectField: ({ name, value }) => `${print(name)}: ${print(value)}`,
};

/**
 * The text of a parsed document, laid out as graphql's `print` does it, so that it equals the text on a list of trusted
 * documents. Ours, because graphql's also prints schemas and would double the size of the client.
 */
export function print(node: unknown): string {
  const read: Node = Object(node);
  return printers[read.kind]?.(read) ?? String(read.value ?? '');
}

function join(nodes: unknown, separator: string): string {
  return Array.isArray(nodes) ? nodes.map(print).join(separator) : '';
}

function wrap(start: string, text: string, end = ''): string {
  return text && start + text + end;
}

function indent(start: string, text: string, end: string): string {
  return `${start}\n  ${text.replaceAll('\n', '\n  ')}\n${end}`;
}
