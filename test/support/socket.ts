import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { gatewayKey, type Lab } from './lab.ts';

interface Result {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
}

/** One socket, with what it was closed with. */
export function openSocket({ url }: Pick<Lab, 'url'>, token = gatewayKey, header = 'authorization') {
  const closed = Promise.withResolvers<number>();
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { [header]: `Bearer ${token}` },
    retryAttempts: 0,
    lazy: false,
    onNonLazyError: () => undefined,
    on: { closed: (event) => closed.resolve((event as { code: number }).code) },
  });
  const ask = async (query: string, variables: Record<string, unknown> = {}): Promise<Result> => {
    const results = client.iterate({ query, variables });
    try {
      return ((await results.next()).value ?? {}) as Result;
    } catch (errors) {
      return { errors: (errors as Result['errors']) ?? [] };
    }
  };
  return { client, ask, closed: closed.promise };
}
