import { createGateway, type Gateway, type GatewayParts } from '../../gateway/gateway.ts';
import { gatewayKey, type Lab } from './lab.ts';

/** Whole answers are given in the fast lane, whichever way the rest of the suite is run. */
export const inFastLane = { FAST_LANE: 'on' } as const;

/** An operation as a client sends it over the network, which is where whole answers are kept. */
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

/** A gateway whose `fetch` goes over the network: everything that is asked of it comes where whole answers are kept. */
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
