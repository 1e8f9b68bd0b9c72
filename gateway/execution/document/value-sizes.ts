import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';

/**
 * Limits for every value of an operation, checked before any rule or scalar reads it. Rules of single fields are stricter:
 * the longest text that the service accepts has 1,000 characters.
 */
const limits = {
  /** Room for a stream's cursor, which may be as long as the headers of a request. */
  characters: 16_000,
  /** Of a list or a record. */
  entries: 1000,
  /** Lists and records inside each other. */
  depth: 50,
} as const;

type Path = readonly (string | number)[];

interface Excess {
  readonly path: Path;
  readonly what: string;
}

/** The error for the first variable that is too large; null if there is none. */
export function findOversizedVariable(
  { variableDefinitions = [] }: OperationDefinitionNode,
  values: { readonly [name: string]: unknown },
): GraphQLError | null {
  for (const definition of variableDefinitions) {
    const name = definition.variable.name.value;
    const excess = Object.hasOwn(values, name) ? findExcess(values[name], [`$${name}`]) : null;
    if (excess !== null)
      return refuse(`The variable "${describePath(excess.path)}"`, excess.what, definition);
  }
  return null;
}

function findExcess(value: unknown, path: Path): Excess | null {
  if (typeof value === 'string') return isTooLong(value) ? { path, what: tooLong } : null;
  if (typeof value !== 'object' || value === null) return null;
  if (path.length > limits.depth) return { path, what: `is nested deeper than ${limits.depth} levels` };
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  if (entries.length > limits.entries) return { path, what: `has more than ${limits.entries} entries` };
  for (const [key, inner] of entries) {
    const excess = findExcess(inner, [...path, key]);
    if (excess !== null) return excess;
  }
  return null;
}

/** The error for the first literal of a document that is too long; the limit of tokens limits its lists. */
export function findOversizedLiteral(document: DocumentNode, text: string): GraphQLError | null {
  if (!isTooLong(text)) return null;
  let found: GraphQLError | null = null;
  visit(document, {
    enter: (node, _key, _parent, _path, ancestors) => {
      if (!isText(node) || !isTooLong(node.value)) return undefined;
      const place = describePath(namesOf(ancestors.flat()));
      found = refuse(`The value of "${place}"`, tooLong, node);
      return BREAK;
    },
  });
  return found;
}

const tooLong = `is longer than ${limits.characters} characters`;

function isTooLong(text: string): boolean {
  return text.length > limits.characters;
}

/** Numbers count as text, because an ID may be written as a long number. */
function isText(node: ASTNode): node is ASTNode & { readonly value: string } {
  return node.kind === Kind.STRING || node.kind === Kind.INT || node.kind === Kind.FLOAT;
}

/** The names from the innermost field to the value: `createUser.input.clientUserId`. */
function namesOf(ancestors: readonly ASTNode[]): readonly string[] {
  const last = ancestors.findLastIndex(
    ({ kind }) => kind === Kind.FIELD || kind === Kind.VARIABLE_DEFINITION,
  );
  return ancestors.slice(Math.max(0, last)).flatMap((node) => {
    if (node.kind === Kind.VARIABLE_DEFINITION) return [`$${node.variable.name.value}`];
    const isNamed =
      node.kind === Kind.FIELD || node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD;
    return isNamed ? [node.name.value] : [];
  });
}

/** Keys that cannot be names of the schema may hold personal data, so they are not quoted. */
function describePath(path: Path): string {
  return path.map((key) => (/^\$?\w{1,50}$/.test(String(key)) ? key : '?')).join('.');
}

function refuse(where: string, what: string, nodes: ASTNode): GraphQLError {
  return new GraphQLError(`${where} ${what}.`, { nodes, extensions: { code: 'BAD_USER_INPUT' } });
}
