import { gatewayKey } from '../support/lab.ts';
import { startWorld, type World } from '../support/world.ts';

/** A gateway with its sandbox, as a frontend team meets them. */
export interface Bench extends AsyncDisposable {
  readonly world: World;
  /** The GraphQL endpoint, over HTTP and over WebSocket. */
  readonly url: string;
  readonly socketUrl: string;
  /** What each request of `fetch` was answered with: its status and media type. */
  readonly answers: readonly { readonly status: number; readonly type: string }[];
  /** As of the platform, counted. */
  readonly fetch: typeof fetch;
  /** A viewer token of a user. */
  readonly tokenFor: (userId: string) => Promise<{ readonly token: string; readonly jti: string }>;
  readonly revoke: (jti: string) => Promise<void>;
  readonly restart: () => Promise<void>;
  /** An order that no test has moved yet. */
  readonly freshOrder: () => { readonly orderId: string; readonly userId: string };
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

export async function startBench(): Promise<Bench> {
  const world = await startWorld();
  const gateway = await world.startGateway();
  const url = `${gateway.url}/graphql`;
  const answers: { status: number; type: string }[] = [];
  const ask = async (query: string, variables: object) => {
    const headers = { 'content-type': 'application/json', ...bearer(gatewayKey) };
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = await response.json();
    if (errors) throw new Error(JSON.stringify(errors));
    return data.made;
  };
  let running = gateway;
  const fresh = world.sandbox.orders().filter(({ status }) => /\.(ordered|requisition_\w+)$/.test(status));
  return {
    world,
    url,
    socketUrl: url.replace('http', 'ws'),
    answers,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      const type = response.headers.get('content-type')?.split(';')[0] ?? '';
      answers.push({ status: response.status, type });
      return response;
    },
    tokenFor: (userId) =>
      ask('mutation ($id: ID!) { made: createViewerToken(input: { userId: $id }) { token jti } }', {
        id: userId,
      }),
    revoke: async (jti) => {
      await ask('mutation ($jti: ID!) { made: revokeViewerTokens(input: { jti: $jti }) { revokedAt } }', {
        jti,
      });
    },
    restart: async () => {
      await running.end('SIGKILL');
      running = await world.startGateway();
    },
    freshOrder: () => {
      const order = fresh.shift();
      if (order === undefined) throw new Error('The sandbox has no further order at its start.');
      return order;
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}
