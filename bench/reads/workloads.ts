import type { LoadRequest } from '../load/hammer.ts';
import type { Stage } from './stage.ts';
import { toVisitorId, userCounts } from './world.ts';

/** A set of requests, and the servers that can answer it. */
export interface Workload {
  readonly name: WorkloadName;
  readonly what: string;
  /** Asked in turn, each measurement from where the last one of the server ended, and from the beginning after the last. */
  readonly requests: (stage: Stage) => Promise<readonly LoadRequest[]> | readonly LoadRequest[];
  /** Whether servers without viewer tokens can be asked the same. */
  readonly isForPeers: boolean;
  /** Whether a comparison with a constant answer makes sense. */
  readonly isForBare: boolean;
  /** Whether the service changes during the load: it accepts writes and sends webhooks. */
  readonly isLive: boolean;
}

type UserCount = (typeof userCounts)[number];

export type WorkloadName =
  | 'first-page'
  | 'own-first-page'
  | 'trivial'
  | 'same-order'
  | 'many-orders'
  | 'own-orders'
  | `nested-${UserCount}`
  | 'mix';

/** Queries that every server but `bare` answers. */
export const queries = {
  trivial: '{ __typename }',
  order: 'query ($id: ID!) { order(id: $id) { id sampleId labTest { name } } }',
  firstPage: `query ($id: ID!) { user(id: $id) { clientUserId
    orders(first: 3) { nodes { id sampleId events { id createdAt } } } } }`,
  nested: `query ($first: Int!) { users(first: $first) { nodes { id clientUserId
    orders { nodes { id sampleId labTest { name } } } } } }`,
  update: `mutation ($id: ID!, $day: Date) { updateOrder(input: { id: $id, activateBy: $day }) {
    ... on OrderUpdated { order { id activateBy } } } }`,
};

const mixedUsers = 20;
/** Of so many requests of the mix one is a write: 5 %. */
const mixedTurns = 20;
const viewers = 1000;
/** More than any server answers until what it has cached of the first expires. */
const visitors = 60_000;

/** How many of the requests of the mix are nested reads. */
export const nestedShareOfMix = (mixedTurns - 1) / mixedTurns;

/** The orders that the mix reads are those that change: none of its changes is without effect. */
export function countMixedOrders({ world }: Stage): number {
  return mixedUsers * (world.orderIds.length / world.userIds.length);
}

function toRequest(
  token: string,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
): LoadRequest {
  return { token, body: JSON.stringify({ query, variables }) };
}

function askNested({ gatewayKey }: Stage, first: number): LoadRequest {
  return toRequest(gatewayKey, queries.nested, { first });
}

function mix(stage: Stage): readonly LoadRequest[] {
  const orderIds = stage.world.orderIds.slice(0, countMixedOrders(stage));
  return orderIds.flatMap((id, index) => {
    const day = `2030-01-${String((index % 28) + 1).padStart(2, '0')}`;
    const write = toRequest(stage.gatewayKey, queries.update, { id, day });
    return [...Array.from({ length: mixedTurns - 1 }, () => askNested(stage, mixedUsers)), write];
  });
}

/** A page that somebody opens for the first time: nothing of it was asked for before. */
function askFirstPages(tokenFor: (userId: string) => Promise<string> | string) {
  const asking = Array.from({ length: visitors }, async (_, index) => {
    const id = toVisitorId(index);
    return toRequest(await tokenFor(id), queries.firstPage, { id });
  });
  return Promise.all(asking);
}

/** Callers that may each read one user's orders, and read one of them. */
async function askOwn({ world, mintViewerToken }: Stage): Promise<readonly LoadRequest[]> {
  const ordersPerUser = world.orderIds.length / world.userIds.length;
  const asking = world.userIds.slice(0, viewers).map(async (userId, index) => {
    const token = await mintViewerToken(userId);
    return toRequest(token, queries.order, { id: world.orderIds[index * ordersPerUser] });
  });
  return await Promise.all(asking);
}

const toAll = { isForPeers: true, isForBare: false, isLive: false };

export const workloads: readonly Workload[] = [
  {
    ...toAll,
    name: 'first-page',
    what: 'one user with orders and events, another each time',
    requests: ({ gatewayKey }) => askFirstPages(() => gatewayKey),
  },
  {
    ...{ ...toAll, isForPeers: false },
    name: 'own-first-page',
    what: 'the same, each by a caller of its own',
    requests: ({ mintViewerToken }) => askFirstPages(mintViewerToken),
  },
  {
    ...{ ...toAll, isForBare: true },
    name: 'trivial',
    what: 'trivial query',
    requests: ({ gatewayKey }) => [toRequest(gatewayKey, queries.trivial)],
  },
  {
    ...{ ...toAll, isForBare: true },
    name: 'same-order',
    what: 'one order, same id',
    requests: ({ gatewayKey, world }) => [toRequest(gatewayKey, queries.order, { id: world.orderIds[0] })],
  },
  {
    ...{ ...toAll, isForBare: true },
    name: 'many-orders',
    what: 'one order, another id each time',
    requests: ({ gatewayKey, world }) =>
      world.orderIds.map((id) => toRequest(gatewayKey, queries.order, { id })),
  },
  {
    ...{ ...toAll, isForPeers: false },
    name: 'own-orders',
    what: 'own order, another caller each time',
    requests: askOwn,
  },
  ...userCounts.map(
    (count): Workload => ({
      ...toAll,
      name: `nested-${count}`,
      what: `nested, ${count} ${count === 1 ? 'user' : 'users'} x orders`,
      requests: (stage) => [askNested(stage, count)],
    }),
  ),
  {
    ...{ ...toAll, isLive: true },
    name: 'mix',
    what: 'nested, 20 users, beside 5 % writes and 50 webhooks a second',
    requests: mix,
  },
];
