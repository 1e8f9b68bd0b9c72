import {
  type FieldNode,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  getArgumentValues,
  getDirectiveValues,
  isObjectType,
  type SelectionSetNode,
} from 'graphql';
import { type GraphContext, type LoaderKind, loadEach } from './context.ts';

/** What a resolver knows of the field that it resolves. */
export type FieldInfo = GraphQLResolveInfo;

interface Wanted<Args> {
  readonly id: string;
  readonly args: Args;
  readonly context: GraphContext;
}

/** The function that reads a field before its object is there. It is stored in the field's extensions. */
class ById {
  readonly start: (wanted: Wanted<never>) => Promise<unknown>;

  constructor(start: ById['start']) {
    this.start = start;
  }
}

/**
 * The resolver of a field that needs only the service's id of its object. So the field can be read at the same time as the
 * object (`startFields`). Equal fields of one operation are read once.
 */
export function fieldById<Args, Result>(
  read: (id: string, args: Args, context: GraphContext) => Promise<Result>,
) {
  const kind: LoaderKind<Wanted<Args>, Result> = {
    keyOf: ({ id, args }) => JSON.stringify([id, args]),
    batch: (_service, asked) =>
      loadEach(asked, async ({ id, args, context }) => await read(id, args, context)),
  };
  const load = (wanted: Wanted<Args>) => wanted.context.loaders.of(kind).load(wanted);
  return {
    resolve: ({ id }: { readonly id: string }, args: Args, context: GraphContext) =>
      load({ id: id.toLowerCase(), args, context }),
    // The arguments are those of the field that declares this.
    extensions: { byId: new ById(load) },
  };
}

/**
 * Starts to read the selected fields of an object that need only its id. Call it when the object's own read starts: a page
 * then waits for the slowest read, and not for one read after the other. The resolvers of the fields get these reads; if the
 * object is not there, nobody does.
 */
export function startFields(typeName: string, id: string, context: GraphContext, info: FieldInfo): void {
  const type = info.schema.getType(typeName);
  if (!isObjectType(type)) return;
  const start = { id: id.toLowerCase(), context, info };
  try {
    for (const { selectionSet } of info.fieldNodes)
      for (const node of selectedFields(selectionSet, type, info)) startField(type, node, start);
  } catch {
    // Arguments or directives that do not fit: the executor reports them. Thrown here, nobody would get the object's failure.
  }
}

interface Start extends Omit<Wanted<unknown>, 'args'> {
  readonly info: FieldInfo;
}

function startField(type: GraphQLObjectType, node: FieldNode, { id, context, info }: Start): void {
  const field = type.getFields()[node.name.value];
  const byId = field?.extensions.byId;
  if (field === undefined || !(byId instanceof ById)) return;
  const args = getArgumentValues(field, node, info.variableValues);
  // The resolver reports failures, if it is called.
  byId.start({ id, args: args as never, context }).catch(() => undefined);
}

/** @param visited the fragments that were walked: each is walked once, however often it is spread */
function* selectedFields(
  selectionSet: SelectionSetNode | undefined,
  type: GraphQLObjectType,
  info: FieldInfo,
  visited = new Set<unknown>(),
): Generator<FieldNode> {
  for (const node of selectionSet?.selections ?? []) {
    if (getDirectiveValues(GraphQLSkipDirective, node, info.variableValues)?.if === true) continue;
    if (getDirectiveValues(GraphQLIncludeDirective, node, info.variableValues)?.if === false) continue;
    if (node.kind === 'Field') {
      yield node;
      continue;
    }
    const fragment = node.kind === 'InlineFragment' ? node : info.fragments[node.name.value];
    const condition = fragment?.typeCondition?.name.value ?? type.name;
    const isOfType = condition === type.name || type.getInterfaces().some(({ name }) => name === condition);
    if (!isOfType || visited.has(fragment)) continue;
    visited.add(fragment);
    yield* selectedFields(fragment?.selectionSet, type, info, visited);
  }
}
