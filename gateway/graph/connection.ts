import { createHash } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import type { Page } from '../upstream/service.ts';
import { builder } from './builder.ts';

/** A Relay connection: one stretch of a list, and where it stands in the whole. */
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
  description: 'Where a stretch of a list begins and ends.',
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage', {
      nullable: false,
      description: 'Whether the list goes on after this stretch.',
    }),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage', {
      nullable: false,
      description: 'Whether anything of the list stands before this stretch.',
    }),
    startCursor: t.exposeString('startCursor', {
      description: 'Cursor of the first edge; null when there is none.',
    }),
    endCursor: t.exposeString('endCursor', {
      description: 'Give this as `after` to read on; null when there is none.',
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
        description: 'The place of this edge in the list; give it as `after` to read on from here.',
        resolve: (item) => item.cursor,
      }),
      node: t.field({
        type: node,
        nullable: false,
        description: 'What stands at this place.',
        // Pothos cannot reduce its result type for a node type that is still open here.
        resolve: (item) => item.node as never,
      }),
    }),
  });
  const connection = builder.objectRef<Connection<Node>>(`${name}Connection`);
  connection.implement({
    description: `A stretch of a list of ${plural}.`,
    fields: (t) => ({
      edges: t.field({
        type: [edge],
        nullable: false,
        description: `The ${plural} of this stretch, with their cursors.`,
        resolve: (stretch) => stretch.edges,
      }),
      nodes: t.field({
        type: [node],
        nullable: false,
        description: `The ${plural} of this stretch.`,
        resolve: (stretch) => stretch.edges.map((item) => item.node),
      }),
      pageInfo: t.field({
        type: pageInfoRef,
        nullable: false,
        description: 'Where this stretch begins and ends.',
        resolve: (stretch) => stretch.pageInfo,
      }),
      totalCount: t.int({
        description: `How many ${plural} the whole list has; null when the service does not say.`,
        resolve: (stretch) => stretch.totalCount,
      }),
    }),
  });
  return connection;
}

/** The arguments `first` and `after` of every connection field. */
export function connectionArgs(plural: string) {
  return builder.args((t) => ({
    first: t.int({
      defaultValue: defaultFirst,
      description: `How many ${plural} to read: 1 to ${maxFirst}.`,
    }),
    after: t.string({ description: 'The `endCursor` of the stretch before.' }),
  }));
}

/** What a connection field costs: its rows, each with what is asked of it. */
export function connectionCost(args: ConnectionArguments): {
  readonly field: number;
  readonly multiplier: number;
} {
  return { field: 1, multiplier: Math.min(Math.max(args.first ?? defaultFirst, 1), maxFirst) };
}

/** Which list a cursor belongs to: its name and everything that filters it. */
export type ListIdentity = readonly unknown[];

/**
 * A connection over a list that the service pages by offset and limit.
 * @throws GatewayError BAD_USER_INPUT for `first` out of 1..100, BAD_CURSOR for a cursor of another list
 */
export async function offsetConnection<Node>(
  args: ConnectionArguments,
  identity: ListIdentity,
  fetch: (range: { readonly offset: number; readonly limit: number }) => Promise<Page<Node>>,
): Promise<Connection<Node>> {
  const list = readList(args, identity);
  const page = await fetch({ offset: list.start, limit: list.first });
  const rows = page.rows.slice(0, list.first);
  const end = list.start + rows.length;
  return toConnection(list, {
    rows,
    // An empty page ends the list whatever its total says: there is no cursor to go on from.
    hasNextPage: rows.length > 0 && (page.total === null ? rows.length >= list.first : end < page.total),
    totalCount: page.total,
  });
}

/**
 * A connection over a list that the service pages by page number and size (1..100). A stretch that no single
 * page covers is read as two neighbouring pages; nothing is asked for just to look ahead.
 * @throws GatewayError BAD_USER_INPUT for `first` out of 1..100, BAD_CURSOR for a cursor of another list
 */
export async function pagedConnection<Node>(
  args: ConnectionArguments,
  identity: ListIdentity,
  fetch: (request: PageRange) => Promise<Page<Node>>,
): Promise<Connection<Node>> {
  const list = readList(args, identity);
  const plan = planPages(list.start, list.first);
  const pages = await Promise.all(plan.pages.map((page) => fetch({ page, size: plan.size })));
  const rows = pages.flatMap((page) => page.rows);
  const readThrough = (plan.firstPage - 1) * plan.size + rows.length;
  const totalCount = pages.some(hidesRows) ? null : countAll(pages.at(-1), { ...plan, readThrough });
  const stretch = rows.slice(plan.skip, plan.skip + list.first);
  const hasMoreRows = rows.length > plan.skip + stretch.length;
  return toConnection(list, {
    rows: stretch,
    hasNextPage: hasMoreRows || (stretch.length > 0 && hasMorePages(pages.at(-1), plan, totalCount)),
    totalCount,
  });
}

/** A page of the service's page-number style. */
export interface PageRange {
  readonly page: number;
  readonly size: number;
}

interface PagePlan {
  readonly size: number;
  readonly firstPage: number;
  readonly pages: readonly number[];
  /** Rows of the first page that stand before the stretch. */
  readonly skip: number;
}

/**
 * The pages that cover `[start, start + count)`: one page where some size up to 100 does it with at most twice
 * the rows wanted, else two pages of size `count`.
 */
export function planPages(start: number, count: number): PagePlan {
  const largest = Math.min(maxFirst, count * 2);
  for (let size = count; size <= largest; size += 1) {
    const firstPage = Math.floor(start / size) + 1;
    if (start + count <= firstPage * size) {
      return { size, firstPage, pages: [firstPage], skip: start - (firstPage - 1) * size };
    }
  }
  const firstPage = Math.floor(start / count) + 1;
  return { size: count, firstPage, pages: [firstPage, firstPage + 1], skip: start - (firstPage - 1) * count };
}

function hasMorePages(page: Page<unknown> | undefined, plan: PagePlan, totalCount: number | null): boolean {
  const lastRead = plan.pages.at(-1) ?? plan.firstPage;
  if (page === undefined) return false;
  if (page.pages !== null) return lastRead < page.pages;
  if (totalCount !== null) return lastRead * plan.size < totalCount;
  return page.rows.length >= plan.size;
}

/**
 * The size of the whole list. `total` of some lists counts the returned page only (public service), so it is
 * believed only where `pages` or what was read agrees with it.
 */
function countAll(
  page: Page<unknown> | undefined,
  plan: PagePlan & { readonly readThrough: number },
): number | null {
  if (page === undefined) return null;
  const lastRead = plan.pages.at(-1) ?? plan.firstPage;
  const isLastPage = page.pages === null ? page.rows.length < plan.size : lastRead >= page.pages;
  if (isLastPage && page.rows.length > 0) return plan.readThrough;
  if (page.total === null) return null;
  const agrees = page.pages === null || Math.ceil(page.total / plan.size) === page.pages;
  // Fewer than the rows before: also what an answer "there is no such page" would say.
  return agrees && page.total >= plan.readThrough ? page.total : null;
}

/** Rows of others were left out and the total with them: counting places would bring it back. */
function hidesRows(page: Page<unknown>): boolean {
  return page.total === null && page.rows.includes(null);
}

interface ListRequest {
  readonly first: number;
  readonly start: number;
  readonly identity: string;
}

function readList(args: ConnectionArguments, identityParts: ListIdentity): ListRequest {
  const first = readFirst(args);
  const identity = createHash('sha256')
    .update(JSON.stringify(identityParts))
    .digest('base64url')
    .slice(0, 12);
  return { first, start: readStart(args.after, identity), identity };
}

/** `first` with its default.
 * @throws GatewayError BAD_USER_INPUT */
export function readFirst(args: ConnectionArguments): number {
  const first = args.first ?? defaultFirst;
  if (first >= 1 && first <= maxFirst) return first;
  throw new GatewayError('BAD_USER_INPUT', `first must be from 1 to ${maxFirst}.`);
}

function readStart(after: string | null | undefined, identity: string): number {
  if (after === null || after === undefined) return 0;
  const [cursorIdentity, index = '', ...more] = Buffer.from(after, 'base64url').toString('utf8').split('.');
  if (cursorIdentity === identity && more.length === 0 && /^\d{1,9}$/.test(index)) return Number(index) + 1;
  throw new GatewayError(
    'BAD_CURSOR',
    'This cursor belongs to another list or filter. Read the list from its start.',
  );
}

interface Stretch<Node> {
  readonly rows: readonly (Node | null)[];
  readonly hasNextPage: boolean;
  readonly totalCount: number | null;
}

function toConnection<Node>(list: ListRequest, stretch: Stretch<Node>): Connection<Node> {
  const edges = stretch.rows.flatMap((node, index) => {
    if (node === null) return [];
    return [{ cursor: toCursor(list.identity, list.start + index), node }];
  });
  const lastIndex = list.start + stretch.rows.length - 1;
  return {
    edges,
    totalCount: stretch.totalCount,
    pageInfo: {
      hasNextPage: stretch.hasNextPage,
      hasPreviousPage: list.start > 0,
      startCursor: edges[0]?.cursor ?? null,
      // The end of what was read, even when its last row was left out: reading on must not come back here.
      endCursor: stretch.rows.length === 0 ? null : toCursor(list.identity, lastIndex),
    },
  };
}

function toCursor(identity: string, index: number): string {
  return Buffer.from(`${identity}.${index}`).toString('base64url');
}
