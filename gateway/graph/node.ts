import { createHash } from 'node:crypto';
import type { Permission } from '../auth/rights.ts';
import { GatewayError, isGatewayError } from '../errors.ts';
import { decodeBase64url } from '../parse/bytes.ts';
import { readIds, readIntegerId, readUuid } from './arguments.ts';
import { builder } from './builder.ts';
import { type GraphContext, loadEach } from './context.ts';
import { upstreamCallCost } from './cost.ts';
import type { FieldInfo } from './field-by-id.ts';

/** How an object type is read again. */
interface NodeType<Shape> {
  /** The service's id; null for an object that it gave none. */
  readonly idOf: (node: Shape) => string | null;
  readonly ids: 'uuid' | 'integer';
  /** What the field needs that reads this type by its id (permissions.ts). */
  readonly needs: Permission;
  /** Reads as that field does: with the same loaders and errors. */
  readonly load: (context: GraphContext, id: string, info: FieldInfo) => Promise<Shape | null>;
}

type LoadedType = Omit<NodeType<object>, 'idOf'>;

const types = new Map<string, LoadedType>();
/** The types of the objects that `node` has loaded: they do not say it themselves. */
const typeOf = new WeakMap<object, string>();

const nodeRef = builder.interfaceRef<object>('Node').implement({
  description: 'An object that can be read again by its `nodeId`.',
  fields: (t) => ({
    nodeId: t.id({
      nullable: false,
      description:
        'An opaque id, unique in the whole graph: the key for a cache of objects. It stays the same, and no other object has it.',
      resolve: () => {
        throw new Error('Each type has its own.');
      },
    }),
  }),
  resolveType: (node) => typeOf.get(node),
});

/** Makes the objects of a type nodes: they have a `nodeId`, and `Query.node` and `Query.nodes` read them by it. */
export function defineNode<Shape extends object>(
  ref: PothosSchemaTypes.ObjectRef<typeof builder.$inferSchemaTypes, Shape>,
  { idOf, ...type }: NodeType<Shape>,
): void {
  const { name } = ref;
  types.set(name, type);
  ref.addInterfaces([nodeRef]);
  builder.objectField(ref, 'nodeId', (t) =>
    t.id({
      nullable: false,
      description: 'Its opaque id in the whole graph; give it to `node` to read it again.',
      resolve: (node) => toNodeId(name, idOf(node) ?? anonymousId(node)),
    }),
  );
}

function toNodeId(type: string, id: string): string {
  return Buffer.from(`${type}:${id.toLowerCase()}`).toString('base64url');
}

/** Equal objects without an id have the same one. They cannot be read again. */
function anonymousId(node: object): string {
  return `~${createHash('sha256').update(JSON.stringify(node)).digest('hex')}`;
}

/** Longer than every `nodeId` of this graph. */
const maxLength = 200;

/** @throws GatewayError BAD_USER_INPUT for a text that is no `nodeId` of this graph */
function readNodeId(nodeId: string): {
  readonly name: string;
  readonly type: LoadedType;
  readonly id: string;
} {
  const text = nodeId.length > maxLength ? '' : (decodeBase64url(nodeId)?.toString('latin1') ?? '');
  const [, name = '', id = ''] = /^(\w+):(.+)$/.exec(text) ?? [];
  const type = types.get(name);
  if (type !== undefined && isNodeOf(type, id)) return { name, type, id };
  throw new GatewayError('BAD_USER_INPUT', 'A nodeId must be one that this graph gave.');
}

/** Whether `toNodeId` makes such an id, so that no object has two. */
function isNodeOf({ ids }: LoadedType, id: string): boolean {
  if (/^~[0-9a-f]{64}$/.test(id)) return true;
  try {
    return id === (ids === 'uuid' ? readUuid('nodeId', id) : String(readIntegerId('nodeId', id)));
  } catch (error) {
    if (isGatewayError(error)) return false;
    throw error;
  }
}

/** The calls of the search for the orders of appointments: the costliest type, and costs do not know the types of ids. */
export const searchCalls = 10;

async function loadNode(context: GraphContext, nodeId: string, info: FieldInfo): Promise<object | null> {
  const { name, type, id } = readNodeId(nodeId);
  if (id.startsWith('~')) return null;
  context.service.rights.require(type.needs);
  const node = await type.load(context, id, info);
  if (node !== null) typeOf.set(node, name);
  return node;
}

builder.queryFields((t) => ({
  node: t.field({
    type: nodeRef,
    complexity: (searchCalls + 1) * upstreamCallCost,
    description:
      'One object by its `nodeId`; null when there is none that the caller may see. It needs the scopes of the field that reads this type by `id`.',
    args: { nodeId: t.arg.id({ required: true, description: 'The `nodeId` of the object.' }) },
    resolve: (_root, args, context, info) => loadNode(context, args.nodeId, info),
  }),
  nodes: t.field({
    type: [nodeRef],
    nullable: { list: true, items: true },
    // Costs read lists only by their length (execution/document/measure.ts).
    complexity: ({ nodeIds }) => {
      const count = Array.isArray(nodeIds) ? nodeIds.length : 1;
      return { field: (searchCalls + count) * upstreamCallCost, multiplier: count };
    },
    description:
      'Objects by their `nodeId`s, in the same order; each is null when there is none that the caller may see, or for the reason in `errors`.',
    args: {
      nodeIds: t.arg.idList({ required: true, description: 'The `nodeId`s of the objects, 100 at most.' }),
    },
    resolve: (_root, args, context, info) =>
      loadEach(readIds('nodeIds', args.nodeIds), (nodeId) => loadNode(context, nodeId, info)),
  }),
}));
