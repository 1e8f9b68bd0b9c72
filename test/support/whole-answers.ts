import { createGateway, type Gateway, type GatewayParts } from '../../gateway/gateway.ts';
import { gatewayKey, type Lab } from './lab.ts';

/** Whole answers are given on the direct path, whichever way the rest of the suite is run. */
export const onDirectPath = { DIRECT_PATH: 'on' } as const;

/** An operation sent over the network, where whole answers are cached. */
export interface Sent {
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export async function send(
  { url }: Pick<Lab, 'url'>,
  query: string,
  { variables, token = gatewayKey, headers, signal }: Sent = {},
) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
    body: JSON.stringify({ query, variables }),
    ...(signal === undefined ? {} : { signal }),
  });
  return { status: response.status, text: await response.text() };
}

/** How queries were answered so far. */
export async function countAnswers({ gateway, url }: Pick<Lab, 'gateway' | 'url'>) {
  const text = await (await gateway.fetch(new Request(`${url}/metrics`))).text();
  const count = (outcome: string) =>
    Number(
      new RegExp(`^labgraph_whole_answers_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0,
    );
  return { hit: count('hit'), joined: count('joined'), miss: count('miss'), full: count('full') };
}

/** How the queries were answered that `ask` asks. */
export async function countMore(lab: Pick<Lab, 'gateway' | 'url'>, ask: () => Promise<unknown>) {
  const before = await countAnswers(lab);
  await ask();
  const after = await countAnswers(lab);
  return {
    hit: after.hit - before.hit,
    joined: after.joined - before.joined,
    miss: after.miss - before.miss,
    full: after.full - before.full,
  };
}

/** A gateway whose `fetch` goes over the network, where whole answers are cached. */
export async function makeOverNetwork(parts: GatewayParts, make = createGateway): Promise<Gateway> {
  const gateway = await make(parts);
  const { url } = await gateway.listen();
  return {
    ...gateway,
    listen: async () => ({ url }),
    fetch: async (request) => {
      const { method, headers, signal } = request;
      // With the whole body in hand, or it would be sent in chunks.
      const body = request.body === null ? null : await request.text();
      return await fetch(new URL(new URL(request.url).pathname, url), { method, headers, signal, body });
    },
  };
}

/** Whole answers over a log that needs no folder. */
export const memory = { ...onDirectPath, EVENT_LOG: 'memory:' } as const;

export function orderOf({ sandbox }: Lab, place = 0) {
  const order = sandbox.orders()[place];
  if (order === undefined) throw new Error(`There is no order ${place}.`);
  return order;
}

/** Which of these queries are given the answer of an equal one before them. */
export async function findCached(
  on: Lab,
  queries: readonly string[],
  token?: string,
): Promise<readonly string[]> {
  const cached: string[] = [];
  for (const query of queries) {
    const twice = async () => {
      for (let turn = 0; turn < 2; turn += 1) await send(on, query, token === undefined ? {} : { token });
    };
    if ((await countMore(on, twice)).hit > 0) cached.push(query);
  }
  return cached;
}

/** Queries by what makes the answer the operation's own. */
export function queriesForOne(on: Lab): readonly (readonly [string, string])[] {
  const { orderId, userId } = orderOf(on);
  const nowhere = crypto.randomUUID();
  return [
    ['which team it is, once it is known', '{ viewer { teamId } }'],
    ['when the credential ends', '{ viewer { expiresAt } }'],
    ['results, which no event reports', `{ order(id: "${orderId}") { results { __typename } } }`],
    ['an order that is not there', `{ order(id: "${nowhere}") { id } }`],
    ['a lab report that no event named', `{ labReport(id: "${nowhere}") { id } }`],
    ['what the log holds', `{ user(id: "${userId}") { healthSummaries(resource: "activity") { date } } }`],
    [
      'slots, whose keys work once',
      '{ serviceCenterAvailability(input: { lab: QUEST, siteCodes: ["SC001"] }) { date } }',
    ],
    ['an error', `{ users(first: 1) { nodes { id } } order(id: "no id") { id } }`],
    ['a mutation', `mutation { revokeViewerTokens(input: { userId: "${nowhere}" }) { __typename } }`],
    ['a fault in the question', '{ nothing }'],
  ];
}
