import { GatewayError } from '../../errors.ts';
import { builder } from '../builder.ts';
import { upstreamCallCost } from '../cost.ts';

/** A Relay connection: one page of a list, and its place in the whole list. */
export interface Connection<Node> {
  readonly edges: readonly { readonly cursor: string; readonly node: Node }[];
  readonly pageInfo: PageInfo;
  readonly totalCount: number | null;
}

export interface PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

/** `first` and `after` as a client sent them. */
export interface ConnectionArguments {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

const defaultFirst = 20;
const maxFirst = 100;

const pageInfoRef = builder.objectRef<PageInfo>('PageInfo').implement({
  description: 'Where a page of a list begins and ends.',
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage', {
      nullable: false,
      description: 'Whether there are more items after this page.',
    }),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage', {
      nullable: false,
      description: 'Whether there are items before this page.',
    }),
    startCursor: t.exposeString('startCursor', {
      description: 'Cursor of the first edge; null when there is none.',
    }),
    endCursor: t.exposeString('endCursor', {
      description: 'Send it as `after` to read the next page; null when the page is empty.',
    }),
  }),
});

/** A reference to an object type, as `builder.objectRef` makes it. */
export type NodeRef<Node> = ReturnType<typeof builder.objectRef<Node>>;

/** Defines `<Name>Connection` and `<Name>Edge` for a node type. */
export function connectionType<Node>(name: string, node: NodeRef<Node>, plural: string) {
  const edge = builder.objectRef<Connection<Node>['edges'][number]>(`${name}Edge`);
  edge.implement({
    description: `One of the ${plural}, with its place in the list.`,
    fields: (t) => ({
      cursor: t.string({
        nullable: false,
        description: 'The place of this edge in the list; send it as `after` to continue from here.',
        resolve: (item) => item.cursor,
      }),
      node: t.field({
        type: node,
        nullable: false,
        description: 'The item at this place.',
        // Pothos cannot reduce its result type for a node type that is still open here.
        resolve: (item) => item.node as never,
      }),
    }),
  });
  const connectionRef = builder.objectRef<Connection<Node>>(`${name}Connection`);
  connectionRef.implement({
    description: `One page of a list of ${plural}.`,
    fields: (t) => ({
      edges: t.field({
        type: [edge],
        nullable: false,
        description: `The ${plural} of this page, each with its cursor.`,
        resolve: (connection) => connection.edges,
      }),
      nodes: t.field({
        type: [node],
        nullable: false,
        description: `The ${plural} of this page.`,
        resolve: (connection) => connection.edges.map((item) => item.node),
      }),
      pageInfo: t.field({
        type: pageInfoRef,
        nullable: false,
        description: 'Where this page begins and ends.',
        resolve: (connection) => connection.pageInfo,
      }),
      totalCount: t.int({
        description: `How many ${plural} the whole list has; null when the service does not say.`,
        resolve: (connection) => connection.totalCount,
      }),
    }),
  });
  return connectionRef;
}

/** The arguments `first` and `after` of every connection field. */
export function connectionArgs(plural: string) {
  return builder.args((t) => ({
    first: t.int({
      defaultValue: defaultFirst,
      description: `How many ${plural} to read: 1 to ${maxFirst}.`,
    }),
    after: t.string({ description: 'The `endCursor` of the page before; the first page when left out.' }),
  }));
}

/** The cost of a connection field: one call, and its rows, each with its selection. */
export function connectionCost(args: ConnectionArguments): {
  readonly field: number;
  readonly multiplier: number;
} {
  return { field: upstreamCallCost, multiplier: Math.min(Math.max(args.first ?? defaultFirst, 1), maxFirst) };
}

/** The type, cost and arguments of fields that show a list of nodes. */
export function connectionField<Node>(name: string, node: NodeRef<Node>, plural: string) {
  return {
    type: connectionType(name, node, plural),
    complexity: connectionCost,
    args: connectionArgs(plural),
  };
}

/** `first` with its default. @throws GatewayError BAD_USER_INPUT */
export function readFirst(args: ConnectionArguments): number {
  const first = args.first ?? defaultFirst;
  if (first >= 1 && first <= maxFirst) return first;
  throw new GatewayError('BAD_USER_INPUT', `first must be from 1 to ${maxFirst}.`);
}

interface ConnectionParts<Node>
  extends Pick<Connection<Node>, 'edges' | 'totalCount'>,
    Omit<PageInfo, 'startCursor' | 'endCursor'> {
  /** Makes the cursor of the page's end; null for a page without one. */
  readonly issueEnd: (() => string) | null;
}

/** A connection of these edges. Its cursors are made on demand, because most queries ask for none of them. */
export function toConnection<Node>(parts: ConnectionParts<Node>): Connection<Node> {
  const { edges, totalCount } = parts;
  return { edges, totalCount, pageInfo: new CursorsOnDemand(parts) };
}

/**
 * A class, as the edge below: V8 puts the getters of an object literal straight into the old generation, where they hold
 * the whole page until the next full collection (decision 0134).
 */
class CursorsOnDemand implements PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly #parts: ConnectionParts<unknown>;

  constructor(parts: ConnectionParts<unknown>) {
    this.hasNextPage = parts.hasNextPage;
    this.hasPreviousPage = parts.hasPreviousPage;
    this.#parts = parts;
  }

  get startCursor(): string | null {
    return this.#parts.edges[0]?.cursor ?? null;
  }

  get endCursor(): string | null {
    return this.#parts.issueEnd?.() ?? null;
  }
}

/** The edges of rows, without those that were left out (null). */
export function toEdges<Node>(
  rows: readonly (Node | null)[],
  cursorAt: (index: number) => string,
): Connection<Node>['edges'] {
  return rows.flatMap((node, index) => (node === null ? [] : [new Edge(node, () => cursorAt(index))]));
}

/** An edge that makes its cursor on demand. */
export class Edge<Node> {
  readonly node: Node;
  readonly #issue: () => string;

  constructor(node: Node, issue: () => string) {
    this.node = node;
    this.#issue = issue;
  }

  get cursor(): string {
    return this.#issue();
  }
}
