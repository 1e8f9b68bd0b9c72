import { type Change, CriticalityLevel, diff } from '@graphql-inspector/core';
import {
  buildASTSchema,
  type ConstDirectiveNode,
  type DocumentNode,
  GraphQLSchema,
  type OperationDefinitionNode,
  parse,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { DocumentList } from '../../gateway/execution/document/document-list.ts';

/** A trusted document's operation that fails, or gets another answer, after a change. */
export interface BrokenOperation {
  readonly client: string;
  readonly version: string | null;
  readonly operation: string;
  readonly reason: string;
}

export interface GraphChange {
  readonly level: 'breaking' | 'dangerous' | 'safe';
  /** The place in the schema, such as `Order.status`. */
  readonly path: string;
  readonly message: string;
  /** The date of its deprecation has passed: it may be removed. */
  readonly isDue: boolean;
}

export interface GraphComparison {
  /** Breaking ones first. */
  readonly changes: readonly GraphChange[];
  readonly broken: readonly BrokenOperation[];
}

const levels = {
  [CriticalityLevel.Breaking]: 'breaking',
  [CriticalityLevel.Dangerous]: 'dangerous',
  [CriticalityLevel.NonBreaking]: 'safe',
} as const;

const order = ['breaking', 'dangerous', 'safe'];

/** Until when a deprecated part of the graph stays, as its reason says. */
const removalDate = /Removed after (\d{4}-\d{2}-\d{2})\./;

/**
 * Compares two schemas as text, by the rules of GraphQL Inspector.
 * @param today an ISO date: parts whose deprecation ended before it may be removed
 */
export async function compareGraphs(
  texts: { readonly before: string; readonly after: string },
  { today, lists }: { readonly today: string; readonly lists: readonly DocumentList[] },
): Promise<GraphComparison> {
  const [before, after] = [buildGraph(parse(texts.before)), buildGraph(parse(texts.after))];
  const promised = withoutDueParts(texts.before, today);
  const unannounced = new Set((await diff(promised, after)).map(keyOf));
  const changes = (await diff(before, after)).map((change) => {
    const level = levels[change.criticality.level];
    const isDue = level === 'breaking' && !unannounced.has(keyOf(change));
    return { level, path: change.path ?? '', message: change.message, isDue };
  });
  const broken = lists.flatMap((list) => findBroken(list, { before, after, changes }));
  return { changes: changes.toSorted((one, other) => rank(one) - rank(other)), broken };
}

interface Directed {
  readonly directives?: readonly ConstDirectiveNode[] | undefined;
}

/** Why a part of the graph is deprecated; null where it is not. */
export function readReason({ directives = [] }: Directed): string | null {
  const deprecated = directives.find(({ name }) => name.value === 'deprecated');
  const reason = deprecated?.arguments?.find(({ name }) => name.value === 'reason')?.value;
  return reason?.kind === 'StringValue' ? reason.value : null;
}

/** The date in a deprecation's reason; null where it names none. */
export function readRemovalDate(reason: string): string | null {
  return removalDate.exec(reason)?.[1] ?? null;
}

function rank({ level }: GraphChange): number {
  return order.indexOf(level);
}

function keyOf({ type, path, message }: Change): string {
  return `${type} ${path} ${message}`;
}

function buildGraph(document: DocumentNode): GraphQLSchema {
  return buildASTSchema(document, { assumeValidSDL: true });
}

/** What clients may still rely on: the schema without the parts that are due to go, and without types that only these used. */
function withoutDueParts(text: string, today: string): GraphQLSchema {
  const document = parse(text);
  const leaveOutWhenDue = (node: Directed) => (isDue(node, today) ? null : undefined);
  const promised = visit(document, {
    FieldDefinition: leaveOutWhenDue,
    InputValueDefinition: leaveOutWhenDue,
    EnumValueDefinition: leaveOutWhenDue,
  });
  const before = listReachable(buildGraph(document));
  const now = listReachable(buildGraph(promised));
  const definitions = promised.definitions.filter(
    (node) => !('name' in node) || !node.name || !before.has(node.name.value) || now.has(node.name.value),
  );
  return buildGraph({ ...promised, definitions });
}

function isDue(node: Directed, today: string): boolean {
  const date = readRemovalDate(readReason(node) ?? '');
  return date !== null && date < today;
}

/** The names of the types that operations can meet. */
function listReachable(schema: GraphQLSchema): ReadonlySet<string> {
  const query = schema.getQueryType();
  const mutation = schema.getMutationType();
  const subscription = schema.getSubscriptionType();
  return new Set(Object.keys(new GraphQLSchema({ query, mutation, subscription }).getTypeMap()));
}

interface Sides {
  readonly before: GraphQLSchema;
  readonly after: GraphQLSchema;
  readonly changes: readonly GraphChange[];
}

/** The operations that are valid today and would fail, or that read a part which breaks. */
function findBroken(
  { client, version, documents }: DocumentList,
  { before, after, changes }: Sides,
): readonly BrokenOperation[] {
  return documents.flatMap(({ text }) => {
    const document = parse(text);
    if (validate(before, document).length > 0) return [];
    const [error] = validate(after, document);
    const reason = error?.message ?? findBreakingRead(document, before, changes);
    if (reason === null) return [];
    return document.definitions
      .filter((node): node is OperationDefinitionNode => node.kind === 'OperationDefinition')
      .map(({ name }) => ({ client, version, operation: name?.value ?? '(without a name)', reason }));
  });
}

/** What breaks although the document stays valid, such as a field that can be null now. */
function findBreakingRead(
  document: DocumentNode,
  before: GraphQLSchema,
  changes: readonly GraphChange[],
): string | null {
  const breaking = new Map(
    changes.filter(({ level }) => level === 'breaking').map(({ path, message }) => [path, message]),
  );
  const types = new TypeInfo(before);
  let found: string | null = null;
  visit(
    document,
    visitWithTypeInfo(types, {
      Field: ({ name }) => {
        found ??= breaking.get(`${types.getParentType()?.name}.${name.value}`) ?? null;
      },
    }),
  );
  return found;
}
