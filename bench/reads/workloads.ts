import { type LoadRequest, numberMark } from '../load/requests.ts';
import type { TargetId } from './targets.ts';
import { type ReadWorld, toDigits, toOrderId, toUserId } from './world.ts';

/** The callers of a workload. */
export interface Callers {
  readonly world: ReadWorld;
  readonly gatewayKeys: readonly string[];
  /** A token that reads the orders of one user. */
  readonly mintViewerToken: (userId: string) => Promise<string>;
  /** How many users ask for themselves: more than the gateway answers in all rounds. */
  readonly viewers: number;
}

/** A set of requests, and how it is asked. */
export interface Workload {
  readonly name: WorkloadName;
  readonly what: string;
  /** Asked in turn, from the first again after the last. */
  readonly requests: (callers: Callers) => Promise<readonly LoadRequest[]> | readonly LoadRequest[];
  /** The path of the hand-written endpoint that answers the same. */
  readonly page: 'trivial' | 'order' | 'page' | 'pages' | 'nested';
  /** How many gateway keys there are. */
  readonly gatewayKeys: number;
  /** How many requests are asked at the same time. */
  readonly connections: number;
  /** The service answers so much later. */
  readonly delayMs: number;
  /** So many calls to the service answer a request of which nothing was asked before; null where something was. */
  readonly coldCalls: number | null;
  /** Whether the service changes during the load: it accepts writes and sends webhooks. */
  readonly isLive: boolean;
  /** Servers that are measured in some workloads only, and in this one. */
  readonly also: readonly TargetId[];
}

export type WorkloadName =
  | 'first-page'
  | 'first-pages'
  | 'cold-order'
  | 'own-first-page'
  | 'own-nested'
  | 'first-page-4ms'
  | 'first-page-40ms'
  | 'nested'
  | 'same-order'
  | 'trivial'
  | 'mix';

/** How many users the nested query asks for. */
export const nestedUsers = 20;
/** Callers that may list users: so many that in one round hardly one asks twice. */
const manyKeys = 3000;

const pageCount = 10;
const pageIds = Array.from({ length: pageCount }, (_, index) => `i${index}`);
const pageFields = 'clientUserId orders(first: 3) { nodes { id sampleId events { id createdAt } } }';

/** Queries that every server but `bare` answers. */
export const queries = {
  trivial: '{ __typename }',
  order: 'query ($id: ID!) { order(id: $id) { id sampleId labTest { name } } }',
  firstPage: `query ($id: ID!) { user(id: $id) { ${pageFields} } }`,
  firstPages: `query (${pageIds.map((id) => `$${id}: ID!`).join(', ')}) {
    ${pageIds.map((id) => `${id.replace('i', 'u')}: user(id: $${id}) { ...page }`).join(' ')} }
    fragment page on User { ${pageFields} }`,
  nested: `query ($first: Int!) { users(first: $first) { nodes { id clientUserId
    orders { nodes { id sampleId labTest { name } } } } } }`,
  update: `mutation ($id: ID!, $day: Date) { updateOrder(input: { id: $id, activateBy: $day }) {
    ... on OrderUpdated { order { id activateBy } } } }`,
};

/** Of so many requests of the mix one is a write: 5 %. */
const mixedTurns = 20;
/** Viewers have other users than those that everybody asks for. */
const firstViewer = 500_000_000;

/** The orders that the mix reads are those that change: none of its changes is without effect. */
export function countMixedOrders(world: ReadWorld): number {
  return nestedUsers * (world.orderIds.length / world.userIds.length);
}

function toRequest(
  token: string | undefined,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
): LoadRequest {
  return { token: token ?? '', body: JSON.stringify({ query, variables }) };
}

function askFirstPage({ gatewayKeys: [key] }: Callers): readonly LoadRequest[] {
  return [toRequest(key, queries.firstPage, { id: toUserId(numberMark) })];
}

function askNested({ gatewayKeys: [key] }: Callers): readonly LoadRequest[] {
  return [toRequest(key, queries.nested, { first: nestedUsers })];
}

/** Each is asked by its own user, with a token of its own. */
async function askOwnFirstPages({ mintViewerToken, viewers }: Callers): Promise<readonly LoadRequest[]> {
  const requests: LoadRequest[] = [];
  for (let viewer = 0; viewer < viewers; viewer += 1) {
    const id = toUserId(toDigits(firstViewer + viewer));
    requests.push(toRequest(await mintViewerToken(id), queries.firstPage, { id }));
  }
  return requests;
}

function mix(callers: Callers): readonly LoadRequest[] {
  const { world, gatewayKeys } = callers;
  return world.orderIds.slice(0, countMixedOrders(world)).flatMap((id, index) => {
    const day = `2030-01-${String((index % 28) + 1).padStart(2, '0')}`;
    const reads = Array.from({ length: mixedTurns - 1 }, () => askNested(callers)).flat();
    return [...reads, toRequest(gatewayKeys[0], queries.update, { id, day })];
  });
}

const usual: Omit<Workload, 'name' | 'what' | 'requests' | 'page'> = {
  ...{ gatewayKeys: 1, connections: 32, delayMs: 0 },
  ...{ coldCalls: null, isLive: false, also: ['tailcall'] },
};
const cold = { ...usual, page: 'page', coldCalls: 2 } as const;

/** In the order of the report: first what no cache can answer. */
export const workloads: readonly Workload[] = [
  {
    ...cold,
    name: 'first-page',
    what: 'cold: one user with orders and events, another each time',
    requests: askFirstPage,
  },
  {
    ...{ ...cold, page: 'pages', coldCalls: 2 * pageCount },
    name: 'first-pages',
    what: 'cold: ten users with orders and events, others each time',
    requests: ({ gatewayKeys: [key] }) => {
      const ids = Object.fromEntries(pageIds.map((id) => [id, toUserId(numberMark)]));
      return [toRequest(key, queries.firstPages, ids)];
    },
  },
  {
    ...{ ...cold, page: 'order', coldCalls: 1 },
    name: 'cold-order',
    what: 'cold: one order, another each time',
    requests: ({ gatewayKeys: [key] }) => [toRequest(key, queries.order, { id: toOrderId(numberMark, 0) })],
  },
  {
    ...cold,
    name: 'own-first-page',
    what: 'unique callers: one user with orders and events, each asked by that user',
    requests: askOwnFirstPages,
  },
  {
    ...{ ...usual, page: 'nested', gatewayKeys: manyKeys },
    name: 'own-nested',
    what: `unique callers: nested, ${nestedUsers} users x orders, another gateway key each time`,
    requests: ({ gatewayKeys }) =>
      gatewayKeys.map((key) => toRequest(key, queries.nested, { first: nestedUsers })),
  },
  {
    ...{ ...cold, connections: 2, delayMs: 4, also: ['tailcall', 'service'] },
    name: 'first-page-4ms',
    what: 'the service 4 ms away: one user with orders and events, another each time, two at a time',
    requests: askFirstPage,
  },
  {
    ...{ ...cold, connections: 16, delayMs: 40, also: ['tailcall', 'service'] },
    name: 'first-page-40ms',
    what: 'the service 40 ms away: one user with orders and events, another each time, 16 at a time',
    requests: askFirstPage,
  },
  {
    ...{ ...usual, page: 'nested' },
    name: 'nested',
    what: `repeats: nested, ${nestedUsers} users x orders`,
    requests: askNested,
  },
  {
    ...{ ...usual, page: 'order', also: ['tailcall', 'bare'] },
    name: 'same-order',
    what: 'repeats: one order, same id',
    requests: ({ gatewayKeys: [key], world }) => [toRequest(key, queries.order, { id: world.orderIds[0] })],
  },
  {
    ...{ ...usual, page: 'trivial', also: ['tailcall', 'bare'] },
    name: 'trivial',
    what: 'repeats: trivial query',
    requests: ({ gatewayKeys: [key] }) => [toRequest(key, queries.trivial)],
  },
  {
    ...{ ...usual, page: 'nested', isLive: true, also: [] },
    name: 'mix',
    what: `nested, ${nestedUsers} users x orders, beside 5 % writes and 50 webhooks a second`,
    requests: mix,
  },
];
